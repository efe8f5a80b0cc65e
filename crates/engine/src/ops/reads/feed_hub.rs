//! One reader of the feeds for everybody in this process who waits for events.
//!
//! While somebody waits, a task reads the feeds once for every hint, at most about ten times a second, and keeps the last lines.
//! Whoever waits takes from there what it has not seen; whoever is further back reads for itself until it has seen everything,
//! and then has a [`Place`] there. The place travels in cursors, so that the next call goes on from it without reading.
//!
//! When more happens than anybody could follow, the task moves on. Those who collect events move on with it and are told; the
//! others read for themselves what it left out.

use std::collections::VecDeque;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ff_backend::query::{FeedLine, Listing};
use ff_core::limits::PAGE_MAX;
use ff_core::time::Timestamp;
use futures::future::select;
use tokio::sync::Notify;
use tokio::sync::futures::OwnedNotified;

use super::positions::{Place, Positions};
use crate::engine::Engine;

/// Lines that are remembered.
const LINES_MAX: usize = 10_000;
/// Lines that are followed in [`WINDOW`]; what is beyond is left out.
const LINES_PER_WINDOW_MAX: usize = 5_000;
const WINDOW: Duration = Duration::from_secs(1);
/// The pause after each look.
const PAUSE: Duration = Duration::from_millis(95);
/// How long what is remembered is kept while nobody waits: between two calls of one reader, nobody does.
const KEPT_FOR: Duration = Duration::from_secs(60);

/// The one reader of this process.
#[derive(Default)]
pub(crate) struct FeedHub {
    state: Mutex<State>,
    /// Something may have happened.
    bell: Notify,
    /// There are new lines, or everybody has to look for itself.
    grew: Arc<Notify>,
}

#[derive(Default)]
struct State {
    /// `None` until somebody who has seen everything waits.
    tail: Option<Tail>,
    /// Calls that wait.
    waiting: usize,
    /// Whether the task runs.
    is_running: bool,
    /// When the last one who waited left.
    left_at: Duration,
    window: Window,
}

/// How much was read lately.
#[derive(Default)]
struct Window {
    began: Duration,
    lines: usize,
}

/// The last lines of all feeds.
struct Tail {
    memory: u64,
    /// Where the task goes on.
    positions: Positions,
    /// Where somebody stands who has seen what is no longer remembered.
    floor: Positions,
    /// The number of the first line that is remembered.
    first: u64,
    lines: VecDeque<Arc<FeedLine>>,
}

/// What somebody at a place has not seen.
pub(super) enum Ahead {
    /// These lines, and then it is at this place.
    Lines(Vec<Arc<FeedLine>>),
    /// It is too far back; so many lines were left out, at least. From these positions on everything is remembered.
    Left { out: u64, positions: Positions },
    /// Nothing is known of its place.
    Unknown,
}

/// Somebody who waits: as long as it lives, the feeds are read.
pub(super) struct Seat<'e> {
    engine: &'e Engine,
}

impl FeedHub {
    /// Something may have happened.
    pub(crate) fn ring(&self) {
        self.bell.notify_one();
    }

    /// Wakes everybody.
    pub(crate) fn wake_all(&self) {
        self.grew.notify_waiters();
        self.ring();
    }

    /// The next time there is something. Make it before looking, await it after.
    pub(super) fn next_wake(&self) -> OwnedNotified {
        Arc::clone(&self.grew).notified_owned()
    }

    /// The positions of somebody who wants only what happens from now on, if the feeds are being read.
    pub(super) fn now(&self) -> Option<Positions> {
        let state = self.state();
        let tail = state.tail.as_ref().filter(|_| state.is_running)?;
        Some(tail.positions.at(Some(tail.end())))
    }

    /// The place of somebody who has seen everything that was written before now, and will find out by reading.
    pub(super) fn end(&self) -> Option<Place> {
        self.state().tail.as_ref().map(Tail::end)
    }

    /// What comes after a place.
    pub(super) fn after(&self, place: Place) -> Ahead {
        match &self.state().tail {
            Some(tail) if tail.memory == place.memory => tail.after(place),
            _ => Ahead::Unknown,
        }
    }

