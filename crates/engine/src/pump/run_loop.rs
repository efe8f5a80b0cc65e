//! The loop: starts what is due, and sleeps until something is.

use std::collections::BTreeSet;
use std::pin::pin;
use std::time::Duration;

use ff_backend::due::{Due, DuePage};
use ff_core::fabric::Result;
use futures::future::{BoxFuture, Fuse, FusedFuture, FutureExt, pending};
use futures::select_biased;
use futures::stream::{self, StreamExt};

use super::Pump;
use super::follow_up::Progress;
use super::in_flight::{Handled, IN_FLIGHT_MAX, InFlight};
use super::items::{Item, handle};
use super::poison::{Verdict, conclude};
use super::ranges::own_partitions;
use crate::engine::Engine;

/// Items one answer of the store may hold, besides those it is known to repeat.
const PAGE_MAX: usize = 256;
/// Items of one pass.
const PASS_MAX: usize = 1_024;
/// The pause between two questions for what is due, so that many hints make one question.
const ASK_PAUSE: Duration = Duration::from_millis(10);
/// The pause after a question the store did not answer.
const ASK_AGAIN: Duration = Duration::from_secs(1);
/// An item that is pushed back stays at the head of its index, where it hides the hints of those behind it.
const HIDDEN_AFTER: Duration = Duration::from_secs(1);

/// Starts what is known, asks what is due, and waits, until the engine stops.
pub(super) async fn run(engine: &Engine) {
    let mut in_flight = InFlight::default();
    let mut rest: Fuse<BoxFuture<'static, ()>> = Fuse::terminated();
    engine.shared.pump.agenda.ask();
    while !engine.is_stopping() {
        start_known(engine, &mut in_flight);
        if rest.is_terminated() && wants_to_ask(engine, &in_flight) {
            ask(engine, &mut in_flight).await;
            rest = engine.host().sleep(ASK_PAUSE).fuse();
            continue;
        }
        wait_for_work(engine, &mut in_flight, &mut rest).await;
    }
}

/// Waits for something to be done, or for something to do.
async fn wait_for_work<'e>(
    engine: &'e Engine,
    in_flight: &mut InFlight<'e>,
    mut rest: &mut Fuse<BoxFuture<'static, ()>>,
) {
    let mut alarm = alarm(engine).fuse();
    let mut called = pin!(engine.shared.due_soon.added().fuse());
    let mut woken = pin!(engine.shared.pump.agenda.woken().fuse());
    let mut stopped = pin!(engine.stopped().fuse());
    let handled = {
        let mut next = pin!(in_flight.next().fuse());
        select_biased! {
            () = stopped => None,
            () = rest => None,
            handled = next => Some(handled),
            () = called => None,
            () = woken => None,
            () = alarm => None,
        }
    };
    if let Some(handled) = handled {
        is_done(engine, in_flight, handled);
    }
}

fn is_done(engine: &Engine, in_flight: &mut InFlight<'_>, handled: Handled) {
    if conclude(engine, &handled.item, handled.result) == Verdict::Again {
        in_flight.add(handled.item);
    }
    engine.shared.pump.agenda.something_done();
}

/// Completes when the store is to be asked, or something that was pushed back comes back.
fn alarm(engine: &Engine) -> BoxFuture<'static, ()> {
    let Pump { agenda, poison, .. } = &engine.shared.pump;
    let now = engine.host().elapsed();
    let back = poison.next().map(|at| at.saturating_sub(now));
    // Wanting to ask and not asking is waiting for the rest to be over, or for something in flight: those wake the loop
    // themselves.
    let asks = agenda.remaining(now).filter(|_| !agenda.is_time_to_ask(now));
    match [asks, back].into_iter().flatten().min() {
        Some(remaining) => engine.host().sleep(remaining),
        None => Box::pin(pending()),
    }
}

fn wants_to_ask(engine: &Engine, in_flight: &InFlight<'_>) -> bool {
    in_flight.runs_low() && engine.shared.pump.agenda.is_time_to_ask(engine.host().elapsed())
}

/// Starts what this process knows of.
fn start_known<'e>(engine: &'e Engine, in_flight: &mut InFlight<'e>) {
    for item in known_items(engine, in_flight.room()) {
        in_flight.add(item);
    }
    in_flight.start(|item| Box::pin(handle(engine, item)));
}

