//! One claim queue: claims that want the same wait together, and are served in rounds.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use ff_core::capability::CapabilitySet;
use ff_core::command::claim::{LaneOrder, Want};
use ff_core::name::{LaneId, Namespace};

use super::batch::Batch;
use super::cycle::End;
use super::waiting_claim::QueuedClaim;
use super::wake_up::WakeUp;

/// Claims served in one round.
pub(super) const CLAIMS_PER_ROUND: usize = 256;
/// Tasks that are wanted in one round where there are enough: whoever gets all it wants need not wait for everybody else.
const WANTED_PER_ROUND: usize = 64;
/// Rounds of a queue at the same time: while the tasks of one are handed over, the store works on the other.
const SERVING_LOOPS_MAX: usize = 3;
/// Tasks that must be wanted for a second round to begin before the first is over; fewer wait and share the next call.
const WANTED_FOR_ANOTHER_LOOP: usize = 32;
/// How long a claim that does not wait believes that there is nothing, when nothing was heard either.
const EMPTY_BELIEVED_FOR: Duration = Duration::from_secs(1);

/// What all claims of a queue want.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ClaimQueueKey {
    pub(super) namespace: Namespace,
    pub(super) lanes: Vec<LaneId>,
    pub(super) lane_order: LaneOrder,
    pub(super) capabilities: CapabilitySet,
}

impl ClaimQueueKey {
    /// The queue for `want`.
    pub(super) fn of(namespace: &Namespace, want: &Want) -> Self {
        Self {
            namespace: namespace.clone(),
            lanes: want.lanes.clone(),
            lane_order: want.lane_order,
            capabilities: want.capabilities.clone(),
        }
    }

    /// The lanes in the order in which this round tries them.
    pub(super) fn lanes_of_round(&self, number: usize) -> Vec<LaneId> {
        let mut lanes = self.lanes.clone();
        if self.lane_order == LaneOrder::RoundRobin && !lanes.is_empty() {
            let first = number % lanes.len();
            lanes.rotate_left(first);
        }
        lanes
    }
}

/// The claims that wait, the loops that serve them, and what their last round found.
#[derive(Default)]
pub(super) struct ClaimQueue {
    pub(super) wake_up: Arc<WakeUp>,
    waiting: VecDeque<QueuedClaim>,
    serving_loops: usize,
    /// How many of them are in the middle of a round.
    in_round: usize,
    rounds: usize,
    /// The last round met nothing that had to be admitted, so the next one may reserve much at once.
    without_admission: bool,
    /// Every claim of the last round got all it wanted.
    had_enough: bool,
    /// The last round found less than was wanted.
    found_empty: Option<FoundEmpty>,
}

struct FoundEmpty {
    /// The wake-ups before that round began.
    wake_ups: u64,
    at: Duration,
}

/// What a serving loop does next.
pub(super) enum Next {
    Serve(Round),
    /// Nothing, until it is woken.
    Wait(Arc<WakeUp>),
    /// It ends: there is nothing it is needed for.
    End,
}

/// Claims that are served together.
pub(super) struct Round {
    pub(super) claims: Vec<QueuedClaim>,
    pub(super) wake_up: Arc<WakeUp>,
    /// The wake-ups before it began.
    pub(super) wake_ups: u64,
    pub(super) number: usize,
    /// The last round met nothing that had to be admitted.
    pub(super) without_admission: bool,
    /// The claims it leaves behind are worth another loop, which is counted already: whoever serves this round starts it.
    pub(super) needs_another_loop: bool,
}

/// A round that is over.
pub(super) struct Served {
    pub(super) batch: Batch,
    /// The wake-ups before it began.
    pub(super) wake_ups: u64,
    pub(super) end: End,
    /// It met nothing that had to be admitted.
    pub(super) without_admission: bool,
}

impl ClaimQueue {
    pub(super) fn join(&mut self, claim: QueuedClaim) {
        self.waiting.push_back(claim);
        self.wake_up.queue_changed();
    }

    /// Whether another loop must serve it. If so it is counted from now on, and the caller starts it.
    pub(super) fn needs_another_loop(&mut self) -> bool {
        let all_in_round = self.in_round == self.serving_loops;
        let needs = self.serving_loops == 0
            || (self.serving_loops < SERVING_LOOPS_MAX && all_in_round && self.wants(WANTED_FOR_ANOTHER_LOOP));
        self.serving_loops += usize::from(needs);
        needs
    }