    /// Goes on for somebody who has seen everything, unless another one was faster. Its place then.
    pub(super) fn begin(&self, engine: &Engine, positions: &Positions) -> Option<Place> {
        let mut state = self.state();
        if state.tail.is_some() {
            return None;
        }
        let [a, b, c, d, e, f, g, h, ..] = engine.host().random().to_be_bytes();
        let memory = u64::from_be_bytes([a, b, c, d, e, f, g, h]);
        let tail = state.tail.insert(Tail::new(memory, positions));
        let place = tail.end();
        drop(state);
        self.ring();
        Some(place)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<'e> Seat<'e> {
    /// Somebody waits from now on.
    pub(super) fn take(engine: &'e Engine) -> Self {
        let mut state = engine.shared.feed_hub.state();
        state.waiting += 1;
        drop(state);
        let seat = Self { engine };
        seat.keep_reading();
        seat
    }

    /// Starts the task unless it runs.
    pub(super) fn keep_reading(&self) {
        let engine = self.engine;
        let mut state = engine.shared.feed_hub.state();
        if state.is_running || engine.is_stopping() {
            return;
        }
        state.is_running = true;
        if engine.host().elapsed().saturating_sub(state.left_at) > KEPT_FOR {
            state.tail = None;
        }
        drop(state);
        let running = Running {
            engine: engine.clone(),
            has_ended: false,
        };
        engine.host().spawn(Box::pin(run(running)));
    }
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        let hub = &self.engine.shared.feed_hub;
        let mut state = hub.state();
        state.waiting -= 1;
        if state.waiting == 0 {
            state.left_at = self.engine.host().elapsed();
            drop(state);
            hub.ring();
        }
    }
}

/// The task; however it ends, another one can begin.
struct Running {
    engine: Engine,
    has_ended: bool,
}

impl Running {
    /// Whether somebody waits. If not, this is the end, and nobody who comes now relies on this task.
    fn goes_on(&mut self) -> bool {
        let mut state = self.engine.shared.feed_hub.state();
        let goes_on = state.waiting > 0 && !self.engine.is_stopping();
        state.is_running = goes_on;
        self.has_ended = !goes_on;
        goes_on
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.has_ended {
            self.engine.shared.feed_hub.state().is_running = false;
        }
    }
}

/// Reads while somebody waits.
async fn run(mut running: Running) {
    while running.goes_on() {
        let engine = &running.engine;
        let hub = &engine.shared.feed_hub;
        if let Err(error) = look(engine).await {
            tracing::debug!(%error, "the feeds cannot be followed; everybody who waits looks for itself");
            hub.state().tail = None;
            hub.grew.notify_waiters();
        }
        engine.host().sleep(PAUSE).await;
        let nap = engine.host().sleep(engine.shared.config.liveness_interval);
        select(pin!(hub.bell.notified()), nap).await;
    }
}

/// Reads what is new, until there is no more or it is too much.
async fn look(engine: &Engine) -> ff_backend::Result<()> {
    let hub = &engine.shared.feed_hub;
    loop {
        let Some((memory, positions)) = hub.state().tail.as_ref().map(Tail::stand) else {
            return Ok(());
        };
        let partitions = engine.flow_partitions().into_iter();
        let of = Listing::Feed(
            partitions
                .map(|partition| (partition, positions.start_of(partition)))
                .collect(),
        );
        let page = engine.store().try_list(of, PAGE_MAX).await?;
        let now = page.now;
        let lines = page.feed();
        if lines.is_empty() {
            return Ok(());
        }
        let mut state = hub.state();
        let is_too_much = state.window.is_full_after(lines.len(), engine.host().elapsed());
        // Somebody may have begun anew meanwhile.
        let Some(tail) = state.tail.as_mut().filter(|tail| tail.memory == memory) else {
            return Ok(());
        };
        tail.add(lines);
        if is_too_much {
            tail.move_on(now);
        }
        drop(state);
        hub.grew.notify_waiters();
        if is_too_much {
            return Ok(());
        }
    }
}

impl Window {
    /// Whether it holds more than can be followed, with so many more lines.
    fn is_full_after(&mut self, lines: usize, now: Duration) -> bool {
        if now.saturating_sub(self.began) >= WINDOW {
            *self = Self { began: now, lines: 0 };
        }
        self.lines += lines;
        self.lines > LINES_PER_WINDOW_MAX
    }
}

impl Tail {
    fn new(memory: u64, positions: &Positions) -> Self {
        let positions = positions.at(None);
        Self {
            memory,
            floor: positions.clone(),
            positions,
            first: 0,
            lines: VecDeque::new(),
        }
    }

