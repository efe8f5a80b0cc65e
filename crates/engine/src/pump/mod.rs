//! What time does, and what is left to do after a commit: one loop with small handlers.
//!
//! `duty` is the table of what it does, with the file of each duty; docs/reference/pump.md is printed from it.
//!
//! `run_loop` is the loop: it takes what this process knows to be due (`due_soon`) and what the store says is due, and keeps
//! at most 64 of them in flight (`in_flight`). `items` finds out which duty an item is. What fails is pushed back in `poison`.
//! `agenda` says when the store is asked next: when a hint says so, when the next timer comes, and with every liveness sweep.
//! `findings` holds what no record is due for. `listed` decides about many executions at once. `by_hand` is the pump without
//! its loop.

mod agenda;
mod audit;
mod budgets;
mod by_hand;
mod closed_budgets;
mod duty;
mod findings;
pub(crate) mod follow_up;
mod in_flight;
mod items;
mod listed;
mod liveness;
mod outbox;
#[cfg(test)]
mod page;
mod poison;
mod quotas;
mod ranges;
mod recount;
mod releases;
mod run_loop;
mod slots;
mod stops;
mod timers;
mod waitpoints;

pub(crate) use agenda::{expect_due, look_everywhere};
pub use duty::Duty;
pub(crate) use items::Item;
pub use poison::Poisoned;
pub(crate) use poison::failing_items;
pub(crate) use ranges::pumped_ranges;
pub(crate) use releases::release_cause;

use futures::future::join4;

use self::agenda::Agenda;
use self::audit::Audits;
use self::findings::Findings;
use self::liveness::Marks;
use self::poison::Poison;
use self::ranges::Ranges;
use self::slots::Slots;
use crate::engine::Engine;
use ff_core::caller::Caller;

/// What the pump of a process remembers.
#[derive(Default)]
pub(crate) struct Pump {
    agenda: Agenda,
    audits: Audits,
    findings: Findings,
    marks: Marks,
    poison: Poison,
    ranges: Ranges,
    slots: Slots,
}

/// Pumps until the engine stops.
pub(crate) async fn run(engine: &Engine) {
    let engine = &as_engine(engine);
    ranges::renew_or_log(engine).await;
    let (items, sweeps) = (run_loop::run(engine), liveness::run_sweeps(engine));
    join4(items, sweeps, ranges::run(engine), liveness::run_roster(engine)).await;
    ranges::release_all(engine).await;
}

/// The engine acting for itself.
fn as_engine(engine: &Engine) -> Engine {
    engine.acting_as(Caller::engine())
}
