//! Budgets as a store keeps them. Each call is one atomic step and does what the function of
//! [`ff_core::machine::budget`] it names does.

use ff_core::command::budget::{
    BudgetCreated, BudgetReset, BudgetView, CreateBudget, Deleted, Reported, ResetBudget, UpdateLimits, Updated,
};
use ff_core::error::Rejection;
use ff_core::id::BudgetId;
use ff_core::machine::budget::{BudgetWork, UsageReport};
use ff_core::name::Namespace;
use ff_core::partition::Partition;
use ff_core::time::Timestamp;

/// One call about one budget, or about those of a namespace.
#[derive(Clone, Debug, PartialEq)]
pub enum BudgetCall {
    /// [`create`](ff_core::machine::budget::create).
    Create {
        /// Its id.
        budget_id: BudgetId,
        /// What it is.
        command: CreateBudget,
    },
    /// [`view`](ff_core::machine::budget::view), also of a deleted one.
    Get(BudgetId),
    /// [`update_limits`](ff_core::machine::budget::update_limits).
    Update {
        /// Which budget.
        budget_id: BudgetId,
        /// The new limits.
        command: UpdateLimits,
    },
    /// [`report_usage`](ff_core::machine::budget::report_usage); what it says to remember is remembered in the same step.
    Report {
        /// Which budget.
        budget_id: BudgetId,
        /// What was spent.
        report: UsageReport,
    },
    /// [`reset`](ff_core::machine::budget::reset).
    Reset {
        /// Which budget.
        budget_id: BudgetId,
        /// The request.
        command: ResetBudget,
    },
    /// [`delete`](ff_core::machine::budget::delete).
    Delete(BudgetId),
    /// Budgets of a namespace that were not deleted, by id.
    List {
        /// The tenant.
        namespace: Namespace,
        /// Only those after this one.
        after: Option<BudgetId>,
        /// At most this many, at least 1.
        limit: usize,
    },
    /// [`advance`](ff_core::machine::budget::advance).
    Advance(BudgetId),
    /// [`stopped`](ff_core::machine::budget::stopped).
    Stopped {
        /// Which budget.
        budget_id: BudgetId,
        /// When the sweep began, by the clock of the budget's partition.
        began_at: Timestamp,
    },
    /// [`withdrawn`](ff_core::machine::budget::withdrawn).
    Withdrawn {
        /// Which budget.
        budget_id: BudgetId,
        /// The last order that was withdrawn.
        generation: u64,
    },
    /// [`mark_blocked`](ff_core::machine::budget::mark_blocked).
    MarkBlocked {
        /// Which budget.
        budget_id: BudgetId,
        /// The flow partition that will hold blocked work.
        partition: Partition,
    },
    /// [`forget_blocked`](ff_core::machine::budget::forget_blocked).
    ForgetBlocked {
        /// Which budget.
        budget_id: BudgetId,
        /// The flow partition that holds none any more.
        partition: Partition,
        /// The generation the release began with.
        round: u64,
    },
}

/// The answer to one call.
#[derive(Clone, Debug, PartialEq)]
pub struct BudgetReply {
    /// The time of the budget's partition.
    pub now: Timestamp,
    /// What the call came to. A budget that was never created is refused with `budget_not_found`.
    pub answer: Result<BudgetAnswer, Rejection>,
}

/// What a call that was not refused came to; which kind follows from the call.
#[derive(Clone, Debug, PartialEq)]
pub enum BudgetAnswer {
    /// Of a creation.
    Created(BudgetCreated),
    /// Of a reading.
    Budget(Box<BudgetView>),
    /// Of a change.
    Updated(Updated),
    /// Of a usage report.
    Reported(Reported),
    /// Of a reset.
    Reset(BudgetReset),
    /// Of a deletion.
    Deleted(Deleted),
    /// Of a list.
    Page {
        /// The budgets.
        budgets: Vec<BudgetView>,
        /// Where to go on; `None`: that was all.
        next: Option<BudgetId>,
    },
    /// Of an advance.
    Work(BudgetWork),
    /// Of a call that answers nothing else.
    Done,
}
