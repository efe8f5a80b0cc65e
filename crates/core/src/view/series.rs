//! What happened, minute by minute.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::{Code, Rejection};
use crate::id::BudgetId;
use crate::limits::{SERIES_KEPT_FOR, SERIES_OF_MAX};
use crate::name::{Dimension, ExecutionKind, LaneId, Namespace};
use crate::time::{Duration, Timestamp};

/// The shortest step.
const MINUTE: Duration = Duration::from_secs(60);

/// Asks what happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReadSeries {
    /// The tenant; unless given that of the key, or else `default`.
    #[serde(default = "Namespace::default_namespace")]
    pub namespace: Namespace,
    /// Of what: `all`, `lane:NAME`, `kind:NAME` or `budget:ID`, at most 50; none: `all`.
    #[serde(default)]
    pub of: Vec<SeriesOf>,
    /// From when on; absent: for an hour. At most a day is remembered.
    pub from: Option<Timestamp>,
    /// How long each number is for: whole minutes; absent: one.
    #[serde(rename = "step_ms", default = "minute")]
    pub step: Duration,
}

const fn minute() -> Duration {
    MINUTE
}

impl ReadSeries {
    /// Refuses what is too much, or no number of minutes.
    pub fn check(&self) -> Result<(), Rejection> {
        if self.of.len() > SERIES_OF_MAX {
            let asked = self.of.len();
            return Err(Code::InvalidInput.because(format!("/of: at most {SERIES_OF_MAX} at once, not {asked}")));
        }
        let step = self.step.as_millis();
        if step == 0 || !step.is_multiple_of(MINUTE.as_millis()) || self.step > SERIES_KEPT_FOR {
            return Err(Code::InvalidInput.because(format!(
                "/step_ms: whole minutes, {MINUTE} to {SERIES_KEPT_FOR}, not {}",
                self.step
            )));
        }
        Ok(())
    }
}

/// What a series is of.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(with = "String"))]
pub enum SeriesOf {
    /// Everything in the namespace.
    All,
    /// A lane.
    Lane(LaneId),
    /// A kind of execution.
    Kind(ExecutionKind),
    /// A budget.
    Budget(BudgetId),
}

impl fmt::Display for SeriesOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SeriesOf::All => f.write_str("all"),
            SeriesOf::Lane(lane) => write!(f, "lane:{lane}"),
            SeriesOf::Kind(kind) => write!(f, "kind:{kind}"),
            SeriesOf::Budget(id) => write!(f, "budget:{id}"),
        }
    }
}

impl FromStr for SeriesOf {
    type Err = Rejection;

    fn from_str(text: &str) -> Result<Self, Rejection> {
        let unknown = || Code::InvalidInput.because("a series is of all, lane:NAME, kind:NAME or budget:ID");
        match text.split_once(':') {
            None if text == "all" => Ok(SeriesOf::All),
            Some(("lane", name)) => Ok(SeriesOf::Lane(LaneId::parse(name)?)),
            Some(("kind", name)) => Ok(SeriesOf::Kind(ExecutionKind::parse(name)?)),
            Some(("budget", id)) => Ok(SeriesOf::Budget(id.parse()?)),
            _ => Err(unknown()),
        }
    }
}

impl Serialize for SeriesOf {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for SeriesOf {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse()
            .map_err(|refused: Rejection| serde::de::Error::custom(refused.detail))
    }
}

/// What happened. All columns have the same length: a number for each step, the last one for the step under way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Series {
    /// The tenant.
    pub namespace: Namespace,
    /// When the first step began.
    pub from: Timestamp,
    /// How long each is.
    #[serde(rename = "step_ms")]
    pub step: Duration,
    /// Up to when other servers have told what they saw; this one's own is up to now.
    pub as_of: Timestamp,
    /// As they were asked for.
    pub series: Vec<Columns>,
}

