//! How a task is run: said once with the task, and again where one submission differs.

mod methods;

use std::collections::BTreeSet;
use std::ops::Range;
use std::time::Duration;

use ff_core::capability::CapabilitySet;
use ff_core::error::Rejection;
use ff_core::id::{BudgetId, QuotaPolicyId};
use ff_core::name::{Category, LaneId};
use ff_core::policy::{
    Backoff, FallbackPolicy, FallbackTier, Never, Policy, Retention, RetryPolicy, StreamPolicy, TimeoutPolicy,
};
use ff_core::record::Tags;
use ff_core::trace::{TRACE_TAG, TraceParent};

use crate::duration::millis;

pub(crate) use self::methods::option_methods;

/// How a task is run. What is said later replaces what was said before; tags, budgets and capabilities add up.
///
/// ```
/// use ff_sdk::{TaskOptions, secs, tier};
///
/// let options = TaskOptions::new()
///     .lane("web")
///     .retries(5)
///     .backoff(secs(1)..secs(30))
///     .tiers([tier("openai", "big", secs(60)), tier("local", "small", secs(180))]);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[must_use]
pub struct TaskOptions {
    pub(crate) lane: Option<LaneId>,
    pub(crate) priority: Option<u16>,
    pub(crate) tags: Tags,
    pub(crate) policy: Policy,
    /// What could not be taken over: told when it is submitted, all of it at once.
    pub(crate) problems: Vec<String>,
}

/// A provider and a model to fall back to, with the time an attempt may take there.
pub fn tier(provider: impl Into<String>, model: impl Into<String>, timeout: Duration) -> FallbackTier {
    FallbackTier {
        provider: provider.into(),
        model: model.into(),
        timeout: Some(millis(timeout)),
    }
}

impl TaskOptions {
    /// Nothing said: the default lane, no retries, no limits.
    pub fn new() -> Self {
        Self::default()
    }

    /// The queue workers claim it from.
    pub fn lane(mut self, lane: impl AsRef<str>) -> Self {
        self.lane = self.taken(LaneId::parse(lane));
        self
    }

    /// 0 to 9,000, higher first.
    pub const fn priority(mut self, priority: u16) -> Self {
        self.priority = Some(priority);
        self
    }

    /// A label that listings can be filtered by; the key matches `[a-z][a-z0-9_.-]{0,127}`.
    pub fn tag(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.tags.insert(key.into(), value.into());
        self
    }

    /// Several labels.
    pub fn tags(mut self, tags: impl IntoIterator<Item = (impl Into<String>, impl Into<String>)>) -> Self {
        self.tags
            .extend(tags.into_iter().map(|(key, value)| (key.into(), value.into())));
        self
    }

    /// The trace it is part of, as W3C Trace Context writes it: the worker's span of each attempt carries it, and so does what
    /// its handler submits. It is a tag, and so part of what is compared under an idempotency key.
    pub fn traceparent(mut self, traceparent: impl AsRef<str>) -> Self {
        let given = traceparent.as_ref();
        match TraceParent::parse(given) {
            Some(trace) => self.tag(TRACE_TAG, trace.as_str()),
            None => {
                self.problems.push(format!(
                    "{given:?} is no traceparent: it looks like 00-<32 hexadecimal digits>-<16 of them>-01"
                ));
                self
            }
        }
    }

    /// Goes on with the trace of whoever submits it, unless it has one.
    pub(crate) fn traced_as(&mut self, tags: &Tags) {
        if let (Some(trace), false) = (tags.get(TRACE_TAG), self.tags.contains_key(TRACE_TAG)) {
            self.tags.insert(TRACE_TAG.to_owned(), trace.clone());
        }
    }

    /// How often a failed attempt is tried again.
    pub fn retries(mut self, count: u32) -> Self {
        self.retry().max_retries = count;
        self
    }

    /// The pauses before retries: the first, doubled each time up to the last, each shortened at random by up to a half.
    pub fn backoff(mut self, pauses: Range<Duration>) -> Self {
        self.retry().backoff = Backoff::Exponential {
            initial_delay: millis(pauses.start),
            max_delay: millis(pauses.end),
            multiplier: 2.0,
            jitter: true,
        };
        self
    }

    /// The same pause before every retry.
    pub fn fixed_backoff(mut self, pause: Duration) -> Self {
        self.retry().backoff = Backoff::Fixed { delay: millis(pause) };
        self
    }

    /// Only failures of these categories are retried, instead of all but `permanent`, `cancelled` and `budget`.
    pub fn retry_on(mut self, categories: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        let parsed: Result<BTreeSet<_>, _> = categories.into_iter().map(Category::parse).collect();
        let parsed = self.taken(parsed);
        self.retry().retryable_categories = parsed;
        self
    }

