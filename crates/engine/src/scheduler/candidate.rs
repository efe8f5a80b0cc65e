//! An execution that was reserved: it is in no queue, promised to somebody, and nobody's yet.

use ff_backend::limits;
use ff_backend::load::Snapshot;
use ff_core::error::Code;
use ff_core::fabric::Result;
use ff_core::id::GrantId;
use ff_core::machine::claim::Admitted;
use ff_core::machine::{Context, Decided};
use ff_core::policy::Policy;
use ff_core::record::{Execution, RecordKey};
use ff_core::time::Timestamp;

use crate::engine::Engine;
use crate::fault::refused;
use crate::lease_cache::VersionedExecution;
use crate::transact::Decision;

/// A reserved execution, as it was handed over.
pub(super) struct Candidate {
    pub(super) held: VersionedExecution,
    /// The reservation, which is also the key of a quota slot taken for it.
    pub(super) grant_id: GrantId,
    /// The time of its partition when it was reserved.
    pub(super) now: Timestamp,
}

impl Candidate {
    pub(super) fn execution(&self) -> &Execution {
        &self.held.execution
    }

    pub(super) fn policy(&self) -> &Policy {
        &self.held.execution.definition.policy
    }

    fn snapshot(&self) -> Snapshot {
        self.held.snapshot(self.now)
    }

    /// Decides about it and commits that. What it was reserved with is tried first, without a read.
    pub(super) async fn settle(
        &self,
        engine: &Engine,
        rule: impl Fn(&Execution, &Context) -> Result<Decided<Admitted>> + Send + Sync,
    ) -> Result<Settled> {
        let id = self.execution().id;
        let locked = engine.lock(RecordKey::Execution(id)).await;
        let locked = locked.starting_from(Some(self.snapshot()));
        let decide = || async {
            let snapshot = locked.look(Engine::load_of(id)).await?;
            let decided = engine
                .visible(&snapshot, id)
                .and_then(|execution| rule(execution, &engine.context_of(&snapshot, execution)));
            let decided = match decided {
                Ok(decided) => decided,
                Err(refusal) if is_over(refusal.code) => {
                    let settled = if self.is_redeemed(&snapshot) {
                        Settled::Redeemed
                    } else {
                        Settled::Over
                    };
                    return Ok(Decision::unchanged(snapshot, settled));
                }
                Err(refusal) => return Err(refusal),
            };
            // What is decided again may have landed before: then it is as it was loaded.
            let loaded = || snapshot.execution(&RecordKey::Execution(id));
            let after = decided.draft.execution(id).or_else(loaded).cloned().map(Box::new);
            let decided = decided.map(|admitted| match (admitted, after) {
                (Admitted::Yes, Some(after)) => Settled::Done(after),
                (Admitted::Yes, None) => Settled::Over,
                (Admitted::FlowCancelled, _) => Settled::FlowCancelled,
            });
            Ok(Decision::Commit(snapshot, decided))
        };
        locked.transact(decide).await
    }

    /// Whether a lease came of the grant: then the slot is that lease's.
    fn is_redeemed(&self, snapshot: &Snapshot) -> bool {
        let execution = snapshot.execution(&RecordKey::Execution(self.execution().id));
        let lease = execution.and_then(Execution::lease);
        lease.is_some_and(|lease| lease.grant == Some(self.grant_id))
    }

    /// Gives back the quota slot of a reservation that is over. Its record may do so too, once more is harmless. If the call
    /// is lost, the check of old slots finds it.
    pub(super) async fn give_slot_back(&self, engine: &Engine) {
        let Some(quota_policy_id) = self.policy().quota_policy_id else {
            return;
        };
        let grant_id = self.grant_id;
        let released = limits::quotas::release(engine.store(), quota_policy_id, grant_id).await;
        let released = released.map_err(refused);
        if let Err(refusal) = released {
            tracing::warn!(%quota_policy_id, %refusal, "a quota slot was not given back; the slot check will find it");
        }
    }
}

/// What came of a decision about a candidate.
pub(super) enum Settled {
    /// As decided; the execution as it stands now.
    Done(Box<Execution>),
    /// The flow is cancelled, and so is the execution now.
    FlowCancelled,
    /// Somebody or time ended the reservation before: there is nothing left to decide.
    Over,
    /// The same grant was admitted for another call, and its worker has taken the lease already.
    Redeemed,
}

/// Whether a refusal says that the reservation is no longer there.
const fn is_over(code: Code) -> bool {
    matches!(
        code,
        Code::InvalidClaimGrant | Code::ClaimGrantExpired | Code::ExecutionNotFound
    )
}
