//! One desk: everybody who wants the same stands in one line, and is served in rounds.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use ff_core::capability::CapabilitySet;
use ff_core::command::claim::{LaneOrder, Want};
use ff_core::name::{LaneId, Namespace};

use super::ask::Ask;
use super::bell::Bell;
use super::cycle::End;
use super::table::Table;

/// Claims served in one round.
pub(super) const ASKS_PER_ROUND: usize = 256;
/// Tasks that are wanted in one round where there is plenty: whoever gets all it wants need not wait for everybody else.
const WANTED_PER_ROUND: usize = 64;
/// Rounds of a desk at the same time: while the tasks of one are handed over, the store works on the other.
const ATTENDANTS_MAX: usize = 3;
/// Tasks that must be wanted for a second round to begin before the first is over; fewer wait and share the next call.
const OVERLAP_FROM: usize = 32;
/// How long a claim that does not wait believes that there is nothing, when nothing was heard either.
const DRY_BELIEVED_FOR: Duration = Duration::from_secs(1);

/// What everybody at a desk wants.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct DeskKey {
    pub(super) namespace: Namespace,
    pub(super) lanes: Vec<LaneId>,
    pub(super) lane_order: LaneOrder,
    pub(super) capabilities: CapabilitySet,
}

impl DeskKey {
    /// The desk for `want`.
    pub(super) fn of(namespace: &Namespace, want: &Want) -> Self {
        Self {
            namespace: namespace.clone(),
            lanes: want.lanes.clone(),
            lane_order: want.lane_order,
            capabilities: want.capabilities.clone(),
        }
    }

    /// The lanes in the order round number `turn` tries them.
    pub(super) fn lanes_of_turn(&self, turn: usize) -> Vec<LaneId> {
        let mut lanes = self.lanes.clone();
        if self.lane_order == LaneOrder::RoundRobin && !lanes.is_empty() {
            let first = turn % lanes.len();
            lanes.rotate_left(first);
        }
        lanes
    }
}

/// One desk.
#[derive(Default)]
pub(super) struct Desk {
    pub(super) bell: Arc<Bell>,
    line: VecDeque<Ask>,
    /// How many serve it.
    attendants: usize,
    /// How many of them are in the middle of a round.
    busy: usize,
    rounds: usize,
    /// The last round met nothing that had to be admitted, so the next one may ask for much at once.
    free: bool,
    /// Everybody in the last round got enough.
    plenty: bool,
    dry: Option<Dry>,
}

/// The last round left wishes open.
struct Dry {
    /// How often the bell had rung when that round began.
    rung: u64,
    at: Duration,
}

/// What whoever serves a desk does next.
pub(super) enum Next {
    /// Serves these.
    Round(Round),
    /// Waits for the bell.
    Park(Arc<Bell>),
    /// Goes: nobody is there.
    Leave,
}

/// Claims that are served together.
pub(super) struct Round {
    pub(super) asks: Vec<Ask>,
    pub(super) bell: Arc<Bell>,
    /// How often the bell had rung when it began.
    pub(super) rung: u64,
    pub(super) turn: usize,
    /// The last round met nothing that had to be admitted.
    pub(super) free: bool,
    /// Those it leaves behind are enough for somebody more who serves the desk: whoever serves this round sees to that.
    pub(super) understaffed: bool,
}

/// A round that is over.
pub(super) struct Served {
    pub(super) table: Table,
    /// How often the bell had rung when it began.
    pub(super) rung: u64,
    pub(super) end: End,
    /// It met nothing that had to be admitted.
    pub(super) free: bool,
}

impl Desk {
    /// Puts a claim at the end of the line.
    pub(super) fn join(&mut self, ask: Ask) {
        self.line.push_back(ask);
        self.bell.call();
    }

    /// Whether somebody more must serve it; who is counted from now on.
    pub(super) fn calls_attendant(&mut self) -> bool {
        let calls = self.attendants == 0
            || (self.attendants < ATTENDANTS_MAX && self.busy == self.attendants && self.wants(OVERLAP_FROM));
        self.attendants += usize::from(calls);
        calls
    }