    fn stand(&self) -> (u64, Positions) {
        (self.memory, self.positions.clone())
    }

    fn end(&self) -> Place {
        Place {
            memory: self.memory,
            next: self.first + self.lines.len() as u64,
        }
    }

    fn after(&self, place: Place) -> Ahead {
        let Some(skip) = place.next.checked_sub(self.first) else {
            let at_first = Place {
                next: self.first,
                ..place
            };
            return Ahead::Left {
                out: self.first - place.next,
                positions: self.floor.at(Some(at_first)),
            };
        };
        let skip = usize::try_from(skip).unwrap_or(usize::MAX);
        Ahead::Lines(self.lines.iter().skip(skip).cloned().collect())
    }

    fn add(&mut self, lines: Vec<FeedLine>) {
        for line in lines {
            self.positions.pass(line.0, line.1);
            self.lines.push_back(Arc::new(line));
        }
        while self.lines.len() > LINES_MAX
            && let Some(line) = self.lines.pop_front()
        {
            self.floor.pass(line.0, line.1);
            self.first += 1;
        }
    }

    /// Leaves out what happened until now and was not read. It has a number, which nobody will be shown: who comes to it knows.
    fn move_on(&mut self, now: Timestamp) {
        self.first = self.end().next + 1;
        self.lines.clear();
        self.positions = Positions::from(now);
        self.floor = self.positions.clone();
    }
}

#[cfg(test)]
mod tests {
    use ff_backend::query::FeedPosition;
    use ff_core::name::Namespace;
    use ff_core::partition::Partition;
    use ff_core::record::{Actor, Happening, HistoryLine, HistorySubject};

    use super::*;

    fn line(number: u64) -> FeedLine {
        let position = FeedPosition {
            major: 1_000 + number,
            minor: 0,
        };
        let line = HistoryLine {
            subject: HistorySubject::Flow(ff_core::id::FlowId::from_uuid(uuid::Uuid::nil())),
            namespace: Namespace::default_namespace(),
            lane: None,
            flow_id: None,
            kind: "job".to_owned(),
            at: Timestamp::from_millis(position.major),
            what: Happening::Created,
            actor: Actor::Engine,
            attempt_index: None,
            lease_epoch: None,
            detail: None,
        };
        (Partition::flow(0), position, line)
    }

    fn tail() -> Tail {
        Tail::new(1, &Positions::since(Timestamp::from_millis(0)))
    }

    fn seen(ahead: &Ahead) -> usize {
        match ahead {
            Ahead::Lines(lines) => lines.len(),
            Ahead::Left { .. } | Ahead::Unknown => panic!("it is remembered"),
        }
    }

    #[test]
    fn only_the_last_lines_are_remembered_and_who_is_further_back_is_told_how_many_it_missed() {
        let mut tail = tail();
        let start = tail.end();
        tail.add((0..7).map(line).collect());
        assert_eq!(seen(&tail.after(start)), 7);
        assert_eq!(seen(&tail.after(tail.end())), 0);
        tail.add((7..LINES_MAX as u64 + 20).map(line).collect());
        let Ahead::Left { out, positions } = tail.after(start) else {
            panic!("it is no longer remembered");
        };
        assert_eq!(out, 20);
        assert!(!positions.lack(&line(19)) && positions.lack(&line(20)));
        assert_eq!(seen(&tail.after(positions.place.unwrap())), LINES_MAX);
    }

    #[test]
    fn who_was_at_the_end_when_lines_were_left_out_is_told() {
        let mut tail = tail();
        tail.add((0..7).map(line).collect());
        let end = tail.end();
        tail.move_on(Timestamp::from_millis(5_000));
        let Ahead::Left { out, positions } = tail.after(end) else {
            panic!("something was left out");
        };
        assert_eq!(out, 1);
        assert_eq!(positions.place, Some(tail.end()));
    }

    #[test]
    fn more_than_five_thousand_lines_a_second_are_too_many() {
        let mut window = Window::default();
        let second = Duration::from_secs;
        assert!(!window.is_full_after(5_000, second(1)));
        assert!(window.is_full_after(1, second(1)));
        assert!(!window.is_full_after(5_000, second(2)));
    }
}
