//! What can go wrong, and how often.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::luck::Luck;

/// A kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fault {
    /// The store answers that it is unavailable; nothing was done.
    ErrorBefore,
    /// The call never reached the store, and nobody knows.
    RequestLost,
    /// The call was done, and nobody knows.
    ReplyLost,
    /// Of a batch, some were done and some not, and nobody knows which.
    BatchTorn,
    /// Somebody else writes a record just before a transaction that was computed from it.
    Conflict,
    /// A call takes a moment.
    Delay,
    /// A call takes longer than leases last.
    Stall,
    /// The calling process dies before its call is done.
    CrashBefore,
    /// The calling process dies when its call was done.
    CrashAfter,
    /// A wake-up does not arrive.
    HintLost,
    /// The store's clock jumps forward.
    ClockJump,
    /// A replica dies in the middle of whatever it does.
    ReplicaCrash,
    /// A worker dies with its tasks.
    WorkerCrash,
    /// A worker does nothing for longer than its leases last, and then goes on as if nothing had happened.
    WorkerStall,
    /// The answer of a replica does not reach its caller.
    AnswerLost,
    /// The store forgets its last writes.
    Failover,
    /// Of what was to be handed out, only a part is.
    ClaimCut,
}

impl Fault {
    /// Every kind.
    pub const ALL: [Fault; 17] = [
        Fault::ErrorBefore,
        Fault::RequestLost,
        Fault::ReplyLost,
        Fault::BatchTorn,
        Fault::Conflict,
        Fault::Delay,
        Fault::Stall,
        Fault::CrashBefore,
        Fault::CrashAfter,
        Fault::HintLost,
        Fault::ClockJump,
        Fault::ReplicaCrash,
        Fault::WorkerCrash,
        Fault::WorkerStall,
        Fault::AnswerLost,
        Fault::Failover,
        Fault::ClaimCut,
    ];
}

/// What strikes calls to the store while the weather is bad, in 10,000 calls.
const STRIKES: [(u64, Fault); 8] = [
    (100, Fault::ErrorBefore),
    (50, Fault::RequestLost),
    (100, Fault::ReplyLost),
    (60, Fault::BatchTorn),
    (400, Fault::Delay),
    (12, Fault::Stall),
    (10, Fault::CrashBefore),
    (10, Fault::CrashAfter),
];
/// Commits in 10,000 that somebody gets ahead of.
const CONFLICTS: u64 = 300;
/// Commits in 10,000 with which a quarrel begins: somebody gets ahead of this record again and again.
const QUARRELS: u64 = 4;
/// How often somebody gets ahead in a quarrel: more often than anybody tries.
pub(super) const QUARREL_LENGTH: u32 = 60;
/// Hints in 10,000 that do not arrive.
const HINTS_LOST: u64 = 1_000;
/// Answers in 10,000 that do not reach their caller.
const ANSWERS_LOST: u64 = 150;

/// Reservations in 10,000 that are answered in part. No fault: a store whose partitions are asked one by one may do so at any
/// time, and does so in any weather.
const CLAIMS_CUT: u64 = 2_500;

/// Whether anything goes wrong at all. Bad until it is told to clear up.
#[derive(Debug, Default)]
pub struct Weather {
    calm: AtomicBool,
}

impl Weather {
    /// Nothing goes wrong from now on.
    pub fn clear_up(&self) {
        self.calm.store(true, Ordering::Relaxed);
    }

    /// Whether things go wrong.
    pub fn is_bad(&self) -> bool {
        !self.calm.load(Ordering::Relaxed)
    }

    /// What strikes the next call to the store.
    pub(super) fn strike(&self, luck: &Luck) -> Option<Fault> {
        let mut ticket = luck.below(10_000);
        for (times, fault) in STRIKES {
            match ticket.checked_sub(times) {
                None => return Some(fault).filter(|_| self.is_bad()),
                Some(rest) => ticket = rest,
            }
        }
        None
    }

    /// Whether somebody gets ahead of the next commit.
    pub(super) fn conflicts(&self, luck: &Luck) -> bool {
        luck.per_myriad(CONFLICTS) && self.is_bad()
    }

    /// Whether a quarrel begins with the next commit.
    pub(super) fn quarrels(&self, luck: &Luck) -> bool {
        luck.per_myriad(QUARRELS) && self.is_bad()
    }

    /// Whether the next reservation is answered in part.
    pub(super) fn cuts_claim(&self, luck: &Luck) -> bool {
        luck.per_myriad(CLAIMS_CUT)
    }

    /// Whether the next hint is lost.
    pub(super) fn loses_hint(&self, luck: &Luck) -> bool {
        luck.per_myriad(HINTS_LOST) && self.is_bad()
    }

    /// Whether the next answer of a replica is lost.
    pub fn loses_answer(&self, luck: &Luck) -> bool {
        luck.per_myriad(ANSWERS_LOST) && self.is_bad()
    }
}
