//! How many partitions there are, and which one a thing lives in.

use std::fmt;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::crc16::crc16;
use super::tag::{Family, Partition};
use crate::digest::write_parts;
use crate::error::{Code, Rejection};
use crate::id::{BudgetId, ExecutionId, FlowId, QuotaPolicyId};
use crate::name::{IdempotencyKey, Namespace};

/// Most partitions of one family: a cluster has this many slots, more would only share them.
pub const PARTITIONS_MAX: u16 = 16_384;

/// How many partitions each family has; written at a store's first start and never changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "UncheckedCounts")]
pub struct PartitionCounts {
    flow: u16,
    budget: u16,
    quota: u16,
}

#[derive(Deserialize)]
struct UncheckedCounts {
    flow: u16,
    budget: u16,
    quota: u16,
}

impl TryFrom<UncheckedCounts> for PartitionCounts {
    type Error = Rejection;

    fn try_from(counts: UncheckedCounts) -> Result<Self, Rejection> {
        Self::new(counts.flow, counts.budget, counts.quota)
    }
}

impl Default for PartitionCounts {
    fn default() -> Self {
        Self {
            flow: 256,
            budget: 32,
            quota: 32,
        }
    }
}

impl PartitionCounts {
    /// Counts from 1 to [`PARTITIONS_MAX`] for each family.
    pub fn new(flow: u16, budget: u16, quota: u16) -> Result<Self, Rejection> {
        let counts = Self { flow, budget, quota };
        for family in Family::ALL {
            let count = counts.count(family);
            if !(1..=PARTITIONS_MAX).contains(&count) {
                let name = family.letters();
                let detail = format!("partition count of {name} must be between 1 and {PARTITIONS_MAX}, got {count}");
                return Err(Code::InvalidInput.because(detail));
            }
        }
        Ok(counts)
    }

    /// How many partitions `family` has.
    pub const fn count(&self, family: Family) -> u16 {
        match family {
            Family::Flow => self.flow,
            Family::Budget => self.budget,
            Family::Quota => self.quota,
        }
    }

    /// Every partition of `family`, in order.
    pub fn all(&self, family: Family) -> impl Iterator<Item = Partition> + use<> {
        (0..self.count(family)).map(move |index| Partition { family, index })
    }

    /// Where a flow and all its members live.
    pub const fn of_flow(&self, id: FlowId) -> Partition {
        Partition::flow(index_of(id.uuid(), self.flow))
    }

    /// Where a budget lives.
    pub const fn of_budget(&self, id: BudgetId) -> Partition {
        Partition::budget(index_of(id.uuid(), self.budget))
    }

    /// Where a quota policy lives.
    pub const fn of_quota(&self, id: QuotaPolicyId) -> Partition {
        Partition::quota(index_of(id.uuid(), self.quota))
    }

    /// Where a solo execution without an idempotency key lives.
    pub const fn of_execution_uuid(&self, uuid: Uuid) -> Partition {
        Partition::flow(index_of(uuid, self.flow))
    }

    /// Where a solo execution with an idempotency key lives, so that equal keys always meet.
    pub fn of_idempotency_key(&self, namespace: &Namespace, key: &IdempotencyKey) -> Partition {
        let mut crc = 0;
        write_parts([namespace.as_str(), key.as_str()], |bytes| crc = crc16(crc, bytes));
        Partition::flow(crc % self.flow)
    }

    /// Refuses an execution id whose partition does not exist here.
    pub fn check(&self, id: ExecutionId) -> Result<(), Rejection> {
        let (index, count) = (id.partition().index, self.flow);
        if index < count {
            return Ok(());
        }
        let detail = format!("execution id {id} names flow partition {index}, but there are only {count}");
        Err(Code::InvalidId.because(detail))
    }

    /// Whether a store created with the `stored` counts can be used with these.
    pub fn verify(&self, stored: &PartitionCounts) -> Result<(), CountsMismatch> {
        if self == stored {
            return Ok(());
        }
        let (configured, stored) = (*self, *stored);
        Err(CountsMismatch { configured, stored })
    }
}

