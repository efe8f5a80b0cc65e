//! Who may be leased now, by budgets and quota; and how blocked work comes back when there is room.

use super::claim::Refusal;
use super::quota::QuotaAdmission;
use crate::command::budget::{BudgetState, BudgetView};
use crate::id::{BudgetId, QuotaPolicyId};
use crate::partition::Partition;
use crate::record::{Cause, Excess};
use crate::time::Duration;

/// Refuses an execution whose budgets do not all admit it, for the first that does not.
///
/// `None` stands for a budget that was read and is not there. It was there when the execution was submitted, so its
/// limits are lost, not lifted: the execution waits until somebody creates it again.
pub fn judge_budgets<'a>(budgets: impl IntoIterator<Item = (BudgetId, Option<&'a BudgetView>)>) -> Result<(), Refusal> {
    budgets
        .into_iter()
        .try_for_each(|(id, budget)| judge_budget(id, budget))
}

fn judge_budget(id: BudgetId, budget: Option<&BudgetView>) -> Result<(), Refusal> {
    let cause = Cause::Budget(id);
    let Some(budget) = budget else {
        let detail = format!("budget {id} does not exist");
        return Err(Refusal {
            cause,
            detail,
            generation: 0,
        });
    };
    match &budget.state {
        BudgetState::Open | BudgetState::Deleted => Ok(()),
        BudgetState::Closed(excess) => Err(Refusal {
            cause,
            detail: describe_excess(id, excess),
            generation: budget.generation,
        }),
    }
}

/// Names budget, dimension, usage and limit, for a person.
pub(crate) fn describe_excess(id: BudgetId, excess: &Excess) -> String {
    let Excess {
        dimension,
        current,
        limit,
    } = excess;
    format!("budget {id}: {dimension} {current}/{limit}")
}

/// What a quota's answer means for the reservation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It may be leased.
    Admitted,
    /// It must wait.
    Refused(Refusal),
    /// The reservation is over: somebody released its grant. Nothing is left to do.
    Dropped,
}

/// Judges by a quota's answer. `None` stands for a policy that is not there, which is judged as for budgets.
pub fn judge_quota(id: QuotaPolicyId, answer: Option<&QuotaAdmission>) -> Verdict {
    let cause = Cause::Quota(id);
    let refused = |detail, generation| {
        Verdict::Refused(Refusal {
            cause,
            detail,
            generation,
        })
    };
    match answer {
        None => refused(format!("quota policy {id} does not exist"), 0),
        Some(QuotaAdmission::Admitted | QuotaAdmission::AlreadyAdmitted | QuotaAdmission::Unlimited) => {
            Verdict::Admitted
        }
        Some(QuotaAdmission::Late) => Verdict::Dropped,
        Some(QuotaAdmission::CapFull {
            in_use,
            max_concurrent,
            generation,
            ..
        }) => refused(
            format!("quota policy {id}: cap {in_use}/{max_concurrent} leases"),
            *generation,
        ),
        Some(QuotaAdmission::WindowFull {
            taken,
            max_requests_per_window,
            window,
            retry_after,
            generation,
        }) => {
            let rate = format!("quota policy {id}: rate {taken}/{max_requests_per_window} requests in {window}");
            refused(rate + &describe_wait(*retry_after), *generation)
        }
    }
}

fn describe_wait(retry_after: Option<Duration>) -> String {
    retry_after.map_or_else(String::new, |wait| format!(", room in {wait}"))
}

/// How many could be admitted right now; absent is no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Headroom {
    /// Free slots.
    pub slots: Option<u64>,
    /// Free places in the window.
    pub places: Option<u64>,
}

impl Headroom {
    /// Room for everybody.
    pub const UNLIMITED: Headroom = Headroom {
        slots: None,
        places: None,
    };

    /// How many new attempts fit; absent is no limit.
    pub fn fits(self) -> Option<u64> {
        [self.slots, self.places].into_iter().flatten().min()
    }

    /// Takes room for one execution if there is enough. One that continues its attempt has its place already.
    pub fn take(&mut self, continues: bool) -> bool {
        let needs_place = !continues;
        if self.slots == Some(0) || (needs_place && self.places == Some(0)) {
            return false;
        }
        self.slots = self.slots.map(|slots| slots - 1);
        if needs_place {
            self.places = self.places.map(|places| places - 1);
        }
        true
    }
}

/// Blocked work may go back to its queues: look into these partitions, release what there is room for, best first, and
/// forget the partitions with nothing left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Release {
    /// The generation this release began with; partitions marked since are not forgotten.
    pub round: u64,
    /// Where to look.
    pub partitions: Vec<Partition>,
    /// How much fits.
    pub room: Headroom,
}
