//! What an engine can be told.

use std::time::Duration;

use ff_core::machine::Settings;
use ff_core::partition::PartitionCounts;

/// The settings of one engine.
#[derive(Clone, Debug)]
pub struct Config {
    /// Partitions of the store; the same as the store was opened with.
    pub counts: PartitionCounts,
    /// What rules depend on.
    pub rules: Settings,
    /// How often everything is looked at that a lost hint may have hidden.
    pub liveness_interval: Duration,
    /// How often a sample of records is compared with its index entries.
    pub audit_interval: Duration,
    /// Duties of the pump that do nothing.
    #[cfg(feature = "switches")]
    pub disabled: std::collections::BTreeSet<crate::pump::Duty>,
}

impl Config {
    /// The defaults, for a store with `counts` partitions.
    pub fn new(counts: PartitionCounts) -> Self {
        Self {
            counts,
            rules: Settings::default(),
            liveness_interval: Duration::from_secs(10),
            audit_interval: Duration::from_secs(300),
            #[cfg(feature = "switches")]
            disabled: std::collections::BTreeSet::new(),
        }
    }

    /// Whether a duty of the pump is done.
    #[cfg(feature = "switches")]
    pub(crate) fn serves(&self, duty: crate::pump::Duty) -> bool {
        !self.disabled.contains(&duty)
    }

    /// Only tests can turn one off.
    #[cfg(not(feature = "switches"))]
    pub(crate) const fn serves(&self, _: crate::pump::Duty) -> bool {
        true
    }
}
