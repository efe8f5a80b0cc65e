//! The name of a partition.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Code, Rejection};

/// What kind of things a partition holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// Executions, flows and everything that belongs to them.
    Flow,
    /// Budgets and their usage.
    Budget,
    /// Quota policies, their windows and slots.
    Quota,
}

impl Family {
    /// Every family.
    pub const ALL: [Family; 3] = [Family::Flow, Family::Budget, Family::Quota];

    /// The letters that stand for the family in a partition's tag.
    pub const fn letters(self) -> &'static str {
        match self {
            Family::Flow => "fp",
            Family::Budget => "b",
            Family::Quota => "q",
        }
    }
}

/// One partition, written as its tag: `{fp:N}`, `{b:M}` or `{q:K}`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Partition {
    /// What it holds.
    pub family: Family,
    /// Its number inside the family, from 0.
    pub index: u16,
}

impl Partition {
    /// Flow partition `index`.
    pub const fn flow(index: u16) -> Self {
        let family = Family::Flow;
        Self { family, index }
    }

    /// Budget partition `index`.
    pub const fn budget(index: u16) -> Self {
        let family = Family::Budget;
        Self { family, index }
    }

    /// Quota partition `index`.
    pub const fn quota(index: u16) -> Self {
        let family = Family::Quota;
        Self { family, index }
    }
}

impl FromStr for Partition {
    type Err = Rejection;

    fn from_str(text: &str) -> Result<Self, Rejection> {
        let inside = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
        let parsed = inside.and_then(|inside| {
            let (letters, index) = inside.split_once(':')?;
            let family = Family::ALL.into_iter().find(|family| family.letters() == letters)?;
            let index = index.parse().ok()?;
            Some(Partition { family, index })
        });
        // `parse` takes signs and leading zeros; a partition has one spelling.
        let exact = parsed.filter(|partition| partition.to_string() == text);
        exact.ok_or_else(|| {
            let detail = format!("partition must look like {{fp:N}}, {{b:M}} or {{q:K}}, got {text:?}");
            Code::InvalidId.because(detail)
        })
    }
}

impl TryFrom<String> for Partition {
    type Error = Rejection;

    fn try_from(text: String) -> Result<Self, Rejection> {
        text.parse()
    }
}

impl From<Partition> for String {
    fn from(partition: Partition) -> String {
        partition.to_string()
    }
}

impl fmt::Display for Partition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{}:{}}}", self.family.letters(), self.index)
    }
}

impl fmt::Debug for Partition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Partition({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_partition_prints_as_it_is_parsed() {
        for (partition, tag) in [
            (Partition::flow(0), "{fp:0}"),
            (Partition::budget(31), "{b:31}"),
            (Partition::quota(65_535), "{q:65535}"),
        ] {
            assert_eq!(partition.to_string(), tag);
            assert_eq!(tag.parse::<Partition>().unwrap(), partition);
            assert_eq!(serde_json::to_value(partition).unwrap(), tag);
            assert_eq!(serde_json::from_value::<Partition>(tag.into()).unwrap(), partition);
        }
    }

    #[test]
    fn a_partition_has_exactly_one_spelling() {
        for bad in [
            "",
            "fp:1",
            "{fp:1",
            "fp:1}",
            "{fp:}",
            "{fp:01}",
            "{fp:+1}",
            "{fp:-1}",
            "{fp:65536}",
            "{FP:1}",
            "{x:1}",
            "{fp:1} ",
            "{{fp:1}}",
            "{fp 1}",
        ] {
            assert_eq!(bad.parse::<Partition>().unwrap_err().code, Code::InvalidId, "{bad:?}");
        }
    }
}
