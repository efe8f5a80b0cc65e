//! The loop: starts what is due, and sleeps until something is.

use std::collections::BTreeSet;
use std::pin::pin;
use std::time::Duration;

use ff_backend::due::{Due, DuePage};
use ff_core::fabric::Result;
use ff_core::partition::{Family, Partition};
use futures::future::{BoxFuture, Fuse, FusedFuture, FutureExt, pending};
use futures::select_biased;
use futures::stream::{self, StreamExt};

use super::Pump;
use super::follow_up::Progress;
use super::in_flight::{IN_FLIGHT_MAX, InFlight};
use super::items::Item;
use super::poison::Verdict;
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

impl Engine {
    /// Goes round until the engine stops.
    pub(super) async fn run_loop(&self) {
        let mut in_flight = InFlight::default();
        let mut rest: Fuse<BoxFuture<'static, ()>> = Fuse::terminated();
        self.shared.pump.agenda.ask();
        while !self.is_stopping() {
            self.start_known(&mut in_flight);
            if rest.is_terminated() && self.wants_to_ask(&in_flight) {
                self.ask(&mut in_flight).await;
                rest = self.host().sleep(ASK_PAUSE).fuse();
                continue;
            }
            self.wait_for_work(&mut in_flight, &mut rest).await;
        }
    }

    /// Waits for something to be done, or for something to do.
    async fn wait_for_work<'e>(&'e self, in_flight: &mut InFlight<'e>, mut rest: &mut Fuse<BoxFuture<'static, ()>>) {
        let mut alarm = self.alarm().fuse();
        let mut called = pin!(self.shared.due_soon.added().fuse());
        let mut woken = pin!(self.shared.pump.agenda.woken().fuse());
        let mut stopped = pin!(self.stopped().fuse());
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
        let Some(handled) = handled else { return };
        if self.conclude(&handled.item, handled.result) == Verdict::Again {
            in_flight.add(handled.item);
        }
        self.shared.pump.agenda.something_done();
    }

    /// Completes when the store is to be asked, or something that was pushed back comes back.
    fn alarm(&self) -> BoxFuture<'static, ()> {
        let Pump { agenda, poison, .. } = &self.shared.pump;
        let now = self.host().elapsed();
        let back = poison.next().map(|at| at.saturating_sub(now));
        // Wanting to ask and not asking is waiting for the rest to be over, or for something in flight: those wake the loop themselves.
        let asks = agenda.remaining(now).filter(|_| !agenda.is_time_to_ask(now));
        match [asks, back].into_iter().flatten().min() {
            Some(remaining) => self.host().sleep(remaining),
            None => Box::pin(pending()),
        }
    }

    fn wants_to_ask(&self, in_flight: &InFlight<'_>) -> bool {
        in_flight.runs_low() && self.shared.pump.agenda.is_time_to_ask(self.host().elapsed())
    }

    /// Starts what this process knows of.
    fn start_known<'e>(&'e self, in_flight: &mut InFlight<'e>) {
        for item in self.known_items(in_flight.room()) {
            in_flight.add(item);
        }
        in_flight.start(|item| Box::pin(self.handle(item)));
    }

    /// What this process was asked to look at, and what comes back.
    fn known_items(&self, limit: usize) -> BTreeSet<Item> {
        let pump = &self.shared.pump;
        let called = self.shared.due_soon.take(limit).into_iter();
        let called = called.map(|(partition, key)| Item::Due(partition, key));
        let closed = self.shared.causes.take_closed_budgets().into_iter();
        let asked = called.chain(closed.map(Item::ClosedBudget)).chain(pump.findings.take());
        let mut items: BTreeSet<Item> = asked.filter(|item| !pump.poison.holds_back(item, true)).collect();
        items.extend(pump.poison.take_ready(self.host().elapsed()));
        items
    }

    /// Asks the store what is due in the partitions of this process.
    async fn ask(&self, in_flight: &mut InFlight<'_>) {
        let agenda = &self.shared.pump.agenda;
        agenda.begin();
        let partitions = self.own_partitions();
        if partitions.is_empty() {
            return;
        }
        let limit = PAGE_MAX + in_flight.len() + self.shared.pump.poison.len();
        match self.store().due(Due { partitions, limit }).await {
            Ok(page) => {
                let full = page.items.len() >= limit;
                self.expect_next(&page, full);
                for item in self.workable(page, |item| in_flight.knows(item)) {
                    in_flight.add(item);
                }
            }
            Err(error) => {
                tracing::warn!(%error, "the pump could not ask what is due");
                agenda.expect(self.host().elapsed() + ASK_AGAIN);
            }
        }
    }

    /// Remembers when to ask again.
    fn expect_next(&self, page: &DuePage, full: bool) {
        let agenda = &self.shared.pump.agenda;
        agenda.answered(!page.items.is_empty());
        if full {
            return agenda.ask();
        }
        if let Some(next) = page.next {
            let remaining = Duration::from_millis(next.since(page.now).as_millis().max(1));
            agenda.expect(self.host().elapsed() + remaining);
        }
    }

    /// The items of a page that are neither known already nor pushed back.
    fn workable(&self, page: DuePage, is_known: impl Fn(&Item) -> bool) -> Vec<Item> {
        let Pump { agenda, poison, .. } = &self.shared.pump;
        let mut workable = Vec::new();
        for due in page.items {
            let item = Item::Due(due.partition, due.key);
            if is_known(&item) {
                continue;
            }
            if poison.holds_back(&item, false) {
                agenda.expect(self.host().elapsed() + HIDDEN_AFTER);
            } else if poison.still_due(&item, due.due_at) {
                self.conclude(&item, Ok(Progress::Later));
            } else {
                workable.push(item);
            }
        }
        workable
    }

    /// One pass without the loop: handles once what is due now and what this process knows of, in every partition, whoever
    /// pumps it. Answers how many items came to something.
    pub async fn pump_pass(&self) -> Result<usize> {
        let engine = self.pumping();
        let mut items = engine.known_items(PASS_MAX);
        let partitions = engine.all_partitions();
        let limit = PASS_MAX + engine.shared.pump.poison.len();
        let page = engine.store().due(Due { partitions, limit }).await?;
        let workable = engine.workable(page, |item| items.contains(item));
        items.extend(workable);
        let handled = stream::iter(items)
            .map(|item| engine.handle(item))
            .buffer_unordered(IN_FLIGHT_MAX);
        let handled: Vec<_> = handled.collect().await;
        let mut done = 0;
        for handled in handled {
            match engine.conclude(&handled.item, handled.result) {
                Verdict::Done => done += 1,
                Verdict::Again => {
                    done += 1;
                    engine.keep_for_next_pass(&handled.item);
                }
                Verdict::PushedBack => {}
            }
        }
        Ok(done)
    }

    /// What a pass did not finish is known to the next one.
    fn keep_for_next_pass(&self, item: &Item) {
        match item {
            Item::Due(partition, key) => self.shared.due_soon.add(*partition, key.clone()),
            Item::ClosedBudget(_) | Item::Slots(_) => self.shared.pump.findings.add(item.clone()),
        }
    }

    /// Every partition there is.
    pub(crate) fn all_partitions(&self) -> Vec<Partition> {
        let counts = self.shared.config.counts;
        Family::ALL.into_iter().flat_map(|family| counts.all(family)).collect()
    }

    /// Every partition that holds executions.
    pub(crate) fn flow_partitions(&self) -> Vec<Partition> {
        self.shared.config.counts.all(Family::Flow).collect()
    }
}
