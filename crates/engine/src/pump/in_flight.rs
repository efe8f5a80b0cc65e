//! What the pump works on right now: few things at a time, and nothing twice at the same time.

use std::collections::{BTreeSet, VecDeque};

use ff_core::fabric::Result;
use futures::future::{BoxFuture, pending};
use futures::stream::{FuturesUnordered, StreamExt};

use super::follow_up::Progress;
use super::items::Item;

/// Items worked on at the same time.
pub(super) const IN_FLIGHT_MAX: usize = 64;
/// Items that may wait to be started; the others wait in the store.
const WAITING_MAX: usize = 256;

/// What became of an item.
pub(super) struct Handled {
    pub(super) item: Item,
    pub(super) result: Result<Progress>,
}

/// Items that wait, and items under way.
#[derive(Default)]
pub(super) struct InFlight<'e> {
    waiting: VecDeque<Item>,
    queued: BTreeSet<Item>,
    running: BTreeSet<Item>,
    /// Asked for again while under way: the work may have read before that.
    again: BTreeSet<Item>,
    under_way: FuturesUnordered<BoxFuture<'e, Handled>>,
}

impl<'e> InFlight<'e> {
    /// Somebody asks for `item`.
    pub(super) fn add(&mut self, item: Item) {
        if self.running.contains(&item) {
            self.again.insert(item);
        } else if self.queued.insert(item.clone()) {
            self.waiting.push_back(item);
        }
    }

    /// Whether `item` waits or is under way.
    pub(super) fn knows(&self, item: &Item) -> bool {
        self.queued.contains(item) || self.running.contains(item)
    }

    /// How many more may wait.
    pub(super) fn room(&self) -> usize {
        WAITING_MAX.saturating_sub(self.waiting.len())
    }

    /// How many are known.
    pub(super) fn len(&self) -> usize {
        self.queued.len() + self.running.len()
    }

    /// Whether more will soon be needed.
    pub(super) fn runs_low(&self) -> bool {
        self.waiting.len() < IN_FLIGHT_MAX
    }

    /// Starts what waits, as far as there is room.
    pub(super) fn start(&mut self, work: impl Fn(Item) -> BoxFuture<'e, Handled>) {
        while self.running.len() < IN_FLIGHT_MAX
            && let Some(item) = self.waiting.pop_front()
        {
            self.queued.remove(&item);
            self.running.insert(item.clone());
            self.under_way.push(work(item));
        }
    }

    /// The next item that is done; never, while nothing is under way.
    pub(super) async fn next(&mut self) -> Handled {
        if self.under_way.is_empty() {
            pending::<()>().await;
        }
        let handled = self.under_way.select_next_some().await;
        self.running.remove(&handled.item);
        if self.again.remove(&handled.item) {
            self.add(handled.item.clone());
        }
        handled
    }
}
