//! Keeping leases, and noticing that they are lost.

use std::sync::Arc;
use std::time::Duration;

use ff_core::command::claim::{Exchanged, RenewedLease, StoppedTask};
use ff_core::command::steps::BudgetStanding;
use ff_core::fabric::Result;
use ff_core::limits::BATCH_ITEMS_MAX;
use ff_core::record::{OnHardLimit, StopRequest};
use ff_core::time::Timestamp;
use tokio::time::Instant;

use super::super::clock::left;
use super::held::{Held, PATIENCE};
use super::report::stop_of;
use super::{CALL_PATIENCE, Done, Loop, in_time};
use crate::ctx::Stop;

/// Calls at once: one that is not answered keeps no other lease from being renewed.
const CALLS_MAX: usize = 4;
/// How long a handler may go on once a budget is used up: less than the engine waits before it cancels.
const BUDGET_PATIENCE: Duration = Duration::from_secs(25);

impl Loop {
    /// Does what is due without anybody saying so.
    pub(super) fn look_at_the_clock(&mut self) {
        let now = Instant::now();
        self.claim_not_before = self.claim_not_before.filter(|at| *at > now);
        for (number, held) in &mut self.held {
            if !held.is_over && held.ends_at <= now {
                tracing::warn!(execution_id = %held.execution_id, "a lease is over before it could be renewed");
                held.lose(Stop::LeaseLost);
            }
            if held.drop_at.is_some_and(|at| at <= now) {
                held.drop_handler();
            }
            if held.has_come(now) {
                self.talkative.push_back(*number);
            }
        }
        self.held.retain(|_, held| !(held.is_over && held.is_gone));
        self.go_on_draining(now);
        self.start_what_waits();
    }

    /// Whether another renewal can be sent.
    pub(super) const fn can_renew(&self) -> bool {
        self.renewals_under_way < CALLS_MAX
    }

    /// Renews leases of which a third of the time left has passed.
    pub(super) fn renew_what_is_due(&mut self) {
        let now = Instant::now();
        let due = self.held.iter().filter(|(_, held)| held.renewal_is_due(now));
        let numbers: Vec<u64> = due.map(|(number, _)| *number).take(BATCH_ITEMS_MAX).collect();
        if !self.can_renew() || numbers.is_empty() {
            return;
        }
        self.renewals_under_way += 1;
        let mut exchange = self.exchange();
        for number in &numbers {
            if let Some(held) = self.held.get_mut(number) {
                held.is_renewing = true;
                exchange.renew.push(held.renewal());
            }
        }
        let ends = numbers
            .iter()
            .filter_map(|number| self.held.get(number))
            .map(|held| held.ends_at);
        let patience = patience(
            ends.min()
                .map_or(CALL_PATIENCE, |end| end.saturating_duration_since(now)),
        );
        let fabric = Arc::clone(&self.shared.fabric);
        self.under_way.push(Box::pin(async move {
            let sent = Instant::now();
            let answer = in_time(patience, fabric.exchange(exchange)).await;
            Done::Renewed(numbers, sent, answer)
        }));
    }

    /// The engine says which tasks are to stop.
    pub(super) fn told_to_stop(&mut self, stops: &[StoppedTask], now: Timestamp) {
        for stopped in stops {
            let is_meant = |held: &&mut Held| {
                held.execution_id == stopped.execution_id && held.fence.lease_epoch == stopped.lease_epoch
            };
            let Some(held) = self.held.values_mut().find(is_meant) else {
                continue;
            };
            if let Some(request) = &stopped.stop_requested {
                held.stop_for_budget(request, now);
            }
            if let Some(refusal) = &stopped.error {
                held.ended_by_others(stop_of(refusal));
            }
        }
    }

    pub(super) fn renewed(&mut self, numbers: &[u64], sent: Instant, answer: Result<Exchanged>) {
        self.renewals_under_way -= 1;
        let mut answers = match answer {
            Ok(exchanged) => {
                self.connection.works();
                self.shared.clock.heard(exchanged.server_time);
                let now = exchanged.server_time;
                self.told_to_stop(&exchanged.stops, now);
                Some(exchanged.renewed.into_iter().map(move |renewed| (renewed, now)))
            }
            Err(refusal) => {
                self.connection.broke(&refusal);
                None
            }
        };
        for number in numbers {
            let answer = answers.as_mut().and_then(Iterator::next);
            let Some(held) = self.held.get_mut(number) else {
                continue;
            };
            held.is_renewing = false;
            match answer {
                Some((renewed, now)) => held.renewed(renewed, sent, now),
                None => held.renew_later(),
            }
        }
    }
}

/// How long an answer to a renewal is waited for: so long that there is time for another try before the first lease is over.
fn patience(left: Duration) -> Duration {
    (left / 2).clamp(Duration::from_secs(1), CALL_PATIENCE)
}

