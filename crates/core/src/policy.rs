//! The policy of an execution: frozen at submit, every field meaningful.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::capability::CapabilitySet;
use crate::error::{Code, Rejection};
use crate::id::{BudgetId, QuotaPolicyId};
use crate::limits;
use crate::name::Category;
use crate::record::TimeoutBehavior;
use crate::time::Duration;
use crate::wire;

/// How an execution is retried, timed, limited and kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Policy {
    /// Absent: a failed attempt is never retried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_policy: Option<RetryPolicy>,
    /// Limits on running time; absent: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_policy: Option<TimeoutPolicy>,
    /// Defaults for suspensions that name no timeout of their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suspension_policy: Option<SuspensionPolicy>,
    /// Providers and models to fall back to, one further with each retry; absent: workers are told none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallback_policy: Option<FallbackPolicy>,
    /// Reclaims before the execution fails with `max_reclaims_exceeded`; absent: 100.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_reclaim_count: Option<u32>,
    /// How often the execution may be replayed; absent: 10 times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_replay_count: Option<u32>,
    /// Budgets of its namespace that must be open for it to be claimed, at most 16.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub budget_ids: BTreeSet<BudgetId>,
    /// The quota of its namespace that its leases count against; absent: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quota_policy_id: Option<QuotaPolicyId>,
    /// What a worker must offer; absent: any worker of its lane will do.
    #[serde(skip_serializing_if = "RoutingRequirements::is_empty")]
    pub routing_requirements: RoutingRequirements,
    /// How long its idempotency key, signals and usage reports are recognised, from the first use; absent: 24 h.
    #[serde(rename = "dedup_window_ms", skip_serializing_if = "Option::is_none")]
    pub dedup_window: Option<Duration>,
    /// How much of each attempt's output is kept; absent: the last 10,000 frames.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream_policy: Option<StreamPolicy>,
    /// How long it is kept once terminal; absent: 24 h. Members are kept as long as their flow.
    #[serde(rename = "retention_ms", skip_serializing_if = "Option::is_none")]
    pub retention: Option<Retention>,
    /// Signals it accepts in its whole life, besides a person's decisions; at most 10,000, which is also the default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_signals_per_execution: Option<u32>,
}

/// Whether, how often and after what pause a failed attempt is tried again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct RetryPolicy {
    /// Retries after the first attempt; absent: 3. A replay starts counting again.
    pub max_retries: u32,
    /// The pause before each retry; absent: 1 s, doubled each time up to 60 s.
    pub backoff: Backoff,
    /// Which failures are retried; absent: all but `permanent`, `cancelled` and `budget`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retryable_categories: Option<BTreeSet<Category>>,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            max_retries: 3,
            backoff: Backoff::default(),
            retryable_categories: None,
        }
    }
}

/// The pause before a retry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Backoff {
    /// The same pause every time.
    Fixed {
        /// How long it is; 0 retries at once.
        #[serde(rename = "delay_ms")]
        delay: Duration,
    },
    /// A pause that grows with every retry.
    Exponential {
        /// The pause before the first retry, at most `max_delay_ms`; absent: 1 s.
        #[serde(rename = "initial_delay_ms", default = "default_initial_delay")]
        initial_delay: Duration,
        /// No pause is longer than this; absent: 60 s.
        #[serde(rename = "max_delay_ms", default = "default_max_delay")]
        max_delay: Duration,
        /// Factor from one pause to the next, 1 to 1,000; absent: 2.
        #[serde(default = "default_multiplier")]
        multiplier: f64,
        /// Shortens each pause to a random 50–100 % of itself; absent: no.
        #[serde(default)]
        jitter: bool,
    },
}

fn default_initial_delay() -> Duration {
    Duration::from_secs(1)
}

fn default_max_delay() -> Duration {
    Duration::from_secs(60)
}

fn default_multiplier() -> f64 {
    2.0
}

impl Default for Backoff {
    fn default() -> Self {
        Self::Exponential {
            initial_delay: default_initial_delay(),
            max_delay: default_max_delay(),
            multiplier: default_multiplier(),
            jitter: false,
        }
    }
}

/// Limits on how long an attempt and the whole execution may take.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct TimeoutPolicy {
    /// Leased time one attempt may use, more than 0; then it fails with category `timeout`, which may be retried.
    #[serde(rename = "attempt_timeout_ms", skip_serializing_if = "Option::is_none")]
    pub attempt_timeout: Option<Duration>,
    /// Time from submission, or replay, to the end, whatever happens in between: more than 0; then it expires.
    #[serde(rename = "execution_deadline_ms", skip_serializing_if = "Option::is_none")]
    pub execution_deadline: Option<Duration>,
}

