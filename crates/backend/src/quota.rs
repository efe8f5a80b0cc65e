//! Quota policies as a store keeps them. Each call is one atomic step and does what the function of
//! [`ff_core::machine::quota`] it names does.

use ff_core::command::budget::{Deleted, Updated};
use ff_core::command::quota::{CreateQuotaPolicy, QuotaCreated, QuotaPolicyView, UpdateQuotaPolicy};
use ff_core::error::Rejection;
use ff_core::id::{GrantId, QuotaPolicyId};
use ff_core::machine::admission::{Headroom, Release};
use ff_core::machine::quota::{Admit, QuotaAdmission, SlotReleased};
use ff_core::name::Namespace;
use ff_core::partition::Partition;
use ff_core::record::Slot;
use ff_core::time::Timestamp;

/// One call about one quota policy, or about those of a namespace.
#[derive(Clone, Debug, PartialEq)]
pub enum QuotaCall {
    /// [`create`](ff_core::machine::quota::create).
    Create {
        /// Its id.
        quota_policy_id: QuotaPolicyId,
        /// What it is.
        command: CreateQuotaPolicy,
    },
    /// [`view`](ff_core::machine::quota::view), also of a deleted one.
    Get(QuotaPolicyId),
    /// [`update`](ff_core::machine::quota::update).
    Update {
        /// Which policy.
        quota_policy_id: QuotaPolicyId,
        /// What changes.
        command: UpdateQuotaPolicy,
    },
    /// [`delete`](ff_core::machine::quota::delete).
    Delete(QuotaPolicyId),
    /// Policies of a namespace that were not deleted, by id.
    List {
        /// The tenant.
        namespace: Namespace,
        /// Only those after this one.
        after: Option<QuotaPolicyId>,
        /// At most this many, at least 1.
        limit: usize,
    },
    /// [`admit`](ff_core::machine::quota::admit).
    Admit {
        /// Which policy.
        quota_policy_id: QuotaPolicyId,
        /// Who asks.
        ask: Admit,
    },
    /// [`release`](ff_core::machine::quota::release).
    Release {
        /// Which policy.
        quota_policy_id: QuotaPolicyId,
        /// The grant the slot was taken under.
        grant_id: GrantId,
    },
    /// [`slots_to_check`](ff_core::machine::quota::slots_to_check).
    SlotsToCheck {
        /// Which policy.
        quota_policy_id: QuotaPolicyId,
        /// Only those after this one.
        after: Option<GrantId>,
        /// At most this many, at least 1.
        limit: usize,
    },
    /// [`headroom`](ff_core::machine::quota::headroom).
    Headroom(QuotaPolicyId),
    /// [`advance`](ff_core::machine::quota::advance).
    Advance(QuotaPolicyId),
    /// [`mark_blocked`](ff_core::machine::quota::mark_blocked).
    MarkBlocked {
        /// Which policy.
        quota_policy_id: QuotaPolicyId,
        /// The flow partition that will hold blocked work.
        partition: Partition,
        /// That work continues an attempt.
        continues: bool,
    },
    /// [`forget_blocked`](ff_core::machine::quota::forget_blocked).
    ForgetBlocked {
        /// Which policy.
        quota_policy_id: QuotaPolicyId,
        /// The flow partition that holds none any more.
        partition: Partition,
        /// The generation the release began with.
        round: u64,
    },
    /// [`forget_continuing`](ff_core::machine::quota::forget_continuing).
    ForgetContinuing {
        /// Which policy.
        quota_policy_id: QuotaPolicyId,
        /// The flow partition that holds no work that continues an attempt any more.
        partition: Partition,
        /// The generation the release began with.
        round: u64,
    },
}

/// The answer to one call.
#[derive(Clone, Debug, PartialEq)]
pub struct QuotaReply {
    /// The time of the policy's partition.
    pub now: Timestamp,
    /// What the call came to. A policy that was never created is refused with `quota_policy_not_found`.
    pub answer: Result<QuotaAnswer, Rejection>,
}

/// What a call that was not refused came to; which kind follows from the call.
#[derive(Clone, Debug, PartialEq)]
pub enum QuotaAnswer {
    /// Of a creation.
    Created(QuotaCreated),
    /// Of a reading.
    Policy(Box<QuotaPolicyView>),
    /// Of a change.
    Updated(Updated),
    /// Of a deletion.
    Deleted(Deleted),
    /// Of a list.
    Page {
        /// The policies.
        policies: Vec<QuotaPolicyView>,
        /// Where to go on; `None`: that was all.
        next: Option<QuotaPolicyId>,
    },
    /// Of an admission.
    Admission(QuotaAdmission),
    /// Of a release.
    Released(SlotReleased),
    /// Of a slot check.
    Slots(Vec<(GrantId, Slot)>),
    /// Of a question for room.
    Headroom(Headroom),
    /// Of an advance: what to release, if anything.
    Work(Option<Release>),
    /// Of a call that answers nothing else.
    Done,
}
