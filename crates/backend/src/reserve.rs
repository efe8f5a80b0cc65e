//! Handing out: the one place where workers compete.

use ff_core::capability::{CapabilitySet, Signature};
use ff_core::machine::claim::{Claimant, HandOut, HandedOut};
use ff_core::name::{LaneId, Namespace};
use ff_core::payload::Payload;
use ff_core::record::{Cause, Execution, Gate};
use ff_core::time::Timestamp;

use crate::transaction::{Tag, Version};

/// Asks for eligible executions for one worker.
#[derive(Clone, Debug)]
pub struct Reserve {
    /// The tenant.
    pub namespace: Namespace,
    /// Lanes in the order they are tried; the next one only when the one before has nothing left.
    pub lanes: Vec<LaneId>,
    /// What the worker offers.
    pub capabilities: CapabilitySet,
    /// Budgets and quotas known to be closed: queues that need one of them are skipped.
    pub closed: Vec<Cause>,
    /// What to make of a candidate.
    pub mode: HandOut,
    /// One per execution wanted, each with fresh ids; used in order.
    pub claimants: Vec<Claimant>,
    /// The tag of the versions this call writes.
    pub tag: Tag,
}

impl Reserve {
    /// Whether the worker may be handed work of this signature, as far as is known before admission.
    pub fn can_run(&self, signature: &Signature) -> bool {
        let is_needed = |cause: &Cause| match cause {
            Cause::Budget(id) => signature.budgets.contains(id),
            Cause::Quota(id) => signature.quota == Some(*id),
        };
        self.capabilities.covers(&signature.capabilities) && !self.closed.iter().any(is_needed)
    }
}

/// What was handed out.
#[derive(Clone, Debug)]
pub struct Reservation {
    /// The store's time.
    pub now: Timestamp,
    /// In the order they were taken.
    pub tasks: Vec<Task>,
    /// They are fewer than there may be: no more bytes may be handed out, or part of the store did not answer. Otherwise fewer
    /// than were wanted says that nothing is left.
    pub cut: bool,
}

/// One execution handed out.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// As it stands now.
    pub execution: Execution,
    /// Its version now.
    pub version: Version,
    /// When it was last written before: it has stood in its queue at least since then.
    pub queued_since: Timestamp,
    /// Leased or granted.
    pub handed_out: HandedOut,
    /// Which of the claimants got it.
    pub claimant: Claimant,
    /// What it works on.
    pub input: Payload,
    /// The gate of its flow, to guard on.
    pub gate: Option<(Gate, Version)>,
}