    /// How long one attempt may work; then it fails with category `timeout`, and may be retried.
    pub fn attempt_timeout(mut self, timeout: Duration) -> Self {
        self.timeouts().attempt_timeout = Some(millis(timeout));
        self
    }

    /// How long the whole may take from submission to end, whatever happens in between; then it expires.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.timeouts().execution_deadline = Some(millis(deadline));
        self
    }

    /// Providers and models in the order they are used: each retry moves one further, the last repeats.
    pub fn tiers(mut self, tiers: impl IntoIterator<Item = FallbackTier>) -> Self {
        let tiers = tiers.into_iter().collect();
        self.policy.fallback_policy = Some(FallbackPolicy { tiers });
        self
    }

    /// What a worker must offer to be handed it; adds to what was said before.
    pub fn capabilities(mut self, capabilities: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        let required = &self.policy.routing_requirements.required_capabilities;
        let all: Vec<String> = required
            .iter()
            .map(str::to_owned)
            .chain(
                capabilities
                    .into_iter()
                    .map(|capability| capability.as_ref().to_owned()),
            )
            .collect();
        if let Some(set) = self.taken(CapabilitySet::parse(all)) {
            self.policy.routing_requirements.required_capabilities = set;
        }
        self
    }

    /// A budget that must be open for it to be claimed; several may be named.
    pub fn budget(mut self, budget: BudgetId) -> Self {
        self.policy.budget_ids.insert(budget);
        self
    }

    /// The quota its leases count against.
    pub const fn quota(mut self, quota: QuotaPolicyId) -> Self {
        self.policy.quota_policy_id = Some(quota);
        self
    }

    /// How long it is kept once it has ended.
    pub fn retention(mut self, time: Duration) -> Self {
        self.policy.retention = Some(Retention::For(millis(time)));
        self
    }

    /// It is kept until a person deletes it.
    pub const fn keep_forever(mut self) -> Self {
        self.policy.retention = Some(Retention::Forever(Never::Never));
        self
    }

    /// How long its idempotency key, its signals and its reports of usage are recognised.
    pub fn dedup_window(mut self, time: Duration) -> Self {
        self.policy.dedup_window = Some(millis(time));
        self
    }

    /// How many frames of each attempt are kept.
    pub fn frames_kept(mut self, count: u32) -> Self {
        let stream = self.policy.stream_policy.get_or_insert_with(StreamPolicy::default);
        stream.retention_maxlen = count;
        self
    }

    /// Changes the whole policy: for what has no method of its own.
    ///
    /// ```
    /// # use ff_sdk::TaskOptions;
    /// let options = TaskOptions::new().policy(|policy| policy.max_replay_count = Some(0));
    /// ```
    pub fn policy(mut self, change: impl FnOnce(&mut Policy)) -> Self {
        change(&mut self.policy);
        self
    }

    fn retry(&mut self) -> &mut RetryPolicy {
        self.policy.retry_policy.get_or_insert_with(RetryPolicy::default)
    }

    fn timeouts(&mut self) -> &mut TimeoutPolicy {
        self.policy.timeout_policy.get_or_insert_with(TimeoutPolicy::default)
    }

    fn taken<T>(&mut self, parsed: Result<T, Rejection>) -> Option<T> {
        parsed.map_err(|rejection| self.problems.push(rejection.detail)).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::duration::secs;

    #[test]
    fn what_is_said_later_replaces_what_was_said_before() {
        let options = TaskOptions::new()
            .lane("a")
            .retries(5)
            .attempt_timeout(secs(9))
            .lane("b")
            .retries(1);
        assert_eq!(options.lane.unwrap().as_str(), "b");
        assert_eq!(options.policy.retry_policy.unwrap().max_retries, 1);
        assert_eq!(
            options.policy.timeout_policy.unwrap().attempt_timeout,
            Some(millis(secs(9)))
        );
    }

    #[test]
    fn tags_and_capabilities_add_up() {
        let options = TaskOptions::new()
            .tag("a", "1")
            .capabilities(["gpu"])
            .tags([("b", "2")])
            .capabilities(["a100"]);
        assert_eq!(options.tags.len(), 2);
        let required = options.policy.routing_requirements.required_capabilities;
        assert_eq!(required.iter().collect::<Vec<_>>(), ["a100", "gpu"]);
    }

    #[test]
    fn every_value_that_cannot_be_taken_is_told() {
        let options = TaskOptions::new()
            .lane("two words")
            .retry_on(["Busy"])
            .capabilities([""]);
        assert_eq!(options.problems.len(), 3, "{:?}", options.problems);
    }
}
