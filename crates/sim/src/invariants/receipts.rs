//! Every usage report that somebody was told of counts once at its budget, however it was sent and how often.
//!
//! The reports of a world carry a number of their own in a dimension nobody limits. Whether a budget counted one is read from
//! what it has spent there, and not from what it answers or by what it tells one report from another.

use std::collections::BTreeMap;

use ff_core::id::{BudgetId, ExecutionId};
use ff_core::ledger::{AccountKey, LedgerCall};
use ff_core::limits::DEDUP_WINDOW_DEFAULT;
use ff_core::name::Dimension;
use ff_core::record::Cause;
use ff_core::time::{Duration, Timestamp};

use super::mirror::Mirror;
use super::usage::deltas_of;
use super::watch::Store;
use super::{Holds, hold};

/// The dimension that carries the number.
pub const RECEIPTS: &str = "receipts";

/// Reports that were sent, by their numbers.
#[derive(Default)]
pub(crate) struct Receipts(BTreeMap<u64, SentReport>);

/// A report that is sent.
#[derive(Clone, Copy, Debug)]
pub struct SentReport {
    /// The number it carries.
    pub receipt: u64,
    /// To which budget.
    pub budget_id: BudgetId,
    /// Under the lease of which execution; `None`: under none.
    pub by: Option<ExecutionId>,
    /// Under a key, which is known as long as the policy says.
    pub keyed: bool,
}

impl Receipts {
    /// A report is about to be sent, perhaps not for the first time.
    pub(crate) fn sent(&mut self, report: SentReport) {
        self.0.insert(report.receipt, report);
    }

    /// A budget was asked: whether it counted what it was asked to. It must not have done so before.
    pub(crate) fn asked(
        &self,
        (mirror, store): (&mut Mirror, &Store),
        call: &LedgerCall,
        at: Timestamp,
    ) -> (bool, Holds) {
        let LedgerCall::Draw(draw) = call else {
            return (false, Ok(()));
        };
        let Some((AccountKey::Budget(budget_id), _)) = draw.path.first() else {
            return (false, Ok(()));
        };
        let Some(receipt) = deltas_of(draw).get(&dimension()).copied() else {
            return (false, Ok(()));
        };
        let spent = store.spent(*budget_id, &dimension());
        let before = mirror.spent.insert(*budget_id, spent).unwrap_or(0);
        // The budget may have started again first.
        let counted = spent == before + receipt || (spent == receipt && before != receipt);
        if !counted {
            return (false, Ok(()));
        }
        let Some(first) = mirror.receipts.insert(receipt, at) else {
            return (true, Ok(()));
        };
        let forgotten = (first + self.window(mirror, receipt)).has_come(at);
        let holds = hold(forgotten, "a usage report counts once", || {
            format!("budget {budget_id} counted {draw:?} at {first}, and again at {at}")
        });
        (true, holds)
    }

    /// How long a report is known.
    fn window(&self, mirror: &Mirror, receipt: u64) -> Duration {
        let keyed = self.0.get(&receipt).filter(|sent| sent.keyed);
        let execution = keyed.and_then(|sent| mirror.executions.get(&sent.by?));
        execution.map_or(DEDUP_WINDOW_DEFAULT, |execution| {
            execution.definition.policy.dedup_window()
        })
    }

    /// Whoever sent a report was told that it counts, if there is anything it could count for.
    pub(crate) fn told(&self, (mirror, store): (&Mirror, &Store), report: SentReport) -> Holds {
        let SentReport { receipt, budget_id, .. } = report;
        let counted = mirror.receipts.contains_key(&receipt);
        let gone = || mirror.deleted_budgets.contains(&budget_id) || !store.has(Cause::Budget(budget_id));
        hold(counted || gone(), "an accepted usage report counts", || {
            format!("{report:?} was accepted, and its budget has not counted it")
        })
    }
}

fn dimension() -> Dimension {
    Dimension::parse(RECEIPTS).expect("a good name")
}
