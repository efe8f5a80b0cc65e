//! What admission refused goes to the index of its cause, and nobody asks for its like while the cause is closed.
//!
//! A cause may open between the refusal and the block, when nobody knows yet that something waits for it. So its generation is
//! read again after the block: if it moved, what fits is let go at once. A release that ran in between may have found nothing
//! and forgotten where to look, so it is told again first.

use std::collections::{BTreeMap, BTreeSet};

use ff_backend::due::DueKey;
use ff_backend::limits::{self, Failed};
use ff_core::error::{Code, Rejection};
use ff_core::fabric::Result;
use ff_core::id::BudgetId;
use ff_core::machine::claim;
use ff_core::partition::Partition;
use ff_core::record::Cause;
use futures::future::join_all;

use super::admission::Refused;
use super::candidate::{Candidate, Settled};
use crate::directory::generation_of;
use crate::engine::Engine;
use crate::fault;
use crate::pump;

pub(super) struct Blocked {
    /// The first failure of the store. What could not be blocked lapses.
    pub(super) fault: Option<Rejection>,
    /// Causes that have moved since they refused.
    pub(super) moved: Vec<Cause>,
}

/// Blocks candidates that were refused.
pub(super) async fn block_refused(engine: &Engine, refused: &[(Candidate, Refused)]) -> Blocked {
    remember_closed(engine, refused);
    let unmarked = mark_where_blocked(engine, refused).await;
    let is_marked = |cause: Cause| match cause {
        Cause::Budget(id) => !unmarked.contains_key(&id),
        Cause::Quota(_) => true,
    };
    let marked = refused.iter().filter(|(_, refused)| is_marked(refused.refusal.cause));
    let blocked = join_all(marked.map(|(candidate, refused)| block_one(engine, candidate, refused))).await;
    let checks = oldest_generations(refused).into_iter();
    let checks = checks.map(|(cause, generation)| async move {
        let moved = check_generation_again(engine, cause, generation, &blocked_partitions(refused, cause)).await;
        moved.then_some(cause)
    });
    let moved = join_all(checks).await.into_iter().flatten().collect();
    let failed = blocked.into_iter().filter_map(Result::err);
    let fault = unmarked.into_values().chain(failed).next();
    Blocked { fault, moved }
}

fn remember_closed(engine: &Engine, refused: &[(Candidate, Refused)]) {
    let causes = &engine.shared.causes;
    let now = engine.host().elapsed();
    for (candidate, Refused { refusal, believed_for }) in refused {
        let namespace = &candidate.execution().definition.namespace;
        causes.close(refusal.cause, namespace, now + *believed_for, now);
        if let Cause::Budget(id) = refusal.cause
            && causes.move_queues(id)
        {
            mark_due_soon(engine, refusal.cause);
        }
    }
}

/// Tells every budget where work is about to wait for it, before it does; answers what could not be told. A quota was
/// told when it refused. A budget that does not exist cannot be told: the liveness sweep finds what waits for it.
async fn mark_where_blocked(engine: &Engine, refused: &[(Candidate, Refused)]) -> BTreeMap<BudgetId, Rejection> {
    let mut marks: BTreeMap<BudgetId, BTreeSet<Partition>> = BTreeMap::new();
    for (candidate, refused) in refused {
        if let Cause::Budget(id) = refused.refusal.cause {
            marks
                .entry(id)
                .or_default()
                .insert(candidate.execution().id.partition());
        }
    }
    let marked = marks.iter().map(|(id, partitions)| {
        let partitions = partitions.iter().map(|partition| (*partition, false));
        limits::mark(engine.store(), Cause::Budget(*id), partitions)
    });
    let marked = join_all(marked).await;
    let unmarked = |(id, marked): (BudgetId, std::result::Result<(), Failed>)| {
        let refusal = fault::refused(marked.err()?);
        (refusal.code != Code::BudgetNotFound).then_some((id, refusal))
    };
    marks.into_keys().zip(marked).filter_map(unmarked).collect()
}

async fn block_one(engine: &Engine, candidate: &Candidate, refused: &Refused) -> Result<()> {
    let rule = |execution: &_, context: &_| claim::block(execution, candidate.grant_id, &refused.refusal, context);
    match candidate.settle(engine, rule).await {
        // Whatever ended the reservation, it is blocked, ended, or looked at again when it is next reserved.
        Ok(Settled::Done(_) | Settled::FlowCancelled | Settled::Over | Settled::Redeemed) => Ok(()),
        Err(refusal) => Err(refusal),
    }
}

/// Reads the generation of a cause again, after work was blocked because of it; whether it moved.
async fn check_generation_again(
    engine: &Engine,
    cause: Cause,
    generation: u64,
    blocked: &BTreeSet<(Partition, bool)>,
) -> bool {
    match generation_of(engine, cause).await {
        Ok(found) if found.is_none_or(|found| found == generation) => false,
        Ok(_) => {
            engine.shared.causes.moved(cause);
            if let Err(refusal) = pump::release_cause(engine, cause, blocked).await {
                tracing::warn!(?cause, %refusal, "what a cause no longer blocks could not be let go; the sweep will");
                mark_due_soon(engine, cause);
            }
            true
        }
        Err(refusal) => {
            tracing::debug!(?cause, %refusal, "a cause could not be read again after blocking; the pump looks");
            mark_due_soon(engine, cause);
            false
        }
    }
}

fn mark_due_soon(engine: &Engine, cause: Cause) {
    let partition = cause.partition(&engine.shared.config.counts);
    engine.shared.due_soon.add(partition, DueKey::Account(cause));
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
