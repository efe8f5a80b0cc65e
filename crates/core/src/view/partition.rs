//! How the parts of the store are looked after.

use serde::{Deserialize, Serialize};

use crate::partition::Family;
use crate::time::Timestamp;

/// Asks how the parts of the store are looked after.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListPartitions {}

/// One part of the store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PartitionView {
    /// What it holds: `flow`, `budget` or `quota`.
    pub family: Family,
    /// Which of them: an execution's id names the one it lives in.
    pub index: u16,
    /// The process that does there what time brings, by a name made at its start; absent: nobody at the moment.
    pub pumped_by: Option<String>,
    /// Until when, unless it goes on.
    pub pumped_until: Option<Timestamp>,
    /// Since when its longest overdue work waits; absent: nothing is due there.
    pub due_since: Option<Timestamp>,
}
