//! Every situation, reached as the tables' README says.

use std::collections::BTreeSet;

use ff_core::command::lease::Complete;
use ff_core::command::operator::{CancelExecution, RevokeLease};
use ff_core::command::submit::CreateExecution;
use ff_core::error::Rejection;
use ff_core::id::{BudgetId, QuotaPolicyId};
use ff_core::limits::RETENTION_DEFAULT;
use ff_core::machine::budget::Stop;
use ff_core::machine::claim::{self, Refusal};
use ff_core::machine::{lease, operator};
use ff_core::policy::TimeoutPolicy;
use ff_core::record::{Cause, TimeoutBehavior};
use ff_core::time::Duration;
use uuid::Uuid;

use crate::flows;
use crate::graph;
use crate::premise::{Premise, one_retry};
use crate::pump;
use crate::scene::{Post, Scene};
use crate::support::{GRANT_TTL, START};

/// A time limit that ends before the lease does.
const LIMIT: Duration = Duration::from_secs(20);
/// A pause that is running when the operation comes.
const PAUSE: Duration = Duration::from_secs(10);

type Build = fn(Premise) -> Result<Scene, Rejection>;

/// The situations by name.
pub(crate) const SITUATIONS: [(&str, Build); 32] = [
    ("waiting", waiting),
    ("delayed", delayed),
    ("backoff", backoff),
    ("held", held),
    ("unopened", graph::unopened),
    ("dependent", graph::dependent),
    ("budget-blocked", budget_blocked),
    ("quota-blocked", quota_blocked),
    ("granted", granted),
    ("grant-lapsed", grant_lapsed),
    ("released", released),
    ("revoked", revoked),
    ("pending-reclaim", pending_reclaim),
    ("leased", leased),
    ("leased-lapsed", leased_lapsed),
    ("leased-unused-lapsed", leased_unused_lapsed),
    ("leased-in-grace", leased_in_grace),
    ("leased-timeout", leased_timeout),
    ("leased-deadline", leased_deadline),
    ("leased-held", leased_held),
    ("leased-stop", leased_stop),
    ("suspended", suspended),
    ("suspended-timeout", suspended_timeout),
    ("suspended-escalated", suspended_escalated),
    ("resumable", resumable),
    ("resume-delayed", resume_delayed),
    ("completed", completed),
    ("failed", failed),
    ("cancelled", cancelled),
    ("expired", expired),
    ("skipped", graph::skipped),
    ("deleting", deleting),
];

/// The situations of `advance (further timers)`, by name.
pub(crate) const FURTHER_TIMERS: [(&str, Build); 13] = [
    ("delayed-held", delayed_held),
    ("delayed-dependent", graph::delayed_dependent),
    ("waiting-deadline", waiting_deadline),
    ("suspended-deadline", suspended_deadline),
    ("leased-lapsed-into-grace", leased_lapsed_into_grace),
    ("leased-lapsed-last-reclaim", leased_lapsed_last_reclaim),
    ("leased-unused-lapsed-fourth", leased_unused_lapsed_fourth),
    ("leased-timeout-retry", leased_timeout_retry),
    ("suspended-timeout-cancel", |premise| {
        timed_out(premise, TimeoutBehavior::Cancel)
    }),
    ("suspended-timeout-expire", |premise| {
        timed_out(premise, TimeoutBehavior::Expire)
    }),
    ("suspended-timeout-auto-resume", |premise| {
        timed_out(premise, TimeoutBehavior::AutoResumeWithTimeoutSignal)
    }),
    ("suspended-timeout-escalate", |premise| {
        timed_out(premise, TimeoutBehavior::Escalate)
    }),
    ("resume-delayed-held", resume_delayed_held),
];

/// Builds a situation; what its records owe to others is done.
pub(crate) fn build(builds: &[(&str, Build)], name: &str, premise: Premise) -> Result<Scene, String> {
    let (_, build) = builds
        .iter()
        .find(|(known, _)| *known == name)
        .ok_or_else(|| format!("nobody knows how {name} is reached"))?;
    let scene = build(premise).and_then(|mut scene| {
        pump::pump(&mut scene.world)?;
        Ok(scene)
    });
    scene.map_err(|rejection| format!("{name} cannot be reached: {rejection}"))
}

/// The budget executions are attached to where a situation needs one.
pub(crate) fn budget() -> BudgetId {
    BudgetId::from_uuid(Uuid::from_u128(0xb0d9e7))
}

/// The quota policy executions are attached to where a situation needs one.
pub(crate) fn quota() -> QuotaPolicyId {
    QuotaPolicyId::from_uuid(Uuid::from_u128(0x900a))
}

/// As it is submitted when nothing is said.
const fn plain(_: &mut CreateExecution) {}

fn with_deadline(command: &mut CreateExecution) {
    command.policy.timeout_policy = Some(TimeoutPolicy {
        execution_deadline: Some(LIMIT),
        attempt_timeout: None,
    });
}

fn with_attempt_timeout(command: &mut CreateExecution) {
    command.policy.timeout_policy = Some(TimeoutPolicy {
        execution_deadline: None,
        attempt_timeout: Some(LIMIT),
    });
}

