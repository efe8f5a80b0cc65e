//! Whether candidates may run now: every budget they are attached to, then their quota.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use ff_backend::limits;
use ff_core::command::budget::BudgetView;
use ff_core::error::{Code, Rejection};
use ff_core::fabric::Result;
use ff_core::id::{BudgetId, QuotaPolicyId};
use ff_core::machine::admission::{Verdict, judge_budgets, judge_quota};
use ff_core::machine::claim::Refusal;
use ff_core::machine::quota::{Admit, QuotaAdmission};
use ff_core::record::Cause;
use futures::future::join_all;

use super::candidate::Candidate;
use crate::engine::Engine;
use crate::fault::{internal, refused};
use crate::mint;
use crate::ops::budgets;

/// How long a refusal is believed that names no moment of its own.
const REFUSAL_BELIEVED_FOR: Duration = Duration::from_secs(2);
/// How long any refusal is believed: a lost hint must not hide room for longer.
const REFUSAL_BELIEVED_MAX: Duration = Duration::from_secs(10);

/// The admission of one claim cycle. Every budget is read once in it, unless it is known to have moved.
pub(super) struct Admission<'e> {
    engine: &'e Engine,
    budgets: BTreeMap<BudgetId, Result<Option<BudgetView>>>,
}

/// What admission says about a candidate.
pub(super) enum Judged {
    /// It may run; a slot may be taken for it.
    Passed,
    /// It must wait.
    Refused(Refused),
    /// Its reservation is over.
    Dropped,
    /// The store failed: it is not handed out, and its reservation lapses.
    Unread(Rejection),
}

/// A refusal, and for how long there is no use in asking again.
#[derive(Clone)]
pub(super) struct Refused {
    pub(super) refusal: Refusal,
    pub(super) believed_for: Duration,
}

impl<'e> Admission<'e> {
    pub(super) fn new(engine: &'e Engine) -> Self {
        Self {
            engine,
            budgets: BTreeMap::new(),
        }
    }

    /// Judges candidates, in order. The number of calls does not depend on how many there are.
    pub(super) async fn judge(&mut self, candidates: &[&Candidate]) -> Vec<Judged> {
        self.read_budgets(candidates).await;
        join_all(candidates.iter().map(|candidate| self.judge_one(candidate))).await
    }

    /// Reads those of these that are budgets again when they are next asked for.
    pub(super) fn forget(&mut self, moved: &[Cause]) {
        let is_moved = |id: &BudgetId| moved.contains(&Cause::Budget(*id));
        self.budgets.retain(|id, _| !is_moved(id));
    }

    async fn read_budgets(&mut self, candidates: &[&Candidate]) {
        let attached = candidates.iter().flat_map(|candidate| &candidate.policy().budget_ids);
        let unread: BTreeSet<BudgetId> = attached.filter(|id| !self.budgets.contains_key(id)).copied().collect();
        let views = unread.iter().map(|id| budgets::find(self.engine, *id));
        let views = join_all(views).await;
        self.budgets.extend(unread.into_iter().zip(views));
    }

    async fn judge_one(&self, candidate: &Candidate) -> Judged {
        match self.judge_budgets(candidate) {
            Err(unread) => return Judged::Unread(unread),
            Ok(Err(refusal)) => {
                return Judged::Refused(Refused {
                    refusal,
                    believed_for: REFUSAL_BELIEVED_FOR,
                });
            }
            Ok(Ok(())) => {}
        }
        match candidate.policy().quota_policy_id {
            None => Judged::Passed,
            Some(id) => self.ask_quota(id, candidate).await.unwrap_or_else(Judged::Unread),
        }
    }

    fn judge_budgets(&self, candidate: &Candidate) -> Result<std::result::Result<(), Refusal>> {
        let mut views = Vec::new();
        for id in &candidate.policy().budget_ids {
            match self.budgets.get(id) {
                Some(Ok(view)) => views.push((*id, view.as_ref())),
                Some(Err(unread)) => return Err(unread.clone()),
                None => return Err(internal("a budget of a candidate was not read")),
            }
        }
        Ok(judge_budgets(views))
    }

    async fn ask_quota(&self, id: QuotaPolicyId, candidate: &Candidate) -> Result<Judged> {
        let Some(runnable) = candidate.execution().runnable() else {
            return Ok(Judged::Dropped);
        };
        let ask = Admit {
            grant_id: candidate.grant_id,
            execution_id: candidate.execution().id,
            attempt_index: runnable.next_claim.attempt_index,
            continues: runnable.next_claim.continues,
            dice: mint::dice(self.engine.host()),
        };
        let answer = match limits::quotas::admit(self.engine.store(), id, &ask)
            .await
            .map_err(refused)
        {
            Ok(answer) => Some(answer),
            Err(refusal) if refusal.code == Code::QuotaPolicyNotFound => None,
            Err(refusal) => return Err(refusal),
        };
        let verdict = judge_quota(id, answer.as_ref());
        let refusals = &self.engine.shared.refusals;
        match &verdict {
            Verdict::Refused(_) => refusals.refused(id, self.engine.host().elapsed()),
            Verdict::Admitted => refusals.admitted(id),
            Verdict::Dropped => {}
        }
        Ok(match verdict {
            Verdict::Admitted => Judged::Passed,
            Verdict::Dropped => Judged::Dropped,
            Verdict::Refused(refusal) => Judged::Refused(Refused {
                refusal,
                believed_for: believed_for(answer.as_ref()),
            }),
        })
    }
}

/// How long a quota's refusal holds, as far as the quota knows.
fn believed_for(answer: Option<&QuotaAdmission>) -> Duration {
    let retry_after = match answer {
        Some(QuotaAdmission::CapFull { retry_after, .. } | QuotaAdmission::WindowFull { retry_after, .. }) => {
            *retry_after
        }
        _ => None,
    };
    let named = retry_after.map(|wait| Duration::from_millis(wait.as_millis()));
    named.unwrap_or(REFUSAL_BELIEVED_FOR).min(REFUSAL_BELIEVED_MAX)
}
