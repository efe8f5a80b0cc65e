//! issue_reclaim_grant: an operator or orchestrator chooses who takes over from a lost worker.

use ff_core::command::claim::IssuedGrant;
use ff_core::command::operator::IssueReclaimGrant;
use ff_core::error::{Code, Rejection};
use ff_core::fabric::{On, Result};
use ff_core::id::{ExecutionId, GrantId};
use ff_core::keyring::KeyRing;
use ff_core::machine::operator::ReclaimGrant;
use ff_core::machine::{claim, operator};
use ff_core::record::{Execution, RecordKey};

use super::admission::{Admission, Judged};
use super::block::block_refused;
use super::candidate::{Candidate, Settled};
use super::grant::{sign, signing_keys};
use crate::engine::Engine;
use crate::lease_cache::VersionedExecution;
use crate::mint;

/// Promises an execution to a given worker, if budgets and quota admit it too.
pub(crate) async fn issue_reclaim_grant(
    engine: &Engine,
    command: On<ExecutionId, IssueReclaimGrant>,
) -> Result<IssuedGrant> {
    let On { id, command } = command;
    engine.shared.claim_queues.check_open()?;
    let ring = signing_keys(engine).await?;
    let issued = engine.change(id, |execution, context| {
        let grant_id = GrantId::from_uuid(mint::secret(engine.host()));
        let decided = operator::issue_reclaim_grant(execution, &command, grant_id, context)?;
        let after = decided.draft.execution(id).cloned();
        Ok(decided.map(|issued| (issued, after)))
    });
    match issued.await? {
        (ReclaimGrant::Issued { admitted: true, .. }, Some(execution)) => sign(&ring, &execution),
        (ReclaimGrant::Issued { grant_id, .. }, _) => admit_reclaim(engine, id, grant_id, &ring).await,
        (ReclaimGrant::FlowCancelled, _) => Err(cancelled_with_flow(id)),
    }
}

async fn admit_reclaim(engine: &Engine, id: ExecutionId, grant_id: GrantId, ring: &KeyRing) -> Result<IssuedGrant> {
    let candidate = reclaimed(engine, id, grant_id).await?;
    let judged = Admission::new(engine).judge(&[&candidate]).await;
    match judged.into_iter().next() {
        Some(Judged::Passed) => admit_passed(engine, &candidate, ring).await,
        Some(Judged::Refused(refused)) => {
            let detail = format!("execution {id}: {}", refused.refusal.detail);
            match block_refused(engine, &[(candidate, refused)]).await.fault {
                Some(fault) => Err(fault),
                None => Err(Code::ExecutionNotEligible.because(detail)),
            }
        }
        Some(Judged::Unread(fault)) => Err(fault),
        Some(Judged::Dropped) | None => Err(taken_back(id)),
    }
}

async fn admit_passed(engine: &Engine, candidate: &Candidate, ring: &KeyRing) -> Result<IssuedGrant> {
    let id = candidate.execution().id;
    let rule = |execution: &Execution, context: &_| claim::admit(execution, candidate.grant_id, context);
    match candidate.settle(engine, rule).await? {
        Settled::Done(execution) => sign(ring, &execution),
        Settled::FlowCancelled => Err(cancelled_with_flow(id)),
        Settled::Redeemed => Err(taken_back(id)),
        Settled::Over => {
            candidate.give_slot_back(engine).await;
            Err(taken_back(id))
        }
    }
}

/// The execution as it stands under the grant that was just issued.
async fn reclaimed(engine: &Engine, id: ExecutionId, grant_id: GrantId) -> Result<Candidate> {
    let key = RecordKey::Execution(id);
    let snapshot = engine.read_execution(id).await?;
    let execution = engine.visible(&snapshot, id)?.clone();
    let version = snapshot.version(&key).ok_or_else(|| taken_back(id))?;
    let gate = execution.definition.flow.map(RecordKey::Gate);
    let gate = gate.and_then(|gate| Some((snapshot.gate(&gate)?.clone(), snapshot.version(&gate)?)));
    if execution.grant().is_none_or(|grant| grant.id != grant_id) {
        return Err(taken_back(id));
    }
    Ok(Candidate {
        held: VersionedExecution {
            execution,
            version,
            gate,
        },
        grant_id,
        now: snapshot.now,
    })
}

fn cancelled_with_flow(id: ExecutionId) -> Rejection {
    Code::ExecutionNotReclaimable.because(format!("execution {id} was cancelled with its flow"))
}

fn taken_back(id: ExecutionId) -> Rejection {
    Code::ExecutionNotReclaimable.because(format!("execution {id} changed meanwhile; look again and try again"))
}
