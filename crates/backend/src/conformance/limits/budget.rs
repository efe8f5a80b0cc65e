//! What is asked about budgets, as data: so that calls can be drawn at random, and answered by the rules alone.

use ff_core::command::budget::{
    BudgetCreated, BudgetReset, BudgetView, CreateBudget, Deleted, Reported, ResetBudget, UpdateLimits, Updated,
};
use ff_core::error::Rejection;
use ff_core::id::BudgetId;
use ff_core::ledger::AccountKey;
use ff_core::machine::budget::{self, BudgetWork, UsageReport};
use ff_core::partition::Partition;
use ff_core::time::Timestamp;

use super::process::{Moments, Process};
use super::ruled;
use crate::limits::{self, Direct, Failed, budgets};

/// One call about one budget, or about those of a namespace.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum BudgetCall {
    Create {
        budget_id: BudgetId,
        command: CreateBudget,
    },
    Get(BudgetId),
    Update {
        budget_id: BudgetId,
        command: UpdateLimits,
    },
    Report {
        budget_id: BudgetId,
        report: UsageReport,
    },
    Reset {
        budget_id: BudgetId,
        command: ResetBudget,
    },
    Delete(BudgetId),
    Advance(BudgetId),
    Stopped {
        budget_id: BudgetId,
        began_at: Timestamp,
    },
    Withdrawn {
        budget_id: BudgetId,
        generation: u64,
    },
    MarkBlocked {
        budget_id: BudgetId,
        partition: Partition,
    },
    ForgetBlocked {
        budget_id: BudgetId,
        partition: Partition,
        round: u64,
    },
}

/// The answer to one call, and the time by which it was decided.
#[derive(Clone, Debug)]
pub(super) struct BudgetReply {
    pub(super) at: Moments,
    pub(super) answer: Result<BudgetAnswer, Rejection>,
}

/// What a call that was not refused came to.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum BudgetAnswer {
    Created(BudgetCreated),
    Budget(Box<BudgetView>),
    Updated(Updated),
    Reported(Reported),
    Reset(BudgetReset),
    Deleted(Deleted),
    Work(BudgetWork),
    Done,
}

/// Asks through the accounts.
pub(super) async fn ask(process: &Process, call: BudgetCall) -> BudgetReply {
    process.moments();
    let answer = ruled(answer(&process.direct, call).await);
    BudgetReply {
        at: process.moments(),
        answer,
    }
}

async fn answer(direct: &Direct, call: BudgetCall) -> Result<BudgetAnswer, Failed> {
    Ok(match call {
        BudgetCall::Create { budget_id, command } => {
            BudgetAnswer::Created(budgets::create(direct, budget_id, &command).await?)
        }
        BudgetCall::Get(id) => {
            let found = budgets::find(direct, id).await?;
            BudgetAnswer::Budget(Box::new(found.ok_or_else(|| budget::not_found(id))?))
        }
        BudgetCall::Update { budget_id, command } => {
            BudgetAnswer::Updated(budgets::update(direct, budget_id, &command).await?)
        }
        BudgetCall::Report { budget_id, report } => {
            let mut charged = budgets::report(direct, budget_id, &[report], false).await?;
            BudgetAnswer::Reported(charged.reported.remove(0))
        }
        BudgetCall::Reset { budget_id, command } => {
            BudgetAnswer::Reset(budgets::reset(direct, budget_id, &command).await?)
        }
        BudgetCall::Delete(id) => BudgetAnswer::Deleted(budgets::delete(direct, id).await?),
        BudgetCall::Advance(id) => BudgetAnswer::Work(budgets::advance(direct, id).await?.1),
        BudgetCall::Stopped { budget_id, began_at } => {
            budgets::stopped(direct, budget_id, began_at).await?;
            BudgetAnswer::Done
        }
        BudgetCall::Withdrawn { budget_id, generation } => {
            budgets::withdrawn(direct, budget_id, generation).await?;
            BudgetAnswer::Done
        }
        BudgetCall::MarkBlocked { budget_id, partition } => {
            limits::mark(direct, AccountKey::Budget(budget_id), [(partition, false)]).await?;
            BudgetAnswer::Done
        }
        BudgetCall::ForgetBlocked {
            budget_id,
            partition,
            round,
        } => {
            limits::forget(direct, AccountKey::Budget(budget_id), round, [(partition, false)]).await?;
            BudgetAnswer::Done
        }
    })
}