/// What a suspension does when it names no timeout of its own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct SuspensionPolicy {
    /// Timeout of a suspension that gives none, from its start; absent: it waits without end.
    #[serde(rename = "default_timeout_ms", skip_serializing_if = "Option::is_none")]
    pub default_timeout: Option<Duration>,
    /// What happens at the timeout of a suspension that does not say; absent: `fail`, or for `timeout_only` to go on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_behavior: Option<TimeoutBehavior>,
}

/// An ordered list of alternatives; each retry moves one further, the last repeats.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FallbackPolicy {
    /// The alternatives in the order they are used, 1 to 64.
    pub tiers: Vec<FallbackTier>,
}

/// One alternative the worker is told to use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FallbackTier {
    /// Who runs the model, 1 to 256 bytes; the engine only hands it to the worker.
    pub provider: String,
    /// Which model, 1 to 256 bytes; the engine only hands it to the worker.
    pub model: String,
    /// Replaces the attempt timeout while this tier is current.
    #[serde(rename = "timeout_ms", default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Duration>,
}

/// What a worker must offer to be handed the execution.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct RoutingRequirements {
    /// All of these must be offered by one worker; up to 256 tokens.
    pub required_capabilities: CapabilitySet,
}

impl RoutingRequirements {
    fn is_empty(&self) -> bool {
        self.required_capabilities.is_empty()
    }
}

/// How much of an attempt's output is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct StreamPolicy {
    /// Frames kept, at least 1; older ones are trimmed. Absent: 10,000.
    pub retention_maxlen: u32,
    /// Frames older than this are trimmed; absent: age does not matter.
    #[serde(rename = "retention_ttl_ms", skip_serializing_if = "Option::is_none")]
    pub retention_ttl: Option<Duration>,
}

impl Default for StreamPolicy {
    fn default() -> Self {
        Self {
            retention_maxlen: limits::STREAM_FRAMES_DEFAULT,
            retention_ttl: None,
        }
    }
}

/// How long something is kept after its end: a number of milliseconds, or `"never"` deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Retention {
    /// Deleted this long after the end.
    For(Duration),
    /// Kept until a person deletes it.
    Forever(Never),
}

/// The word `never`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Never {
    /// Not deleted by time.
    Never,
}

impl Policy {
    /// Reads a policy as a client sends it: one that cannot be read is `invalid_policy`, as is one that could not be kept.
    pub fn from_json(json: &serde_json::Value) -> Result<Self, Rejection> {
        if !json.is_object() {
            return Err(Code::InvalidPolicy.because("a policy is a JSON object"));
        }
        let policy: Self = wire::from_request(json.to_string().as_bytes())
            .map_err(|refusal| Code::InvalidPolicy.because(refusal.detail))?;
        policy.validate()?;
        Ok(policy)
    }

    /// Refuses values that could not be kept: `invalid_policy` with the field's name.
    pub fn validate(&self) -> Result<(), Rejection> {
        let invalid = |detail: &str| Err(Code::InvalidPolicy.because(detail));
        if let Some(retry) = &self.retry_policy {
            retry.backoff.validate()?;
        }
        if let Some(fallback) = &self.fallback_policy {
            fallback.validate()?;
        }
        if self.attempt_timeouts().any(|timeout| timeout == Duration::ZERO) {
            return invalid("timeout_policy: a timeout of 0 ms would end every attempt before it starts");
        }
        if self
            .timeout_policy
            .as_ref()
            .is_some_and(|t| t.execution_deadline == Some(Duration::ZERO))
        {
            return invalid("timeout_policy.execution_deadline_ms is 0");
        }
        if self
            .stream_policy
            .as_ref()
            .is_some_and(|stream| stream.retention_maxlen == 0)
        {
            return invalid("stream_policy.retention_maxlen is 0");
        }
        if self
            .max_signals_per_execution
            .is_some_and(|max| max > limits::SIGNALS_MAX)
        {
            return invalid("max_signals_per_execution is above 10,000");
        }
        if self.budget_ids.len() > limits::BUDGETS_PER_EXECUTION_MAX {
            return invalid("budget_ids names more than 16 budgets");
        }
        Ok(())
    }

