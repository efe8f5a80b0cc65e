//! What the pump can be asked to look at, and which duties that is.

use std::fmt;
use std::panic::AssertUnwindSafe;

use ff_backend::due::DueKey;
use ff_backend::load::{Load, Snapshot};
use ff_core::fabric::Result;
use ff_core::id::{BudgetId, ExecutionId, FlowId, QuotaPolicyId};
use ff_core::ledger::AccountKey;
use ff_core::machine::Decided;
use ff_core::machine::time::{Timer, next_timer};
use ff_core::partition::Partition;
use ff_core::record::{Execution, Flow, RecordKey};
use ff_core::time::Timestamp;
use futures::future::FutureExt;

use super::duty::Duty;
use super::follow_up::Progress;
use super::in_flight::Handled;
use super::{budgets, closed_budgets, follow_up, outbox, quotas, slots, timers, waitpoints};
use crate::engine::Engine;
use crate::fault::internal;
use crate::transact::Decision;

/// Something to look at.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Item {
    /// It is due.
    Due(Partition, DueKey),
    /// Work may be queued under this closed budget.
    ClosedBudget(BudgetId),
    /// Slots of this quota may be held by nobody.
    Slots(QuotaPolicyId),
}

/// Looks at an item, does what is due about it, and survives whatever happens.
pub(super) async fn handle(engine: &Engine, item: Item) -> Handled {
    let work = AssertUnwindSafe(look_at(engine, &item)).catch_unwind().await;
    let result = work.unwrap_or_else(|_| Err(internal(&format!("the pump panicked over {item}"))));
    Handled { item, result }
}

async fn look_at(engine: &Engine, item: &Item) -> Result<Progress> {
    match item {
        Item::Due(_, DueKey::Record(RecordKey::Execution(id))) => look_at_execution(engine, *id).await,
        Item::Due(partition, DueKey::Record(RecordKey::Flow(id))) => look_at_flow(engine, *partition, *id).await,
        Item::Due(_, DueKey::Record(RecordKey::Waitpoint(execution_id, id))) => {
            let expiry = waitpoints::expire(engine, *execution_id, *id);
            Duty::WaitpointExpired.serve(engine, expiry).await
        }
        Item::Due(_, DueKey::Record(key)) => Err(internal(&format!("{key:?} is due, which cannot be"))),
        Item::Due(_, DueKey::Account(AccountKey::Budget(id))) => {
            Duty::BudgetReset.serve(engine, budgets::advance(engine, *id)).await
        }
        Item::Due(_, DueKey::Account(AccountKey::Quota(id))) => quotas::advance(engine, *id).await,
        Item::ClosedBudget(id) => {
            Duty::ClosedBudgetQueue
                .serve(engine, closed_budgets::block_queue(engine, *id))
                .await
        }
        Item::Slots(id) => Duty::SlotCheck.serve(engine, slots::check(engine, *id)).await,
    }
}

async fn look_at_execution(engine: &Engine, id: ExecutionId) -> Result<Progress> {
    let key = RecordKey::Execution(id);
    let snapshot = read_in_turn(engine, Engine::load_of(id), key.clone()).await?;
    let Some(execution) = snapshot.execution(&key) else {
        return drop_nudge(engine, snapshot, key).await;
    };
    let duties = duties_of_execution(execution, snapshot.now, snapshot.nudges.contains_key(&key));
    let mut outcome = Ok(Progress::Done);
    for duty in duties {
        let work = duty.serve(engine, work_on_execution(engine, duty, &snapshot, id)).await;
        // One duty that fails does not keep the others from being done.
        outcome = worse(outcome, work);
    }
    outcome
}

async fn work_on_execution(engine: &Engine, duty: Duty, snapshot: &Snapshot, id: ExecutionId) -> Result<Progress> {
    match duty {
        Duty::Outbox => outbox::send_all(engine, snapshot, id).await,
        Duty::Reopen => follow_up::reopen_edges_chunk(engine, id).await,
        Duty::ResolveEdges => follow_up::resolve_edges_chunk(engine, id).await,
        Duty::SiblingCancel => follow_up::cancel_siblings_chunk(engine, id).await,
        Duty::Cascade => follow_up::evaluate_execution(engine, id).await,
        Duty::Retention if is_deleting(snapshot, id) => follow_up::delete_execution_chunk(engine, id).await,
        _ => timers::advance(engine, snapshot, id).await,
    }
}

async fn look_at_flow(engine: &Engine, partition: Partition, id: FlowId) -> Result<Progress> {
    let key = RecordKey::Flow(id);
    let load = Load::records(partition, [key.clone()]);
    let snapshot = read_in_turn(engine, load, key.clone()).await?;
    let Some(flow) = snapshot.flow(&key) else {
        return drop_nudge(engine, snapshot, key).await;
    };
    let duty = duty_of_flow(flow, snapshot.nudges.contains_key(&key));
    duty.serve(engine, work_on_flow(engine, duty, flow)).await
}

