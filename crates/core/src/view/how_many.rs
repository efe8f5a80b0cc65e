//! Numbers that may have been counted only so far.

use serde::{Deserialize, Serialize};

/// How many there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HowMany {
    /// As many as were counted.
    pub n: u64,
    /// There may be more: counting stopped.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_least: bool,
}

impl HowMany {
    /// Adds a length that was counted up to `counted`.
    pub fn add(&mut self, length: u64, counted: u64) {
        self.n += length;
        self.at_least |= length >= counted;
    }
}