fn waiting(premise: Premise) -> Result<Scene, Rejection> {
    premise.submitted(plain)
}

fn delayed(premise: Premise) -> Result<Scene, Rejection> {
    premise.submitted(|command| command.delay_until = Some(START + PAUSE))
}

fn delayed_held(premise: Premise) -> Result<Scene, Rejection> {
    let mut scene = delayed(premise)?;
    scene.hold()?;
    scene.world.wait(PAUSE);
    Ok(scene)
}

fn backoff(premise: Premise) -> Result<Scene, Rejection> {
    let mut scene = premise.leased(|command| command.policy.retry_policy = Some(one_retry()))?;
    scene.fail()?;
    Ok(scene)
}

fn held(premise: Premise) -> Result<Scene, Rejection> {
    let mut scene = premise.submitted(plain)?;
    scene.hold()?;
    Ok(scene)
}

fn budget_blocked(premise: Premise) -> Result<Scene, Rejection> {
    let scene = premise.submitted(|command| command.policy.budget_ids = BTreeSet::from([budget()]))?;
    blocked(scene, Cause::Budget(budget()))
}

fn quota_blocked(premise: Premise) -> Result<Scene, Rejection> {
    let scene = premise.submitted(|command| command.policy.quota_policy_id = Some(quota()))?;
    blocked(scene, Cause::Quota(quota()))
}

fn blocked(mut scene: Scene, cause: Cause) -> Result<Scene, Rejection> {
    let grant_id = scene.grant()?;
    let refusal = refusal(cause);
    scene.apply(|execution, context| claim::block(execution, grant_id, &refusal, context))?;
    Ok(scene)
}

/// What admission says when it refuses.
pub(crate) fn refusal(cause: Cause) -> Refusal {
    Refusal {
        cause,
        detail: "the limit is reached".to_owned(),
        generation: 1,
    }
}

fn granted(premise: Premise) -> Result<Scene, Rejection> {
    let mut scene = premise.submitted(plain)?;
    scene.grant()?;
    Ok(scene)
}

fn grant_lapsed(premise: Premise) -> Result<Scene, Rejection> {
    let mut scene = granted(premise)?;
    scene.world.wait(GRANT_TTL);
    Ok(scene)
}

fn released(premise: Premise) -> Result<Scene, Rejection> {
    let mut scene = premise.leased(plain)?;
    scene.release()?;
    Ok(scene)
}

fn revoked(premise: Premise) -> Result<Scene, Rejection> {
    let mut scene = premise.leased(plain)?;
    let command = RevokeLease {
        reason: None,
        expected_lease_epoch: None,
        request_id: None,
    };
    scene.apply(|execution, context| operator::revoke_lease(execution, &command, context))?;
    Ok(scene)
}

fn pending_reclaim(premise: Premise) -> Result<Scene, Rejection> {
    let mut scene = premise.leased(plain)?;
    scene.outwait_lease()?;
    scene.advance()?;
    Ok(scene)
}

fn leased(premise: Premise) -> Result<Scene, Rejection> {
    premise.live(plain)
}

fn leased_lapsed(premise: Premise) -> Result<Scene, Rejection> {
    let mut scene = premise.live(plain)?;
    scene.outwait_lease()?;
    Ok(scene)
}

fn leased_lapsed_last_reclaim(premise: Premise) -> Result<Scene, Rejection> {
    let mut scene = premise.leased(|command| command.policy.max_reclaim_count = Some(1))?;
    scene.outwait_lease()?;
    scene.advance()?;
    scene.claim()?;
    scene.renew()?;
    scene.outwait_lease()?;
    Ok(scene)
}

fn leased_unused_lapsed(premise: Premise) -> Result<Scene, Rejection> {
    let mut scene = premise.submitted(plain)?;
    scene.claim()?;
    scene.outwait_lease()?;
    Ok(scene)
}

fn leased_unused_lapsed_fourth(premise: Premise) -> Result<Scene, Rejection> {
    let mut scene = premise.submitted(plain)?;
    for _ in 0..3 {
        scene.claim()?;
        scene.outwait_lease()?;
        scene.advance()?;
    }
    scene.claim()?;
    scene.outwait_lease()?;
    Ok(scene)
}

fn leased_lapsed_into_grace(premise: Premise) -> Result<Scene, Rejection> {
    let mut scene = premise.live(plain)?;
    scene.world.settings.reclaim_grace = PAUSE;
    scene.outwait_lease()?;
    Ok(scene)
}

fn leased_in_grace(premise: Premise) -> Result<Scene, Rejection> {
    let mut scene = leased_lapsed_into_grace(premise)?;
    scene.advance()?;
    Ok(scene)
}

fn leased_timeout(premise: Premise) -> Result<Scene, Rejection> {
    let mut scene = premise.leased(with_attempt_timeout)?;
    scene.world.wait(LIMIT);
    Ok(scene)
}

