//! Policies of executions, with every field used now and then.

use std::collections::BTreeSet;

use ff_core::id::{BudgetId, QuotaPolicyId};
use ff_core::name::Namespace;
use ff_core::policy::{
    Backoff, FallbackPolicy, FallbackTier, Never, Policy, Retention, RetryPolicy, RoutingRequirements, StreamPolicy,
    SuspensionPolicy, TimeoutPolicy,
};
use ff_core::record::TimeoutBehavior;
use ff_core::time::Duration;

use super::board::Board;
use super::names;
use crate::luck::Luck;

/// The shortest time a repetition is known for.
pub(crate) const DEDUP_WINDOW_MIN: Duration = Duration::from_secs(60);

/// Some policy an execution of `namespace` may have.
pub(crate) fn policy(luck: &Luck, board: &Board, namespace: &Namespace) -> Policy {
    let (budget_ids, quota_policy_id) = limits(luck, board, namespace);
    Policy {
        retry_policy: (!luck.one_in(3)).then(|| retries(luck)),
        timeout_policy: luck.one_in(4).then(|| timeouts(luck)),
        suspension_policy: luck.one_in(4).then(|| SuspensionPolicy {
            default_timeout: luck.flip().then(|| seconds(luck, 2, 60)),
            timeout_behavior: Some(timeout_behavior(luck)),
        }),
        fallback_policy: luck.one_in(6).then(|| fallback(luck)),
        max_reclaim_count: luck.one_in(3).then(|| small(luck, 3)),
        max_replay_count: luck.one_in(2).then(|| small(luck, 2)),
        budget_ids,
        quota_policy_id,
        routing_requirements: RoutingRequirements {
            required_capabilities: names::required(luck),
        },
        dedup_window: luck.one_in(8).then(|| DEDUP_WINDOW_MIN + seconds(luck, 0, 3_600)),
        stream_policy: luck.one_in(4).then(|| StreamPolicy {
            retention_maxlen: 1 + small(luck, 4),
            retention_ttl: luck.flip().then(|| seconds(luck, 1, 30)),
        }),
        retention: retention(luck),
        max_signals_per_execution: luck.one_in(4).then(|| small(luck, 3)),
    }
}

/// Budgets and a quota of the namespace, for about half of the executions.
fn limits(luck: &Luck, board: &Board, namespace: &Namespace) -> (BTreeSet<BudgetId>, Option<QuotaPolicyId>) {
    let known = board.known();
    let budgets = known
        .budgets
        .iter()
        .filter(|(of, _)| of == namespace)
        .map(|(_, id)| *id);
    let budgets = budgets.filter(|_| luck.one_in(4)).collect();
    let quotas: Vec<_> = known
        .quotas
        .iter()
        .filter(|(of, _)| of == namespace)
        .map(|(_, id)| *id)
        .collect();
    let quota = luck.pick(&quotas).copied().filter(|_| luck.one_in(3));
    (budgets, quota)
}

fn retries(luck: &Luck) -> RetryPolicy {
    let backoff = if luck.flip() {
        Backoff::Fixed {
            delay: Duration::from_millis(luck.below(3_000)),
        }
    } else {
        Backoff::Exponential {
            initial_delay: Duration::from_millis(luck.between(1, 500)),
            max_delay: seconds(luck, 1, 20),
            multiplier: 2.0,
            jitter: luck.flip(),
        }
    };
    RetryPolicy {
        max_retries: small(luck, 4),
        backoff,
        retryable_categories: luck.one_in(5).then(|| [names::some_category(luck)].into()),
    }
}

fn timeouts(luck: &Luck) -> TimeoutPolicy {
    TimeoutPolicy {
        // Often shorter than a lease nobody knows of lasts.
        attempt_timeout: luck.flip().then(|| {
            if luck.flip() {
                seconds(luck, 1, 10)
            } else {
                seconds(luck, 10, 40)
            }
        }),
        execution_deadline: luck.flip().then(|| seconds(luck, 10, 300)),
    }
}

fn fallback(luck: &Luck) -> FallbackPolicy {
    let tier = |model: &str| FallbackTier {
        provider: "somebody".to_owned(),
        model: model.to_owned(),
        timeout: luck.flip().then(|| seconds(luck, 5, 60)),
    };
    FallbackPolicy {
        tiers: vec![tier("large"), tier("small")],
    }
}

fn retention(luck: &Luck) -> Option<Retention> {
    match luck.below(6) {
        0 => Some(Retention::For(seconds(luck, 1, 20))),
        1 => Some(Retention::For(seconds(luck, 20, 120))),
        2 => Some(Retention::Forever(Never::Never)),
        _ => None,
    }
}

/// What happens when a suspension times out.
pub(crate) fn timeout_behavior(luck: &Luck) -> TimeoutBehavior {
    luck.choose([
        TimeoutBehavior::Fail,
        TimeoutBehavior::Cancel,
        TimeoutBehavior::Expire,
        TimeoutBehavior::AutoResumeWithTimeoutSignal,
        TimeoutBehavior::Escalate,
    ])
}

fn small(luck: &Luck, most: u64) -> u32 {
    u32::try_from(luck.between(0, most)).unwrap_or(0)
}

pub(crate) fn seconds(luck: &Luck, at_least: u64, at_most: u64) -> Duration {
    Duration::from_secs(luck.between(at_least, at_most))
}