/// The numbers of one thing. Columns that it does not have are left out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Columns {
    /// Of what.
    pub of: SeriesOf,
    /// New executions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub submitted: Vec<u64>,
    /// Executions handed to a worker, also to go on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub started: Vec<u64>,
    /// Ended well.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub completed: Vec<u64>,
    /// Ended badly.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<u64>,
    /// Ended by cancellation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cancelled: Vec<u64>,
    /// Ended by a deadline.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expired: Vec<u64>,
    /// Ended without having run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<u64>,
    /// Attempts that failed and will be tried again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub retried: Vec<u64>,
    /// Leases that ran out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lease_lost: Vec<u64>,
    /// How long what was handed out had stood ready, all together.
    #[serde(rename = "wait_ms", default, skip_serializing_if = "Vec::is_empty")]
    pub waited: Vec<u64>,
    /// How long the last attempts of what ended were under leases, all together.
    #[serde(rename = "run_ms", default, skip_serializing_if = "Vec::is_empty")]
    pub ran: Vec<u64>,
    /// Half of what completed ran for less; null: nothing did.
    #[serde(rename = "p50_ms", default, skip_serializing_if = "Vec::is_empty")]
    pub p50: Vec<Option<u64>>,
    /// 95 of a hundred that completed ran for less; null: nothing did.
    #[serde(rename = "p95_ms", default, skip_serializing_if = "Vec::is_empty")]
    pub p95: Vec<Option<u64>>,
    /// Executions that waited for a worker; null: nobody looked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waiting: Vec<Option<u64>>,
    /// Executions under a lease; null: nobody looked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub running: Vec<Option<u64>>,
    /// How old the oldest one was that waited for a worker, 0 if none did; null: nobody looked.
    #[serde(rename = "oldest_ms", default, skip_serializing_if = "Vec::is_empty")]
    pub oldest: Vec<Option<u64>>,
    /// What a budget was charged, by dimension: what executions reported, and what was charged without a lease.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub dimensions: BTreeMap<Dimension, Spent>,
}

/// What was charged of one dimension.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Spent {
    /// All of it, by when it was charged. What the budget had counted already is not counted again.
    pub used: Vec<u64>,
    /// By the kind of execution that reported it; what was charged without a lease is of no kind, and only in `used`.
    pub by_kind: BTreeMap<String, Vec<u64>>,
}

impl Columns {
    /// Of something, without numbers.
    pub fn none(of: SeriesOf) -> Self {
        Self {
            of,
            submitted: Vec::new(),
            started: Vec::new(),
            completed: Vec::new(),
            failed: Vec::new(),
            cancelled: Vec::new(),
            expired: Vec::new(),
            skipped: Vec::new(),
            retried: Vec::new(),
            lease_lost: Vec::new(),
            waited: Vec::new(),
            ran: Vec::new(),
            p50: Vec::new(),
            p95: Vec::new(),
            waiting: Vec::new(),
            running: Vec::new(),
            oldest: Vec::new(),
            dimensions: BTreeMap::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_series_is_of_is_one_text() {
        for text in [
            "all",
            "lane:agents",
            "lane:a:b",
            "kind:demo.greet",
            "budget:0190c5d4-7a6b-7c3d-8e9f-a0b1c2d3e4f5",
        ] {
            assert_eq!(text.parse::<SeriesOf>().unwrap().to_string(), text);
        }
        for bad in ["", "ALL", "lane", "lane:", "budget:x", "queue:a"] {
            assert!(bad.parse::<SeriesOf>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_step_is_whole_minutes() {
        let asked = |step| ReadSeries {
            namespace: Namespace::default_namespace(),
            of: Vec::new(),
            from: None,
            step: Duration::from_millis(step),
        };
        assert!(asked(60_000).check().is_ok() && asked(86_400_000).check().is_ok());
        for bad in [0, 1, 90_000, 86_460_000] {
            assert_eq!(asked(bad).check().unwrap_err().code, Code::InvalidInput, "{bad}");
        }
        let many = ReadSeries {
            of: vec![SeriesOf::All; 51],
            ..asked(60_000)
        };
        assert!(many.check().is_err());
    }
}
