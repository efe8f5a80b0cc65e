//! One claim cycle: reserve, admission, lease, until there is enough, nothing comes, or too much was refused.

use std::collections::BTreeSet;

use ff_backend::reserve::{Reservation, Reserve, Task as Reserved};
use ff_core::capability::CapabilitySet;
use ff_core::error::Rejection;
use ff_core::fabric::Result;
use ff_core::id::GrantId;
use ff_core::machine::claim::{self, Claimant, HandOut, HandedOut};
use ff_core::name::{LaneId, Namespace};
use ff_core::payload::Payload;
use ff_core::record::{Cause, Execution};
use ff_core::time::Timestamp;
use futures::future::{join, join_all};

use super::admission::{Admission, Judged, Refused};
use super::block::block_refused;
use super::candidate::{Candidate, Settled};
use crate::engine::Engine;
use crate::lease_cache::VersionedExecution;
use crate::mint;

/// Executions one cycle takes out of their queues without handing them out.
const REFUSALS_MAX: usize = 64;
/// Executions one reservation asks for at most, where none of them has to be admitted.
const RESERVED_MAX: usize = 256;

/// What a cycle looks for.
pub(super) struct Sought {
    pub(super) namespace: Namespace,
    /// Lanes that hand out, in the order they are tried.
    pub(super) lanes: Vec<LaneId>,
    pub(super) capabilities: CapabilitySet,
    pub(super) mode: HandOut,
}

/// Reservations go on until `end` says why there is no use in another one.
pub(super) struct Cycle<'e> {
    engine: &'e Engine,
    sought: Sought,
    admission: Admission<'e>,
    /// Reserved and not handed out, for whatever reason.
    refused: usize,
    /// The last reservation met nothing that had to be admitted.
    without_admission: bool,
    /// Budgets and quotas whose work was left aside.
    left_aside: BTreeSet<Cause>,
    end: Option<End>,
}

/// Why a cycle ended.
pub(super) enum End {
    /// Every claim has enough.
    Enough,
    /// Nothing is left that may be handed out.
    Empty,
    /// Inputs are large, or part of the store did not answer: there may be more, for another cycle.
    Cut,
    /// Too much was refused: there may be more, for another cycle.
    Refused,
    /// The store failed.
    Fault(Rejection),
}

pub(super) struct Ended {
    pub(super) end: End,
    /// Budgets and quotas whose work was left aside.
    pub(super) left_aside: BTreeSet<Cause>,
    /// Its last reservation met nothing that had to be admitted.
    pub(super) without_admission: bool,
}

impl Ended {
    /// A cycle that could not even begin.
    pub(super) fn by_fault(fault: Rejection) -> Self {
        Self {
            end: End::Fault(fault),
            left_aside: BTreeSet::new(),
            without_admission: false,
        }
    }
}

/// An execution that is its claimant's now.
pub(super) struct Handed {
    pub(super) execution: Execution,
    pub(super) input: Payload,
    pub(super) grant_id: GrantId,
    pub(super) now: Timestamp,
}

/// A reserved execution that has to be admitted.
struct Applicant {
    candidate: Candidate,
    claimant: Claimant,
    input: Payload,
    queued_since: Timestamp,
}

impl<'e> Cycle<'e> {
    /// A new cycle; `without_admission` says that the one before met nothing that had to be admitted.
    pub(super) fn new(engine: &'e Engine, sought: Sought, without_admission: bool) -> Self {
        let nowhere = sought.lanes.is_empty();
        Self {
            engine,
            sought,
            admission: Admission::new(engine),
            refused: 0,
            without_admission,
            left_aside: BTreeSet::new(),
            end: nowhere.then_some(End::Empty),
        }
    }

    /// Whether another reservation makes sense.
    pub(super) fn goes_on(&self) -> bool {
        self.end.is_none()
    }

    /// How many executions the next reservation may ask for. What has to be admitted may all be refused, so there are few of
    /// them until it is known that none has to be.
    pub(super) fn reserve_max(&self) -> usize {
        if self.without_admission {
            RESERVED_MAX
        } else {
            REFUSALS_MAX.saturating_sub(self.refused)
        }
    }

    /// Why it ended, and what was left aside.
    pub(super) fn finish(self) -> Ended {
        Ended {
            end: self.end.unwrap_or(End::Enough),
            left_aside: self.left_aside,
            without_admission: self.without_admission,
        }
    }

    /// Reserves for `claimants` and answers what they got.
    pub(super) async fn next(&mut self, claimants: Vec<Claimant>) -> Vec<Handed> {
        let wanted = claimants.len();
        let reserved = match self.reserve(claimants).await {
            Ok(reserved) => reserved,
            Err(fault) => {
                self.end = Some(End::Fault(fault));
                return Vec::new();
            }
        };
        let end = end_after(&reserved, wanted);
        let now = reserved.now;
        let (settled, open): (Vec<_>, Vec<_>) = reserved.tasks.into_iter().partition(is_settled);
        self.without_admission = open.is_empty();
        let mut handed: Vec<Handed> = settled.into_iter().map(|task| self.hand_over(task, now)).collect();
        let applicants = open.into_iter().map(|task| applicant(task, now)).collect();
        handed.extend(self.admit(applicants).await);
        self.end = self.end.take().or(end);
        if self.refused >= REFUSALS_MAX {
            self.end = self.end.take().or(Some(End::Refused));
        }
        handed
    }