    /// Whether the waiting claims want so many tasks.
    fn wants(&self, tasks: usize) -> bool {
        let mut wanted = 0;
        self.waiting.iter().any(|claim| {
            wanted += claim.request.max;
            wanted >= tasks
        })
    }

    /// Takes a claim out; `false`: it is not there, because it is being served or was answered.
    pub(super) fn leave(&mut self, id: u64) -> bool {
        let position = self.waiting.iter().position(|claim| claim.id == id);
        position.and_then(|position| self.waiting.remove(position)).is_some()
    }

    /// Whether it holds nothing but what its last round found.
    pub(super) fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.serving_loops == 0
    }

    /// Answers every waiting claim with nothing.
    pub(super) fn answer_all(&mut self) {
        self.waiting.drain(..).for_each(|claim| claim.answer(Ok(Vec::new())));
    }

    /// A loop went down. If it was the last one, the waiting claims are told instead of waiting for ever.
    pub(super) fn loop_failed(&mut self, in_round: bool) {
        self.serving_loops -= 1;
        self.in_round -= usize::from(in_round);
        if self.serving_loops == 0 {
            self.waiting.clear();
        }
    }

    /// What the loop that asks does at `now`.
    pub(super) fn next(&mut self, now: Duration) -> Next {
        self.waiting.retain(|claim| !claim.is_gone());
        if self.is_known_empty(now) {
            self.answer_impatient();
            // One is enough to listen.
            if !self.waiting.is_empty() && self.serving_loops == 1 {
                return Next::Wait(Arc::clone(&self.wake_up));
            }
        }
        if self.waiting.is_empty() || self.is_known_empty(now) {
            self.serving_loops -= 1;
            return Next::End;
        }
        Next::Serve(self.begin_round())
    }

    /// Whether another round would find nothing: the last one did, nothing was heard since, and claims that do not wait
    /// still believe that.
    fn is_known_empty(&self, now: Duration) -> bool {
        let wake_ups = self.wake_up.count();
        let Some(empty) = self.found_empty.as_ref().filter(|empty| empty.wake_ups == wake_ups) else {
            return false;
        };
        now.saturating_sub(empty.at) < EMPTY_BELIEVED_FOR || self.waiting.iter().all(QueuedClaim::is_patient)
    }

    fn answer_impatient(&mut self) {
        let (patient, impatient): (VecDeque<_>, VecDeque<_>) =
            self.waiting.drain(..).partition(QueuedClaim::is_patient);
        self.waiting = patient;
        impatient.into_iter().for_each(|claim| claim.answer(Ok(Vec::new())));
    }

    fn begin_round(&mut self) -> Round {
        let number = self.rounds;
        self.rounds = self.rounds.wrapping_add(1);
        self.in_round += 1;
        let claims = self.waiting.drain(..self.round_size()).collect();
        Round {
            claims,
            wake_up: Arc::clone(&self.wake_up),
            wake_ups: self.wake_up.count(),
            number,
            without_admission: self.without_admission,
            needs_another_loop: self.needs_another_loop(),
        }
    }

    /// How many are served together. When there may be little, it must be shared among all.
    fn round_size(&self) -> usize {
        if !self.had_enough {
            return self.waiting.len().min(CLAIMS_PER_ROUND);
        }
        let mut wanted = 0;
        let served = self.waiting.iter().take_while(|claim| {
            let more = wanted < WANTED_PER_ROUND;
            wanted += claim.request.max;
            more
        });
        served.count()
    }

    /// Answers claims that got something or do not wait; the others wait again, where they waited before.
    pub(super) fn finish_round(&mut self, served: Served, now: Duration) {
        let Served {
            batch,
            wake_ups,
            end,
            without_admission,
        } = served;
        self.in_round -= 1;
        self.without_admission = without_admission;
        self.had_enough = matches!(end, End::Enough);
        self.found_empty = matches!(end, End::Empty).then_some(FoundEmpty { wake_ups, at: now });
        for (claim, tasks) in batch.into_claims().rev() {
            match &end {
                _ if !tasks.is_empty() => claim.answer(Ok(tasks)),
                End::Fault(fault) => claim.answer(Err(fault.clone())),
                // Another claim's inputs were large, or the store answered in part; that is no reason to get nothing.
                End::Cut => self.waiting.push_front(claim),
                _ if claim.is_patient() => self.waiting.push_front(claim),
                End::Empty | End::Enough | End::Refused => claim.answer(Ok(Vec::new())),
            }
        }
    }
}
