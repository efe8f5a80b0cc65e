//! What admission refused goes to the index of its cause, and nobody asks for its like while the cause is closed.
//!
//! A cause may open between the refusal and the block, when nobody knows yet that something waits for it. So its generation is
//! read again after the block: if it moved, what fits is let go at once. A release that ran in between may have found nothing
//! and forgotten where to look, so it is told again first.

use std::collections::{BTreeMap, BTreeSet};

use ff_backend::budget::BudgetCall;
use ff_backend::due::DueKey;
use ff_backend::quota::{QuotaAnswer, QuotaCall};
use ff_core::error::{Code, Rejection};
use ff_core::fabric::Result;
use ff_core::id::BudgetId;
use ff_core::machine::claim;
use ff_core::partition::Partition;
use ff_core::record::Cause;
use futures::future::join_all;

use super::admission::Refused;
use super::candidate::{Candidate, Settled};
use crate::engine::Engine;
use crate::fault::internal;

/// What came of blocking.
pub(super) struct Blocked {
    /// The first failure of the store. What could not be blocked lapses.
    pub(super) fault: Option<Rejection>,
    /// Causes that have moved since they refused.
    pub(super) moved: Vec<Cause>,
}

impl Engine {
    /// Blocks candidates that were refused.
    pub(super) async fn block_refused(&self, refused: &[(Candidate, Refused)]) -> Blocked {
        self.remember_closed(refused);
        let unmarked = self.mark_where_blocked(refused).await;
        let is_marked = |candidate: &Candidate, cause: Cause| match cause {
            Cause::Budget(id) => !unmarked.contains_key(&(id, candidate.execution().id.partition())),
            Cause::Quota(_) => true,
        };
        let marked = refused
            .iter()
            .filter(|(candidate, refused)| is_marked(candidate, refused.refusal.cause));
        let blocked = join_all(marked.map(|(candidate, refused)| self.block_one(candidate, refused))).await;
        let checks = oldest_generations(refused).into_iter();
        let checks = checks.map(|(cause, generation)| async move {
            let moved = self
                .check_generation_again(cause, generation, &blocked_partitions(refused, cause))
                .await;
            moved.then_some(cause)
        });
        let moved = join_all(checks).await.into_iter().flatten().collect();
        let failed = blocked.into_iter().filter_map(Result::err);
        let fault = unmarked.into_values().chain(failed).next();
        Blocked { fault, moved }
    }

    fn remember_closed(&self, refused: &[(Candidate, Refused)]) {
        let causes = &self.shared.causes;
        let now = self.host().elapsed();
        for (candidate, Refused { refusal, believed_for }) in refused {
            let namespace = &candidate.execution().definition.namespace;
            causes.close(refusal.cause, namespace, now + *believed_for, now);
            if let Cause::Budget(id) = refusal.cause
                && causes.move_queues(id)
            {
                self.mark_due_soon(refusal.cause);
            }
        }
    }

    /// Tells every budget where work is about to wait for it, before it does; answers what could not be told. A quota was
    /// told when it refused. A budget that does not exist cannot be told: the liveness sweep finds what waits for it.
    async fn mark_where_blocked(&self, refused: &[(Candidate, Refused)]) -> BTreeMap<(BudgetId, Partition), Rejection> {
        let marks: BTreeSet<(BudgetId, Partition)> = refused
            .iter()
            .filter_map(|(candidate, refused)| match refused.refusal.cause {
                Cause::Budget(id) => Some((id, candidate.execution().id.partition())),
                Cause::Quota(_) => None,
            })
            .collect();
        let marked = marks.iter().map(|(budget_id, partition)| {
            self.store().budget(BudgetCall::MarkBlocked {
                budget_id: *budget_id,
                partition: *partition,
            })
        });
        let marked = join_all(marked).await;
        let unmarked = |(mark, answer): (_, Result<(_, Result<_>)>)| {
            let refusal = answer.and_then(|(_, answer)| answer).err()?;
            (refusal.code != Code::BudgetNotFound).then_some((mark, refusal))
        };
        marks.into_iter().zip(marked).filter_map(unmarked).collect()
    }

    async fn block_one(&self, candidate: &Candidate, refused: &Refused) -> Result<()> {
        let rule = |execution: &_, context: &_| claim::block(execution, candidate.grant_id, &refused.refusal, context);
        match self.settle_candidate(candidate, rule).await {
            // Whatever ended the reservation, it is blocked, ended, or looked at again when it is next reserved.
            Ok(Settled::Done(_) | Settled::FlowCancelled | Settled::Over) => Ok(()),
            Err(refusal) => Err(refusal),
        }
    }

    /// Reads the generation of a cause again, after work was blocked because of it; whether it moved.
    async fn check_generation_again(
        &self,
        cause: Cause,
        generation: u64,
        blocked: &BTreeSet<(Partition, bool)>,
    ) -> bool {
        let found = match cause {
            Cause::Budget(id) => self
                .view_of_budget(id)
                .await
                .map(|view| view.map(|view| view.generation)),
            Cause::Quota(id) => self.generation_of_quota(QuotaCall::Get(id)).await,
        };
        match found {
            Ok(found) if found.is_none_or(|found| found == generation) => false,
            Ok(_) => {
                self.shared.causes.moved(cause);
                if let Err(refusal) = self.release_cause(cause, blocked).await {
                    tracing::warn!(?cause, %refusal, "what a cause no longer blocks could not be let go; the sweep will");
                    self.mark_due_soon(cause);
                }
                true
            }
            Err(refusal) => {
                tracing::debug!(?cause, %refusal, "a cause could not be read again after blocking; the pump looks");
                self.mark_due_soon(cause);
                false
            }
        }
    }

    async fn generation_of_quota(&self, get: QuotaCall) -> Result<Option<u64>> {
        match self.store().quota(get).await?.1 {
            Ok(QuotaAnswer::Policy(view)) => Ok(Some(view.generation)),
            Ok(_) => Err(internal("a quota policy was read as something else")),
            Err(refusal) if refusal.code == Code::QuotaPolicyNotFound => Ok(None),
            Err(refusal) => Err(refusal),
        }
    }

    fn mark_due_soon(&self, cause: Cause) {
        let counts = &self.shared.config.counts;
        let (partition, key) = match cause {
            Cause::Budget(id) => (counts.of_budget(id), DueKey::Budget(id)),
            Cause::Quota(id) => (counts.of_quota(id), DueKey::Quota(id)),
        };
        self.shared.due_soon.add(partition, key);
    }
}

/// Where work was blocked by `cause`, and whether it continues an attempt.
fn blocked_partitions(refused: &[(Candidate, Refused)], cause: Cause) -> BTreeSet<(Partition, bool)> {
    let of_cause = refused.iter().filter(|(_, refused)| refused.refusal.cause == cause);
    let partition = |(candidate, _): &(Candidate, Refused)| {
        let execution = candidate.execution();
        let continues = execution
            .runnable()
            .is_some_and(|runnable| runnable.next_claim.continues);
        (execution.id.partition(), continues)
    };
    of_cause.map(partition).collect()
}

/// The oldest generation any of these was refused under, by cause.
fn oldest_generations(refused: &[(Candidate, Refused)]) -> BTreeMap<Cause, u64> {
    let mut oldest = BTreeMap::new();
    for (_, Refused { refusal, .. }) in refused {
        let generation = oldest.entry(refusal.cause).or_insert(refusal.generation);
        *generation = refusal.generation.min(*generation);
    }
    oldest
}
