//! cancel, replay, priority, hold, revoke, reclaim grants, tags; block and unblock.

use ff_core::capability::CapabilitySet;
use ff_core::command::flow::ReplayExecution;
use ff_core::command::operator::{ChangePriority, HoldExecution, IssueReclaimGrant, RevokeLease, Revoked, SetTags};
use ff_core::error::Rejection;
use ff_core::id::GrantId;
use ff_core::machine::claim::{self as machine_claim, Admitted};
use ff_core::machine::operator as machine;
use ff_core::machine::operator::ReclaimGrant;
use ff_core::machine::replay::{self, Past};
use ff_core::record::{Cause, EdgeState, RecordKey, Tags};

use crate::premise::Premise;
use crate::pump;
use crate::render::{Answer, Reading};
use crate::scene::{Scene, unexpected};
use crate::situations::{budget, quota, refusal};

use super::claim::issued;
use super::fenced::{self, with_own_fence};
use super::{Operation, Trial, everywhere, in_situations, repeated, trial};

pub(super) fn operation(block: &str) -> Option<Operation> {
    let plain = Premise::default();
    let at_max = Premise {
        max_replay_count: Some(0),
        ..plain
    };
    let earlier_leases = Premise {
        earlier_leases: true,
        ..plain
    };
    Some(match block {
        "cancel_execution (operator)" => everywhere(plain, cancel),
        "cancel_execution (own fence)" => everywhere(plain, with_own_fence(fenced::cancel_execution)),
        "cancel_execution repeated" => Operation {
            cast: super::Cast::Each(vec!["after-cancel_execution"]),
            trials: cancelled_twice(),
        },
        "replay_execution (below max)" => everywhere(plain, replay_execution),
        "replay_execution (at max)" => everywhere(at_max, replay_execution),
        "replay_execution repeated" => repeated("after-replay_execution", "completed", plain, replay_execution),
        "change_priority" => everywhere(plain, change_priority),
        "hold" => everywhere(plain, hold),
        "unhold" => everywhere(plain, unhold),
        "delete_execution (no open member beside it)" => everywhere(plain, |scene| delete_execution(scene, 0)),
        "delete_execution (an open member beside it)" => everywhere(plain, |scene| delete_execution(scene, 1)),
        "revoke_lease (no epoch)" => everywhere(plain, |scene| revoke_lease(scene, None)),
        "revoke_lease (wrong expected epoch)" => everywhere(earlier_leases, |scene| {
            let wrong = older_epoch(scene)?;
            revoke_lease(scene, Some(wrong))
        }),
        "revoke_lease repeated" => repeated("after-revoke_lease", "leased", plain, |scene| revoke_lease(scene, None)),
        "issue_reclaim_grant" => everywhere(plain, issue_reclaim_grant),
        "set_tags" => everywhere(plain, set_tags),
        "block" => in_situations(vec![
            trial("by a budget", plain, block_by_budget),
            trial("by a quota", plain, block_by_quota),
        ]),
        "unblock" => everywhere(plain, unblock),
        _ => return None,
    })
}

fn cancel(scene: &mut Scene) -> Result<Answer, Rejection> {
    fenced::cancel_execution(scene, None)
}

fn cancelled_twice() -> Vec<Trial> {
    let plain = Premise::default();
    let by_holder = with_own_fence(fenced::cancel_execution);
    vec![
        super::twice("by an operator", "leased", plain, cancel),
        super::twice("by the holder", "leased", plain, by_holder),
    ]
}

/// Replays; the edges around it are reopened before anybody reads it again.
pub(super) fn replay_execution(scene: &mut Scene) -> Result<Answer, Rejection> {
    let command = ReplayExecution {
        request_id: Some("request".parse()?),
        ..ReplayExecution::default()
    };
    let execution = scene.execution()?;
    let around = |edge: &ff_core::record::Edge| edge.upstream == scene.id || edge.downstream == scene.id;
    let past = Past {
        archived: execution.attempt.as_ref().is_some_and(|attempt| {
            scene
                .world
                .record(&RecordKey::Attempt(scene.id, attempt.index))
                .is_some()
        }),
        has_failed_edges: scene
            .world
            .edges()
            .iter()
            .any(|edge| around(edge) && edge.state == EdgeState::Failed),
        steps: Vec::new(),
    };
    scene.apply(|execution, context| replay::replay(execution, &command, &past, context))?;
    pump::pump(&mut scene.world)?;
    Ok(scene.accepted("replayed"))
}