impl fmt::Display for PartitionCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "flow {}, budget {}, quota {}", self.flow, self.budget, self.quota)
    }
}

/// The store was created with other partition counts; starting anyway would look for records where they are not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("partition counts cannot change: the store has ({stored}), the configuration says ({configured})")]
pub struct CountsMismatch {
    /// What this process was told to use.
    pub configured: PartitionCounts,
    /// What the store was created with.
    pub stored: PartitionCounts,
}

const fn index_of(uuid: Uuid, count: u16) -> u16 {
    crc16(0, uuid.as_bytes()) % count
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key_partition(namespace: &str, key: &str) -> Partition {
        let (namespace, key) = (
            Namespace::parse(namespace).unwrap(),
            IdempotencyKey::parse(key).unwrap(),
        );
        PartitionCounts::new(PARTITIONS_MAX, 1, 1)
            .unwrap()
            .of_idempotency_key(&namespace, &key)
    }

    #[test]
    fn the_index_is_the_checksum_of_the_uuid_modulo_the_count() {
        let uuid = Uuid::from_u128(0x0190_c5d4_7a6b_7c3d_8e9f_a0b1_c2d3_e4f5);
        let crc = crc16(0, uuid.as_bytes());
        let counts = PartitionCounts::default();
        assert_eq!(counts.of_flow(FlowId::from_uuid(uuid)), Partition::flow(crc % 256));
        assert_eq!(counts.of_execution_uuid(uuid), Partition::flow(crc % 256));
        assert_eq!(counts.of_budget(BudgetId::from_uuid(uuid)), Partition::budget(crc % 32));
        assert_eq!(
            counts.of_quota(QuotaPolicyId::from_uuid(uuid)),
            Partition::quota(crc % 32)
        );
    }

    #[test]
    fn equal_keys_meet_and_the_namespace_counts() {
        assert_eq!(key_partition("a", "order-1"), key_partition("a", "order-1"));
        assert_ne!(key_partition("a", "order-1"), key_partition("b", "order-1"));
        assert_ne!(key_partition("ab", "c"), key_partition("a", "bc"));
    }

    #[test]
    fn an_execution_of_a_partition_beyond_the_count_is_refused() {
        let counts = PartitionCounts::default();
        let id = |index| ExecutionId::new(index, Uuid::nil());
        assert!(counts.check(id(255)).is_ok());
        let refused = counts.check(id(256)).unwrap_err();
        assert_eq!(refused.code, Code::InvalidId);
        assert!(refused.detail.contains("partition 256") && refused.detail.contains("only 256"));
    }

    #[test]
    fn counts_are_checked_however_they_come_in() {
        for (flow, budget, quota) in [(0, 1, 1), (1, 0, 1), (1, 1, 0), (16_385, 1, 1)] {
            let refused = PartitionCounts::new(flow, budget, quota).unwrap_err();
            assert_eq!(refused.code, Code::InvalidInput);
        }
        assert!(serde_json::from_str::<PartitionCounts>(r#"{"flow":0,"budget":1,"quota":1}"#).is_err());
        let json = serde_json::to_string(&PartitionCounts::default()).unwrap();
        assert_eq!(json, r#"{"flow":256,"budget":32,"quota":32}"#);
        assert_eq!(
            serde_json::from_str::<PartitionCounts>(&json).unwrap(),
            PartitionCounts::default()
        );
    }

    #[test]
    fn every_partition_of_a_family_is_listed_once() {
        let counts = PartitionCounts::new(2, 3, 1).unwrap();
        let listed: Vec<Partition> = counts.all(Family::Budget).collect();
        assert_eq!(listed, [0, 1, 2].map(Partition::budget));
    }

    #[test]
    fn a_mismatch_names_both_counts() {
        let stored = PartitionCounts::default();
        assert!(stored.verify(&stored).is_ok());
        let configured = PartitionCounts::new(128, 32, 32).unwrap();
        let message = configured.verify(&stored).unwrap_err().to_string();
        assert!(
            message.contains("flow 256") && message.contains("flow 128"),
            "{message}"
        );
    }
}