    /// Whether those in line want so many tasks.
    fn wants(&self, tasks: usize) -> bool {
        let mut wanted = 0;
        self.line.iter().any(|ask| {
            wanted += ask.asker.max;
            wanted >= tasks
        })
    }

    /// Takes a claim out of the line; `false`: it is not there, because it is being served or was answered.
    pub(super) fn leave(&mut self, id: u64) -> bool {
        let position = self.line.iter().position(|ask| ask.id == id);
        position.and_then(|position| self.line.remove(position)).is_some()
    }

    /// Whether it holds nothing but what its last round taught it.
    pub(super) fn is_idle(&self) -> bool {
        self.line.is_empty() && self.attendants == 0
    }

    /// Sends everybody in the line away with nothing.
    pub(super) fn dismiss(&mut self) {
        self.line.drain(..).for_each(|ask| ask.answer(Ok(Vec::new())));
    }

    /// Somebody who served it is gone for no good reason. If it was the last one, its line is told instead of waiting for ever.
    pub(super) fn abandon(&mut self, in_round: bool) {
        self.attendants -= 1;
        self.busy -= usize::from(in_round);
        if self.attendants == 0 {
            self.line.clear();
        }
    }

    /// What to do at `now`.
    pub(super) fn next(&mut self, now: Duration) -> Next {
        self.line.retain(|ask| !ask.is_gone());
        if self.may_rest(now) {
            self.dismiss_impatient();
            // One is enough to listen.
            if !self.line.is_empty() && self.attendants == 1 {
                return Next::Park(Arc::clone(&self.bell));
            }
        }
        if self.line.is_empty() || self.may_rest(now) {
            self.attendants -= 1;
            return Next::Leave;
        }
        Next::Round(self.begin_round())
    }

    /// Whether another round would find nothing: it is known to be dry, and whoever does not wait believes that.
    fn may_rest(&self, now: Duration) -> bool {
        let rung = self.bell.rung();
        let Some(dry) = self.dry.as_ref().filter(|dry| dry.rung == rung) else {
            return false;
        };
        now.saturating_sub(dry.at) < DRY_BELIEVED_FOR || self.line.iter().all(Ask::is_patient)
    }

    fn dismiss_impatient(&mut self) {
        let (patient, impatient): (VecDeque<Ask>, VecDeque<Ask>) = self.line.drain(..).partition(Ask::is_patient);
        self.line = patient;
        impatient.into_iter().for_each(|ask| ask.answer(Ok(Vec::new())));
    }

    fn begin_round(&mut self) -> Round {
        let turn = self.rounds;
        self.rounds = self.rounds.wrapping_add(1);
        self.busy += 1;
        let asks = self.line.drain(..self.round_size()).collect();
        Round {
            asks,
            bell: Arc::clone(&self.bell),
            rung: self.bell.rung(),
            turn,
            free: self.free,
            understaffed: self.calls_attendant(),
        }
    }

    /// How many are served together. When there may be little, it must be shared among all.
    fn round_size(&self) -> usize {
        if !self.plenty {
            return self.line.len().min(ASKS_PER_ROUND);
        }
        let mut wanted = 0;
        let served = self.line.iter().take_while(|ask| {
            let more = wanted < WANTED_PER_ROUND;
            wanted += ask.asker.max;
            more
        });
        served.count()
    }

    /// Answers whoever got something or does not wait; the others stand in line again, where they stood.
    pub(super) fn finish_round(&mut self, served: Served, now: Duration) {
        let Served { table, rung, end, free } = served;
        self.busy -= 1;
        self.free = free;
        self.plenty = matches!(end, End::Enough);
        self.dry = matches!(end, End::Dry).then_some(Dry { rung, at: now });
        for (ask, tasks) in table.into_served().rev() {
            match &end {
                _ if !tasks.is_empty() => ask.answer(Ok(tasks)),
                End::Fault(fault) => ask.answer(Err(fault.clone())),
                // Somebody else's inputs were large, or the store answered in part; that is no reason to get nothing.
                End::Cut => self.line.push_front(ask),
                _ if ask.is_patient() => self.line.push_front(ask),
                End::Dry | End::Enough | End::Refused => ask.answer(Ok(Vec::new())),
            }
        }
    }
}