fn change_priority(scene: &mut Scene) -> Result<Answer, Rejection> {
    let command = ChangePriority { priority: 9 };
    scene.apply(|execution, context| machine::change_priority(execution, &command, context))?;
    Ok(scene.accepted("changed"))
}

fn hold(scene: &mut Scene) -> Result<Answer, Rejection> {
    let command = HoldExecution { reason: None };
    scene.apply(|execution, context| machine::hold(execution, &command, context))?;
    Ok(scene.accepted("held"))
}

fn delete_execution(scene: &mut Scene, open_members: u64) -> Result<Answer, Rejection> {
    scene.apply(|execution, context| machine::delete(execution, open_members, context))?;
    Ok(scene.accepted("deleted"))
}

fn unhold(scene: &mut Scene) -> Result<Answer, Rejection> {
    scene.apply(machine::unhold)?;
    Ok(scene.accepted("unheld"))
}

/// The epoch of an older lease; a made-up one where there was none.
fn older_epoch(scene: &Scene) -> Result<u64, Rejection> {
    let epoch = scene.execution()?.lease_epoch;
    Ok(epoch.checked_sub(1).unwrap_or(1))
}

pub(super) fn revoke_lease(scene: &mut Scene, expected_lease_epoch: Option<u64>) -> Result<Answer, Rejection> {
    let command = RevokeLease {
        reason: None,
        expected_lease_epoch,
        request_id: Some("request".parse()?),
    };
    let revoked = scene.apply(|execution, context| machine::revoke_lease(execution, &command, context))?;
    Ok(scene.accepted(match revoked {
        Revoked::Now => "revoked",
        Revoked::AlreadySatisfied => "already_satisfied",
        Revoked::Cancelled => "cancelled",
    }))
}

fn issue_reclaim_grant(scene: &mut Scene) -> Result<Answer, Rejection> {
    let command = IssueReclaimGrant {
        worker: "successor".parse()?,
        instance: "successor-1".parse()?,
        capabilities: CapabilitySet::default(),
        grant_ttl: None,
    };
    let grant_id = GrantId::from_uuid(scene.world.mint());
    match scene.apply(|execution, context| machine::issue_reclaim_grant(execution, &command, grant_id, context))? {
        ReclaimGrant::Issued { .. } => Ok(scene.accepted("granted")),
        ReclaimGrant::FlowCancelled => Err(unexpected("was cancelled with a flow")),
    }
}

fn set_tags(scene: &mut Scene) -> Result<Answer, Rejection> {
    let command = SetTags {
        tags: Tags::from([("colour".to_owned(), "blue".to_owned())]),
    };
    scene.apply(|execution, context| machine::set_tags(execution, &command, context))?;
    Ok(scene.accepted("set"))
}

fn block_by_budget(scene: &mut Scene) -> Result<Answer, Rejection> {
    let reading = block(scene, Cause::Budget(budget()))?;
    Ok(Answer::accepted("blocked", reading))
}

/// The cells name the budget's words and stand for the quota's.
fn block_by_quota(scene: &mut Scene) -> Result<Answer, Rejection> {
    let reading = block(scene, Cause::Quota(quota()))?.saying(&[
        ("blocked_by_quota", "blocked_by_budget"),
        ("waiting_for_quota", "waiting_for_budget"),
    ]);
    Ok(Answer::accepted("blocked", reading))
}

/// Admission refuses what was reserved under the grant of this situation, or under one that is no longer held.
fn block(scene: &mut Scene, cause: Cause) -> Result<Reading, Rejection> {
    let gone = GrantId::from_uuid(scene.world.mint());
    let holds = scene.execution()?.grant().is_some();
    let grant_id = issued(scene).filter(|_| holds).unwrap_or(gone);
    let refusal = refusal(cause);
    match scene.apply(|execution, context| machine_claim::block(execution, grant_id, &refusal, context))? {
        Admitted::Yes => Ok(scene.reading()),
        Admitted::FlowCancelled => Err(unexpected("was cancelled with a flow")),
    }
}

/// The cause it is blocked by has room; where nothing blocks it, a budget has.
fn unblock(scene: &mut Scene) -> Result<Answer, Rejection> {
    let execution = scene.execution()?;
    let blocked_by = execution
        .runnable()
        .and_then(|runnable| runnable.block.as_ref())
        .map(|block| block.cause);
    let cause = blocked_by.unwrap_or(Cause::Budget(budget()));
    let unblocked = scene.apply(|execution, context| machine_claim::unblock(execution, cause, context))?;
    Ok(scene.accepted(if unblocked { "unblocked" } else { "already_satisfied" }))
}
