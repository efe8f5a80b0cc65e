//! Budgets. Usage reports are worked out by the library; everything else is the function of the same name in
//! [`ff_core::machine::budget`], between reading the fields and writing those that change.

mod change;
mod fields;
mod list;
mod report;

use ff_backend::Result;
use ff_backend::budget::{BudgetCall as Call, BudgetReply};
use ff_core::id::BudgetId;
use ff_core::machine::budget::check_deltas;
use futures::future::{join, join_all};

use crate::limit::{Chain, Kind, waves};
use crate::shared::Shared;

/// The budgets that are not deleted, by namespace.
const BUDGETS: &str = "budgets";

/// The reply to the call with this number.
type Numbered = (usize, Result<BudgetReply>);

impl Shared {
    /// Answers calls in order; those that need not wait for each other share calls of the library.
    pub(crate) async fn budget(&self, calls: Vec<Call>) -> Vec<Result<BudgetReply>> {
        let mut replies: Vec<Numbered> = Vec::with_capacity(calls.len());
        for wave in waves(calls, about) {
            replies.extend(self.budget_wave(wave).await);
        }
        replies.sort_unstable_by_key(|(number, _)| *number);
        replies.into_iter().map(|(_, reply)| reply).collect()
    }

    async fn budget_wave(&self, wave: Vec<Chain<BudgetId, Call>>) -> Vec<Numbered> {
        let (direct, others): (Vec<_>, Vec<_>) = wave.into_iter().partition(|chain| chain.kind.is_direct());
        let others = join_all(others.into_iter().map(|chain| self.change_or_list_budgets(chain)));
        let (mut replies, others) = join(self.use_budgets(direct), others).await;
        replies.extend(others.into_iter().flatten());
        replies
    }

    async fn change_or_list_budgets(&self, chain: Chain<BudgetId, Call>) -> Vec<Numbered> {
        match chain.about {
            Some(id) => self.change_budget(id, chain.calls).await,
            None => {
                join_all(
                    chain
                        .calls
                        .into_iter()
                        .map(|(number, call)| self.list_budgets(number, call)),
                )
                .await
            }
        }
    }
}

/// Which budget a call is about, and what it does to it.
fn about(call: &Call) -> (Option<BudgetId>, Kind) {
    match call {
        Call::Get(id) => (Some(*id), Kind::Read),
        // What the rules refuse is left to them.
        Call::Report { budget_id, report } if check_deltas(&report.deltas).is_ok() => (Some(*budget_id), Kind::Use),
        Call::Create { budget_id, .. }
        | Call::Update { budget_id, .. }
        | Call::Report { budget_id, .. }
        | Call::Reset { budget_id, .. }
        | Call::Delete(budget_id)
        | Call::Advance(budget_id)
        | Call::Stopped { budget_id, .. }
        | Call::Withdrawn { budget_id, .. }
        | Call::MarkBlocked { budget_id, .. }
        | Call::ForgetBlocked { budget_id, .. } => (Some(*budget_id), Kind::Change),
        Call::List { .. } => (None, Kind::Alone),
    }
}