    async fn reserve(&mut self, claimants: Vec<Claimant>) -> Result<Reservation> {
        let closed = self
            .engine
            .shared
            .causes
            .closed(&self.sought.namespace, self.engine.host().elapsed());
        self.left_aside.extend(&closed);
        let reserve = Reserve {
            namespace: self.sought.namespace.clone(),
            lanes: self.sought.lanes.clone(),
            capabilities: self.sought.capabilities.clone(),
            closed,
            mode: self.sought.mode,
            claimants,
            tag: mint::tag(self.engine.host()),
        };
        self.engine.store().reserve(reserve).await
    }

    fn hand_over(&self, task: Reserved, now: Timestamp) -> Handed {
        let held = VersionedExecution {
            execution: task.execution,
            version: task.version,
            gate: task.gate,
        };
        count(self.engine, &held.execution, (task.queued_since, now));
        let execution = held.execution.clone();
        self.engine.shared.leases.keep(held);
        Handed {
            execution,
            input: task.input,
            grant_id: task.claimant.grant_id,
            now,
        }
    }

    /// Admits who may be, and blocks who may not.
    async fn admit(&mut self, applicants: Vec<Applicant>) -> Vec<Handed> {
        if applicants.is_empty() {
            return Vec::new();
        }
        let count = applicants.len();
        let candidates: Vec<&Candidate> = applicants.iter().map(|applicant| &applicant.candidate).collect();
        let judged = self.admission.judge(&candidates).await;
        let mut passed = Vec::new();
        let mut refused = Vec::new();
        for (applicant, judged) in applicants.into_iter().zip(judged) {
            match judged {
                Judged::Passed => passed.push(applicant),
                Judged::Refused(refusal) => refused.push((applicant.candidate, refusal)),
                Judged::Dropped => {}
                Judged::Unread(fault) => self.end = Some(End::Fault(fault)),
            }
        }
        self.cap(&mut refused);
        self.left_aside
            .extend(refused.iter().map(|(_, refused)| refused.refusal.cause));
        let engine = self.engine;
        let mode = self.sought.mode;
        let taken = join_all(passed.into_iter().map(|applicant| take(engine, mode, applicant)));
        let (taken, blocked) = join(taken, block_refused(engine, &refused)).await;
        self.admission.forget(&blocked.moved);
        self.end = self.end.take().or(blocked.fault.map(End::Fault));
        let mut handed = Vec::new();
        for taken in taken {
            match taken {
                Ok(taken) => handed.extend(taken),
                Err(fault) => self.end = Some(End::Fault(fault)),
            }
        }
        self.refused += count - handed.len();
        handed
    }

    /// What exceeds the limit of one cycle is left to lapse: it goes back to its queue, which nobody asks for by then.
    fn cap(&self, refused: &mut Vec<(Candidate, Refused)>) {
        refused.truncate(REFUSALS_MAX.saturating_sub(self.refused));
    }
}

/// Less than was wanted says that nothing is left, unless it was cut.
const fn end_after(reserved: &Reservation, wanted: usize) -> Option<End> {
    match reserved {
        Reservation { tasks, .. } if tasks.len() >= wanted => None,
        Reservation { cut: true, .. } => Some(End::Cut),
        Reservation { cut: false, .. } => Some(End::Empty),
    }
}

/// Whether a reserved execution is its claimant's as it is.
fn is_settled(task: &Reserved) -> bool {
    task.handed_out == HandedOut::Leased || task.execution.grant().is_some_and(|grant| grant.admitted)
}

fn applicant(task: Reserved, now: Timestamp) -> Applicant {
    Applicant {
        candidate: Candidate {
            held: VersionedExecution {
                execution: task.execution,
                version: task.version,
                gate: task.gate,
            },
            grant_id: task.claimant.grant_id,
            now,
        },
        claimant: task.claimant,
        input: task.input,
        queued_since: task.queued_since,
    }
}

/// Counts what was handed out, and since when it stood ready.
fn count(engine: &Engine, handed: &Execution, (since, now): (Timestamp, Timestamp)) {
    let waited = now.since(since);
    engine.shared.minutes.handed_out(handed, waited, now);
    engine.shared.metrics.handed_out(&handed.definition.namespace, waited);
}

/// Commits the lease or the grant of an applicant that admission passed; `None` when its reservation is over.
async fn take(engine: &Engine, mode: HandOut, applicant: Applicant) -> Result<Option<Handed>> {
    let Applicant {
        candidate,
        claimant,
        input,
        queued_since,
    } = applicant;
    let settled = candidate
        .settle(engine, |execution, context| match mode {
            HandOut::Lease => claim::lease(execution, &claimant, context),
            HandOut::Grant => claim::admit(execution, claimant.grant_id, context),
        })
        .await?;
    match settled {
        Settled::Done(execution) => {
            count(engine, &execution, (queued_since, candidate.now));
            Ok(Some(Handed {
                execution: *execution,
                input,
                grant_id: candidate.grant_id,
                now: candidate.now,
            }))
        }
        // The record gives the slot back itself, or its lease holds it.
        Settled::FlowCancelled | Settled::Redeemed => Ok(None),
        Settled::Over => {
            candidate.give_slot_back(engine).await;
            Ok(None)
        }
    }
}
