//! Quota policies: create, change, delete, read.

use serde::{Deserialize, Serialize};

use crate::id::QuotaPolicyId;
use crate::name::Namespace;
use crate::time::{Duration, Timestamp};
use crate::view::HowMany;

/// Creates a quota policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CreateQuotaPolicy {
    /// Its id; minted when absent.
    pub quota_policy_id: Option<QuotaPolicyId>,
    /// The tenant; unless given that of the key, or else `default`.
    #[serde(default = "Namespace::default_namespace")]
    pub namespace: Namespace,
    /// How long a request counts: 1 s to 31 days; absent: 60 s.
    #[cfg_attr(feature = "schema", schemars(with = "f64"))]
    #[serde(rename = "window_seconds", with = "crate::time::seconds", default = "default_window")]
    pub window: Duration,
    /// Attempts that may start in any window; absent is no limit, 0 is none.
    pub max_requests_per_window: Option<u64>,
    /// Leases that may be held at once; absent is no limit, 0 is none.
    pub max_concurrent: Option<u64>,
    /// Up to this much, at random, is added to what refused callers are told to wait; absent: nothing.
    #[serde(rename = "jitter_ms", default)]
    pub jitter: Duration,
}

fn default_window() -> Duration {
    Duration::from_secs(60)
}

/// What became of a creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum QuotaCreated {
    /// It is there now.
    Created,
    /// It was created before with the same definition.
    Exists,
}

/// A quota policy that is there now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CreatedQuotaPolicy {
    /// As given, or minted: what the policies of executions name it by.
    pub quota_policy_id: QuotaPolicyId,
    /// New, or there before.
    #[serde(rename = "status")]
    pub created: QuotaCreated,
}

/// Changes a quota policy; what is not named stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UpdateQuotaPolicy {
    /// How long a request counts: 1 s to 31 days; absent: as before.
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    #[serde(rename = "window_seconds", with = "crate::time::optional_seconds", default)]
    pub window: Option<Duration>,
    /// Attempts that may start in any window; absent: as before, `null`: no limit.
    #[cfg_attr(feature = "schema", schemars(with = "Option<u64>"))]
    #[serde(default, skip_serializing_if = "LimitChange::is_keep")]
    pub max_requests_per_window: LimitChange,
    /// Leases that may be held at once; absent: as before, `null`: no limit. Who has one keeps it.
    #[cfg_attr(feature = "schema", schemars(with = "Option<u64>"))]
    #[serde(default, skip_serializing_if = "LimitChange::is_keep")]
    pub max_concurrent: LimitChange,
    /// The most that is added, at random, to what refused callers are told to wait; absent: as before.
    #[serde(rename = "jitter_ms")]
    pub jitter: Option<Duration>,
}

/// What happens to one limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LimitChange {
    /// It stays.
    #[default]
    Keep,
    /// There is none any more.
    Remove,
    /// This one holds.
    Set(u64),
}

/// Absent: it stays; `null`: there is none; a number: this one.
impl Serialize for LimitChange {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            LimitChange::Keep => serializer.serialize_none(),
            LimitChange::Remove => serializer.serialize_unit(),
            LimitChange::Set(limit) => serializer.serialize_u64(*limit),
        }
    }
}

impl<'de> Deserialize<'de> for LimitChange {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let limit = Option::<u64>::deserialize(deserializer)?;
        Ok(limit.map_or(LimitChange::Remove, LimitChange::Set))
    }
}

impl LimitChange {
    fn is_keep(&self) -> bool {
        *self == LimitChange::Keep
    }

    /// The limit after the change.
    pub const fn apply(self, limit: Option<u64>) -> Option<u64> {
        match self {
            LimitChange::Keep => limit,
            LimitChange::Remove => None,
            LimitChange::Set(limit) => Some(limit),
        }
    }
}

/// A quota policy as it is read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QuotaPolicyView {
    /// What the policies of executions name it by.
    pub quota_policy_id: QuotaPolicyId,
    /// The tenant whose executions it limits.
    pub namespace: Namespace,
    /// How long a request counts, in seconds.
    #[cfg_attr(feature = "schema", schemars(with = "f64"))]
    #[serde(rename = "window_seconds", with = "crate::time::seconds")]
    pub window: Duration,
    /// Attempts that may start in any window; absent is no limit, 0 is none.
    pub max_requests_per_window: Option<u64>,
    /// Leases that may be held at once; absent is no limit, 0 is none.
    pub max_concurrent: Option<u64>,
    /// The most that is added, at random, to what refused callers are told to wait.
    #[serde(rename = "jitter_ms")]
    pub jitter: Duration,
    /// When it was created.
    pub created_at: Timestamp,
    /// Moves whenever blocked work may have become admissible.
    pub generation: u64,
    /// Slots taken now, by leases and by grants; `max_concurrent` limits them.
    pub in_use: u64,
    /// Places taken in the current window; counted only while there is a rate.
    pub requests_in_window: u64,
    /// How many executions were refused because of it, and wait.
    #[serde(default)]
    pub waiting: HowMany,
    /// How many this server refused because of it in the last minute.
    #[serde(default)]
    pub refused_last_minute: u64,
    /// Since when this server has admitted nobody, while it refused somebody in the last minute.
    pub closed_since: Option<Timestamp>,
    /// Whether it limits anything.
    pub state: QuotaState,
}

/// Whether a quota policy limits anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum QuotaState {
    /// Its limits hold.
    Active,
    /// It was deleted and limits nothing.
    Deleted,
}