impl Held {
    /// When it is to be renewed. One that is about to be let go needs that only if it has to be tried again later.
    pub(super) fn renewal_moment(&self) -> Option<Instant> {
        let is_kept = self.finish.is_none() || self.quiet_until.is_some();
        (is_kept && !self.is_over && !self.is_renewing).then_some(self.renew_at)
    }

    /// Whether it is to be renewed: a third of its time has passed.
    fn renewal_is_due(&self, now: Instant) -> bool {
        self.renewal_moment().is_some_and(|at| at <= now)
    }

    fn renewed(&mut self, renewed: RenewedLease, sent: Instant, now: Timestamp) {
        match renewed.expires_at {
            Ok(expires_at) => {
                // The end may be bounded by the attempt's timeout: then it does not move, and is asked for rarely.
                let left = left(expires_at, now);
                self.renew_at = sent + (left / 3).max(Duration::from_millis(100));
                self.ends_at = self.ends_at.max(sent + left);
                self.backoff.reset();
                if let Some(request) = &renewed.stop_requested {
                    self.stop_for_budget(request, now);
                }
            }
            Err(refusal) if refusal.code.retryable() => self.renew_later(),
            // An end that is on its way explains it better than a stop.
            Err(_) if self.is_reporting || self.is_over => {}
            Err(refusal) => self.lose(stop_of(&refusal)),
        }
    }

    /// The engine decided that the lease is over. What was sent before is answered first.
    fn ended_by_others(&mut self, stop: Stop) {
        match self.is_reporting {
            true => self.ended_by_others = Some(stop),
            false if self.is_over => {}
            false => self.lose(stop),
        }
    }

    /// What was on its way is answered.
    pub(super) fn has_reported(&mut self) {
        self.is_reporting = false;
        if let Some(stop) = self.ended_by_others.take() {
            self.ended_by_others(stop);
        }
    }

    /// A budget that stops what runs is used up: the engine's own request may come later.
    pub(super) fn stop_for_closed_budgets(&mut self, standings: &[BudgetStanding]) {
        let stops =
            |standing: &&BudgetStanding| standing.closed && standing.on_hard_limit == Some(OnHardLimit::CancelActive);
        if let Some(standing) = standings.iter().find(stops) {
            let reason = format!("budget {} is used up", standing.budget_id);
            self.stop(Stop::Budget(reason), Some(BUDGET_PATIENCE));
        }
    }

    fn renew_later(&mut self) {
        self.renew_at = Instant::now() + self.backoff.pause();
    }

    /// Asks the handler to stop because a budget is used up; it is given most of the time the engine gives.
    pub(super) fn stop_for_budget(&mut self, request: &StopRequest, now: Timestamp) {
        let patience = left(request.cancel_at, now).saturating_sub(PATIENCE).max(PATIENCE);
        self.stop(Stop::Budget(request.reason.clone()), Some(patience));
    }
}

#[cfg(test)]
mod tests {
    use ff_core::command::claim::Finish;
    use ff_core::command::lease::Release;
    use ff_core::record::Fence;
    use tokio::sync::oneshot;

    use super::*;

    fn held() -> Held {
        let fence = Fence {
            lease_id: "01999999-0000-4000-8000-000000000001".parse().unwrap(),
            lease_epoch: 1,
            attempt_id: "01999999-0000-7000-8000-000000000002".parse().unwrap(),
        };
        let id = "fp:1:01999999-0000-7000-8000-000000000001".parse().unwrap();
        Held::new(id, fence, Duration::from_secs(30))
    }

    #[test]
    fn a_lease_whose_end_is_tried_again_later_is_kept_until_then() {
        let mut held = held();
        let late = Instant::now() + Duration::from_secs(11);
        assert!(held.renewal_is_due(late) && !held.renewal_is_due(Instant::now()));
        held.finish = Some((Finish::Release(Release::default()), oneshot::channel().0));
        assert!(!held.renewal_is_due(late), "it is let go at once");
        assert_eq!(
            held.next_moment(true),
            Some(held.ends_at),
            "and nothing is to be done before"
        );
        held.quiet_until = Some(late + Duration::from_secs(5));
        assert!(held.renewal_is_due(late));
        assert_eq!(held.next_moment(true), Some(held.renew_at));
        assert_eq!(held.next_moment(false), held.quiet_until, "no call can be sent");
    }

    #[test]
    fn an_answer_is_waited_for_no_longer_than_leaves_time_for_another_try() {
        let secs = Duration::from_secs;
        assert_eq!(
            (patience(secs(20)), patience(secs(10)), patience(secs(600))),
            (secs(10), secs(5), secs(10))
        );
        assert_eq!(
            patience(Duration::ZERO),
            secs(1),
            "a try that cannot be answered is none"
        );
    }
}
