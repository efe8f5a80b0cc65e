//! The claims of one round, and what each of them gets.

use std::collections::BTreeMap;

use ff_core::command::claim::Task;
use ff_core::id::{AttemptId, GrantId, LeaseId};
use ff_core::limits::GRANT_TTL_DEFAULT;
use ff_core::machine::claim::Claimant;
use ff_core::time::{Duration, Timestamp};

use super::waiting_claim::{ClaimRequest, QueuedClaim};
use crate::engine::Engine;
use crate::mint;

/// Tasks handed out in one round.
const TASKS_PER_ROUND: usize = 256;

/// The claims of a round with their shares. Every claim gets one task before any gets two.
pub(super) struct Batch {
    shares: Vec<Share>,
    /// For which share the last claimants were made.
    claimants: BTreeMap<GrantId, usize>,
}

struct Share {
    claim: QueuedClaim,
    /// Executions that are its own already; their tasks follow.
    taken: usize,
    tasks: Vec<Task>,
}

impl Batch {
    /// A batch in which nobody has anything yet.
    pub(super) fn new(claims: Vec<QueuedClaim>) -> Self {
        let share = |claim| Share {
            claim,
            taken: 0,
            tasks: Vec::new(),
        };
        Self {
            shares: claims.into_iter().map(share).collect(),
            claimants: BTreeMap::new(),
        }
    }

    /// Claimants for the next reservation, at most `limit`.
    pub(super) fn next_claimants(&mut self, limit: usize, engine: &Engine, now: Timestamp) -> Vec<Claimant> {
        let taken: usize = self.shares.iter().map(|share| share.taken).sum();
        let limit = limit.min(TASKS_PER_ROUND.saturating_sub(taken));
        let most = self.shares.iter().map(|share| share.claim.request.max).max();
        let mut claimants = Vec::new();
        self.claimants.clear();
        for nth in 0..most.unwrap_or(0) {
            for (index, share) in self.shares.iter().enumerate() {
                if claimants.len() == limit {
                    return claimants;
                }
                if (share.taken..share.claim.request.max).contains(&nth) {
                    let claimant = fresh_claimant(&share.claim.request, GRANT_TTL_DEFAULT, engine, now);
                    self.claimants.insert(claimant.grant_id, index);
                    claimants.push(claimant);
                }
            }
        }
        claimants
    }

    /// The reservation under `grant_id` became its claimant's; the index of the share it is for, and whose that is.
    pub(super) fn take(&mut self, grant_id: GrantId) -> Option<(usize, &ClaimRequest)> {
        let index = self.claimants.remove(&grant_id)?;
        let share = self.shares.get_mut(index)?;
        share.taken += 1;
        Some((index, &share.claim.request))
    }

    pub(super) fn add_task(&mut self, index: usize, task: Task) {
        if let Some(share) = self.shares.get_mut(index) {
            share.tasks.push(task);
        }
    }

    /// Every claim with what it got, in the order of their queue.
    pub(super) fn into_claims(self) -> impl DoubleEndedIterator<Item = (QueuedClaim, Vec<Task>)> {
        self.shares.into_iter().map(|share| (share.claim, share.tasks))
    }
}

/// A claimant with ids nobody has used before, whose grant lasts `grant_ttl`.
pub(super) fn fresh_claimant(request: &ClaimRequest, grant_ttl: Duration, engine: &Engine, now: Timestamp) -> Claimant {
    Claimant {
        worker: request.worker.clone(),
        instance: request.instance.clone(),
        grant_id: GrantId::from_uuid(mint::secret(engine.host())),
        lease_id: LeaseId::from_uuid(mint::secret(engine.host())),
        attempt_id: AttemptId::from_uuid(engine.mint(now)),
        lease_ttl: request.lease_ttl,
        grant_ttl,
    }
}