/// What this process was asked to look at, and what comes back.
fn known_items(engine: &Engine, limit: usize) -> BTreeSet<Item> {
    let pump = &engine.shared.pump;
    let called = engine.shared.due_soon.take(limit).into_iter();
    let called = called.map(|(partition, key)| Item::Due(partition, key));
    let closed = engine.shared.causes.take_closed_budgets().into_iter();
    let asked = called.chain(closed.map(Item::ClosedBudget)).chain(pump.findings.take());
    let mut items: BTreeSet<Item> = asked.filter(|item| !pump.poison.holds_back(item, true)).collect();
    items.extend(pump.poison.take_ready(engine.host().elapsed()));
    items
}

/// Asks the store what is due in the partitions of this process.
async fn ask(engine: &Engine, in_flight: &mut InFlight<'_>) {
    let agenda = &engine.shared.pump.agenda;
    agenda.begin();
    let partitions = own_partitions(engine);
    if partitions.is_empty() {
        return;
    }
    let limit = PAGE_MAX + in_flight.len() + engine.shared.pump.poison.len();
    let (asked, mut done) = (engine.store().due(Due { partitions, limit }), Vec::new());
    match meanwhile(in_flight, &mut done, asked).await {
        Ok(page) => {
            let full = page.items.len() >= limit;
            expect_next(engine, &page, full);
            // What was done meanwhile may have been due before that.
            let is_known = |item: &Item| in_flight.knows(item) || done.iter().any(|handled| handled.item == *item);
            for item in workable(engine, page, is_known) {
                in_flight.add(item);
            }
        }
        Err(error) => {
            tracing::warn!(%error, "the pump could not ask what is due");
            agenda.expect(engine.host().elapsed() + ASK_AGAIN);
        }
    }
    for handled in done {
        is_done(engine, in_flight, handled);
    }
}

/// The answer to a question. What is under way goes on meanwhile, since it may hold what the question waits for: a store has only so
/// many connections.
async fn meanwhile<T>(in_flight: &mut InFlight<'_>, done: &mut Vec<Handled>, asked: impl Future<Output = T>) -> T {
    let mut asked = pin!(asked.fuse());
    loop {
        let mut next = pin!(in_flight.next().fuse());
        select_biased! {
            answer = asked => return answer,
            handled = next => done.push(handled),
        }
    }
}

/// Remembers when to ask again.
fn expect_next(engine: &Engine, page: &DuePage, full: bool) {
    let agenda = &engine.shared.pump.agenda;
    agenda.answered(!page.items.is_empty());
    if full {
        return agenda.ask();
    }
    if let Some(next) = page.next {
        let remaining = Duration::from_millis(next.since(page.now).as_millis().max(1));
        agenda.expect(engine.host().elapsed() + remaining);
    }
}

/// The items of a page that are neither known already nor pushed back.
fn workable(engine: &Engine, page: DuePage, is_known: impl Fn(&Item) -> bool) -> Vec<Item> {
    let Pump { agenda, poison, .. } = &engine.shared.pump;
    let mut workable = Vec::new();
    for due in page.items {
        let item = Item::Due(due.partition, due.key);
        if is_known(&item) {
            continue;
        }
        if poison.holds_back(&item, false) {
            agenda.expect(engine.host().elapsed() + HIDDEN_AFTER);
        } else if poison.still_due(&item, due.due_at) {
            conclude(engine, &item, Ok(Progress::Later));
        } else {
            engine.shared.metrics.pump.taken_up(page.now.since(due.due_at));
            workable.push(item);
        }
    }
    workable
}

/// One pass without the loop: handles once what is due now and what this process knows of, in every partition, whoever
/// pumps it. Answers how many items came to something.
pub(super) async fn pass(engine: &Engine) -> Result<usize> {
    let mut items = known_items(engine, PASS_MAX);
    let partitions = engine.all_partitions();
    let limit = PASS_MAX + engine.shared.pump.poison.len();
    let page = engine.store().due(Due { partitions, limit }).await?;
    let workable = workable(engine, page, |item| items.contains(item));
    items.extend(workable);
    let handled = stream::iter(items)
        .map(|item| handle(engine, item))
        .buffer_unordered(IN_FLIGHT_MAX);
    let handled: Vec<_> = handled.collect().await;
    let mut done = 0;
    for handled in handled {
        match conclude(engine, &handled.item, handled.result) {
            Verdict::Done => done += 1,
            Verdict::Again => {
                done += 1;
                keep_for_next_pass(engine, &handled.item);
            }
            Verdict::PushedBack => {}
        }
    }
    Ok(done)
}

/// What a pass did not finish is known to the next one.
fn keep_for_next_pass(engine: &Engine, item: &Item) {
    match item {
        Item::Due(partition, key) => engine.shared.due_soon.add(*partition, key.clone()),
        Item::ClosedBudget(_) | Item::Slots(_) => engine.shared.pump.findings.add(item.clone()),
    }
}
