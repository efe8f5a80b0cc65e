//! What a lease holder has done already: a memo under a name, which whoever runs the execution next finds again.
//!
//! Every recording writes the execution too, so two of them never land side by side, and no place is used twice. Whether a name
//! is taken is the store's to find out: a new step is a record that must not exist. So a first decision may be made without
//! having read any step.
//!
//! A wait has no record before it is over: its suspension keeps the name and the place, and whatever resumes the execution
//! writes the step. Nothing is left of one that ended otherwise.

mod charge;
mod check;
mod forget;
mod pause;
mod record;
mod spawned;

use std::collections::{BTreeMap, BTreeSet};

pub use record::record;
pub use spawned::is_remembered;

pub(crate) use forget::forget;
pub(crate) use pause::{Wait, begin_wait, end_wait, make_room_for, record_sleep};
pub(crate) use record::{add, add_beside, check_room};
pub(crate) use spawned::{find_spawn, record_spawn};

use crate::command::steps::StepUsage;
use crate::id::BudgetId;
use crate::name::{Dimension, StepKey};
use crate::record::Step;

/// What was read besides the execution for the steps of a call.
#[derive(Clone, Debug, Default)]
pub struct Around {
    /// The steps of the names in the call, as far as they were read.
    pub stored: Vec<Step>,
    /// The budgets in the call that the namespace does not have: nothing is charged to them.
    pub missing_budgets: BTreeSet<BudgetId>,
}

impl Around {
    fn stored(&self, key: &StepKey) -> Option<&Step> {
        self.stored.iter().find(|step| step.key == *key)
    }

    /// What a step cost, by the budgets there are.
    fn charged(&self, usage: &[StepUsage]) -> BTreeMap<BudgetId, BTreeMap<Dimension, u64>> {
        let mut charged: BTreeMap<BudgetId, BTreeMap<Dimension, u64>> = BTreeMap::new();
        for StepUsage { budget_id, deltas } in usage {
            if !self.missing_budgets.contains(budget_id) {
                add_deltas(charged.entry(*budget_id).or_default(), deltas);
            }
        }
        charged
    }
}

fn add_deltas(sum: &mut BTreeMap<Dimension, u64>, deltas: &BTreeMap<Dimension, u64>) {
    for (dimension, delta) in deltas {
        let total = sum.entry(dimension.clone()).or_default();
        *total = total.saturating_add(*delta);
    }
}