fn leased_timeout_retry(premise: Premise) -> Result<Scene, Rejection> {
    let mut scene = premise.leased(|command| {
        with_attempt_timeout(command);
        command.policy.retry_policy = Some(one_retry());
    })?;
    scene.world.wait(LIMIT);
    Ok(scene)
}

fn leased_deadline(premise: Premise) -> Result<Scene, Rejection> {
    let mut scene = premise.live(with_deadline)?;
    scene.world.wait_until(START + LIMIT);
    Ok(scene)
}

fn leased_held(premise: Premise) -> Result<Scene, Rejection> {
    let mut scene = premise.live(plain)?;
    scene.hold()?;
    Ok(scene)
}

fn leased_stop(premise: Premise) -> Result<Scene, Rejection> {
    let mut scene = premise.live(|command| command.policy.budget_ids = BTreeSet::from([budget()]))?;
    let stop = Stop {
        budget_id: budget(),
        generation: 1,
        reason: "its budget is spent".to_owned(),
    };
    scene.apply(|execution, context| lease::request_stop(execution, &stop, context))?;
    Ok(scene)
}

fn suspended(premise: Premise) -> Result<Scene, Rejection> {
    suspend_with(premise.leased(plain)?, Duration::ZERO)
}

fn suspend_with(mut scene: Scene, resume_delay: Duration) -> Result<Scene, Rejection> {
    let mut command = scene.suspend_command(scene.fence)?;
    command.resume_delay = resume_delay;
    scene.suspend(&command)?;
    Ok(scene)
}

/// Suspended with a timeout that has passed.
fn timed_out(premise: Premise, behavior: TimeoutBehavior) -> Result<Scene, Rejection> {
    let mut scene = premise.leased(plain)?;
    let mut command = scene.suspend_command(scene.fence)?;
    command.timeout_at = Some(scene.world.now + PAUSE);
    command.timeout_behavior = Some(behavior);
    scene.suspend(&command)?;
    scene.world.wait(PAUSE);
    Ok(scene)
}

fn suspended_timeout(premise: Premise) -> Result<Scene, Rejection> {
    timed_out(premise, TimeoutBehavior::Fail)
}

fn suspended_escalated(premise: Premise) -> Result<Scene, Rejection> {
    let mut scene = timed_out(premise, TimeoutBehavior::Escalate)?;
    scene.advance()?;
    Ok(scene)
}

fn suspended_deadline(premise: Premise) -> Result<Scene, Rejection> {
    let mut scene = suspend_with(premise.leased(with_deadline)?, Duration::ZERO)?;
    scene.world.wait_until(START + LIMIT);
    Ok(scene)
}

fn resumable(premise: Premise) -> Result<Scene, Rejection> {
    signalled(suspend_with(premise.leased(plain)?, Duration::ZERO)?)
}

fn resume_delayed(premise: Premise) -> Result<Scene, Rejection> {
    signalled(suspend_with(premise.leased(plain)?, PAUSE)?)
}

fn resume_delayed_held(premise: Premise) -> Result<Scene, Rejection> {
    let mut scene = resume_delayed(premise)?;
    scene.hold()?;
    scene.world.wait(PAUSE);
    Ok(scene)
}

/// The signal "go" arrives at the waitpoint of the suspension.
fn signalled(mut scene: Scene) -> Result<Scene, Rejection> {
    if let Some(waitpoint) = scene.waitpoint.clone() {
        scene.signal(&waitpoint, &Post::named("go")?)?;
    }
    Ok(scene)
}

fn completed(premise: Premise) -> Result<Scene, Rejection> {
    let mut scene = premise.leased(plain)?;
    let command = Complete {
        fence: scene.fence,
        result: None,
        ..Complete::default()
    };
    scene.apply(|execution, context| lease::complete(execution, &command, context))?;
    Ok(scene)
}

fn failed(premise: Premise) -> Result<Scene, Rejection> {
    let mut scene = premise.leased(plain)?;
    scene.fail()?;
    Ok(scene)
}

fn cancelled(premise: Premise) -> Result<Scene, Rejection> {
    let mut scene = premise.leased(plain)?;
    let command = CancelExecution {
        reason: "not needed".to_owned(),
        fence: None,
    };
    scene.apply(|execution, context| operator::cancel(execution, &command, context))?;
    Ok(scene)
}

fn waiting_deadline(premise: Premise) -> Result<Scene, Rejection> {
    let mut scene = premise.submitted(with_deadline)?;
    scene.world.wait_until(START + LIMIT);
    Ok(scene)
}

fn expired(premise: Premise) -> Result<Scene, Rejection> {
    let mut scene = premise.leased(with_deadline)?;
    scene.world.wait_until(START + LIMIT);
    scene.advance()?;
    Ok(scene)
}

/// A solo execution goes by its own retention, a member with its flow.
fn deleting(premise: Premise) -> Result<Scene, Rejection> {
    let mut scene = completed(premise)?;
    match scene.flow {
        Some(flow) => flows::outlive(&mut scene.world, flow)?,
        None => {
            scene.world.wait(RETENTION_DEFAULT);
            scene.advance()?;
        }
    }
    Ok(scene)
}