    fn attempt_timeouts(&self) -> impl Iterator<Item = Duration> + '_ {
        let tiers = self.fallback_policy.iter().flat_map(|fallback| &fallback.tiers);
        let own = self.timeout_policy.as_ref().and_then(|timeout| timeout.attempt_timeout);
        own.into_iter().chain(tiers.filter_map(|tier| tier.timeout))
    }

    /// The leased time an attempt on `tier` may use.
    pub fn attempt_timeout(&self, tier: u32) -> Option<Duration> {
        let of_tier = self.tier(tier).and_then(|tier| tier.timeout);
        of_tier.or_else(|| self.timeout_policy.as_ref()?.attempt_timeout)
    }

    /// The fallback tier with this index, the last one repeating.
    pub fn tier(&self, index: u32) -> Option<&FallbackTier> {
        let tiers = &self.fallback_policy.as_ref()?.tiers;
        tiers.get(index as usize).or_else(|| tiers.last())
    }

    /// Reclaims before the execution fails.
    pub fn reclaims_max(&self) -> u32 {
        self.max_reclaim_count.unwrap_or(limits::RECLAIMS_MAX_DEFAULT)
    }

    /// Replays allowed.
    pub fn replays_max(&self) -> u32 {
        self.max_replay_count.unwrap_or(limits::REPLAYS_MAX_DEFAULT)
    }

    /// Signals accepted.
    pub fn signals_max(&self) -> u32 {
        self.max_signals_per_execution.unwrap_or(limits::SIGNALS_MAX)
    }

    /// How long repetitions are recognised.
    pub fn dedup_window(&self) -> Duration {
        self.dedup_window.unwrap_or(limits::DEDUP_WINDOW_DEFAULT)
    }

    /// How much of each attempt's output is kept.
    pub fn stream(&self) -> StreamPolicy {
        self.stream_policy.clone().unwrap_or_default()
    }

    /// How long the execution is kept once terminal; `None` is for ever.
    pub fn retention(&self) -> Option<Duration> {
        self.retention
            .unwrap_or(Retention::For(limits::RETENTION_DEFAULT))
            .duration()
    }
}

impl Retention {
    /// The time to keep; `None` is for ever.
    pub const fn duration(self) -> Option<Duration> {
        match self {
            Retention::For(duration) => Some(duration),
            Retention::Forever(Never::Never) => None,
        }
    }

    /// The longer of this and another time to keep; `None` is for ever.
    #[must_use]
    pub fn at_least(self, other: Option<Duration>) -> Retention {
        match self.duration().zip(other) {
            Some((own, other)) => Retention::For(own.max(other)),
            None => Retention::Forever(Never::Never),
        }
    }
}

impl RetryPolicy {
    /// Whether a failure of `category` after `retries` retries is tried again.
    pub fn allows(&self, category: &Category, retries: u32) -> bool {
        let listed = match &self.retryable_categories {
            Some(categories) => categories.contains(category),
            None => category.is_retryable_by_default(),
        };
        listed && retries < self.max_retries
    }
}

impl Backoff {
    fn validate(&self) -> Result<(), Rejection> {
        match self {
            Backoff::Exponential { multiplier, .. } if !(1.0..=1_000.0).contains(multiplier) => {
                Err(Code::InvalidPolicy.because("retry_policy.backoff.multiplier must be between 1 and 1,000"))
            }
            Backoff::Exponential {
                initial_delay,
                max_delay,
                ..
            } if initial_delay > max_delay => {
                Err(Code::InvalidPolicy.because("retry_policy.backoff: initial_delay_ms is above max_delay_ms"))
            }
            Backoff::Exponential { .. } | Backoff::Fixed { .. } => Ok(()),
        }
    }

    /// The pause before retry number `retry` (from 0); `dice` is fresh randomness for the jitter.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "delays are bounded by max_delay, far below 2^53, and never negative"
    )]
    pub fn delay(&self, retry: u32, dice: u64) -> Duration {
        match *self {
            Backoff::Fixed { delay } => delay,
            Backoff::Exponential {
                initial_delay,
                max_delay,
                multiplier,
                jitter,
            } => {
                let exponent = i32::try_from(retry).unwrap_or(i32::MAX);
                // Finite, so that no delay at all stays none: 0 × ∞ is not a number.
                let factor = multiplier.powi(exponent).min(f64::MAX);
                let grown = initial_delay.as_millis() as f64 * factor;
                let capped = grown.min(max_delay.as_millis() as f64);
                let share = if jitter {
                    0.5 + (dice >> 11) as f64 / (1u64 << 54) as f64
                } else {
                    1.0
                };
                Duration::from_millis((capped * share).round() as u64)
            }
        }
    }
}

impl FallbackPolicy {
    fn validate(&self) -> Result<(), Rejection> {
        let invalid = |detail: &str| Err(Code::InvalidPolicy.because(detail));
        if self.tiers.is_empty() {
            return invalid("fallback_policy.tiers is empty");
        }
        if self.tiers.len() > limits::FALLBACK_TIERS_MAX {
            return invalid("fallback_policy.tiers has more than 64 tiers");
        }
        if self
            .tiers
            .iter()
            .any(|tier| tier.provider.is_empty() || tier.model.is_empty())
        {
            return invalid("fallback_policy: a tier needs a provider and a model");
        }
        if self
            .tiers
            .iter()
            .any(|tier| tier.provider.len() > 256 || tier.model.len() > 256)
        {
            return invalid("fallback_policy: provider and model have at most 256 bytes");
        }
        Ok(())
    }
}