async fn work_on_flow(engine: &Engine, duty: Duty, flow: &Flow) -> Result<Progress> {
    match duty {
        Duty::FlowCancel => follow_up::cancel_members_chunk(engine, flow.id).await,
        Duty::FlowOpen => follow_up::open_members_chunk(engine, flow.id).await,
        Duty::FlowRetention if flow.deleting => follow_up::delete_members_chunk(engine, flow.id).await,
        _ => follow_up::advance_flow(engine, flow.id).await,
    }
}

/// Reads a record when nobody in this process is in the middle of something with it: an operation that clears up after
/// itself has done so, and what is left is left for the pump.
async fn read_in_turn(engine: &Engine, load: Load, key: RecordKey) -> Result<Snapshot> {
    engine.lock(key).await.load(load).await
}

/// A record that is gone has nothing left to evaluate.
async fn drop_nudge(engine: &Engine, snapshot: Snapshot, key: RecordKey) -> Result<Progress> {
    let locked = engine.lock(key.clone()).await;
    let drop = Decision::Answer(key, snapshot, Decided::unchanged(Progress::Done));
    // Not committed: whoever looks at it next drops it.
    let dropped = locked.transact_once(async { Ok(drop) }).await?;
    Ok(dropped.unwrap_or(Progress::Later))
}

/// What is due about an execution, in the order in which it is done.
fn duties_of_execution(execution: &Execution, now: Timestamp, nudged: bool) -> Vec<Duty> {
    let mut duties = Vec::new();
    let mut add = |duty, due: bool| duties.extend(due.then_some(duty));
    let sends = !execution.outbox.is_empty();
    let follow_ups = execution.follow_ups;
    add(Duty::Outbox, sends);
    add(Duty::Reopen, follow_ups.reopen_edges);
    add(Duty::ResolveEdges, follow_ups.resolve_edges);
    add(Duty::SiblingCancel, follow_ups.cancel_siblings);
    if execution.is_deleting() {
        // What it owes to others is delivered before it goes.
        add(Duty::Retention, !sends && !follow_ups.any());
        return duties;
    }
    add(Duty::Cascade, nudged);
    let timer = next_timer(execution).filter(|(at, _)| at.has_come(now));
    if let Some((_, timer)) = timer.filter(|_| !nudged) {
        add(duty_of_timer(timer), true);
    }
    duties
}

const fn duty_of_timer(timer: Timer) -> Duty {
    match timer {
        Timer::Deadline => Duty::ExecutionDeadline,
        Timer::Stop => Duty::StopSweep,
        Timer::AttemptTimeout => Duty::AttemptTimeout,
        Timer::LeaseExpiry | Timer::ReclaimGrace => Duty::LeaseExpired,
        Timer::SuspensionTimeout => Duty::SuspensionTimeout,
        Timer::GrantExpiry => Duty::GrantLapsed,
        Timer::DelayOver => Duty::DelayOver,
        Timer::Retention => Duty::Retention,
    }
}

/// What is due about a flow.
const fn duty_of_flow(flow: &Flow, nudged: bool) -> Duty {
    if flow.deleting {
        Duty::FlowRetention
    } else if flow.cancelling {
        Duty::FlowCancel
    } else if flow.opening {
        Duty::FlowOpen
    } else if nudged {
        Duty::FlowEnd
    } else {
        Duty::FlowRetention
    }
}

fn is_deleting(snapshot: &Snapshot, id: ExecutionId) -> bool {
    let execution = snapshot.execution(&RecordKey::Execution(id));
    execution.is_some_and(Execution::is_deleting)
}

/// What counts of two outcomes: a failure before anything else, then that there is more to do at once.
fn worse(one: Result<Progress>, other: Result<Progress>) -> Result<Progress> {
    match (one?, other?) {
        (Progress::More, _) | (_, Progress::More) => Ok(Progress::More),
        (Progress::Later, _) | (_, Progress::Later) => Ok(Progress::Later),
        (Progress::Done, Progress::Done) => Ok(Progress::Done),
    }
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Item::Due(_, DueKey::Record(RecordKey::Execution(id))) => write!(f, "execution {id}"),
            Item::Due(_, DueKey::Record(RecordKey::Flow(id))) => write!(f, "flow {id}"),
            Item::Due(_, DueKey::Record(RecordKey::Waitpoint(execution_id, id))) => {
                write!(f, "waitpoint {id} of execution {execution_id}")
            }
            Item::Due(partition, DueKey::Record(key)) => write!(f, "{key:?} of {partition}"),
            Item::Due(_, DueKey::Account(AccountKey::Budget(id))) => write!(f, "budget {id}"),
            Item::Due(_, DueKey::Account(AccountKey::Quota(id))) => write!(f, "quota policy {id}"),
            Item::ClosedBudget(id) => write!(f, "queues of closed budget {id}"),
            Item::Slots(id) => write!(f, "slots of quota policy {id}"),
        }
    }
}
