//! How a signal is read.

use serde::{Deserialize, Serialize};

use crate::payload::Payload;
use crate::record::Signal;

/// An accepted signal with what came with it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SignalView {
    /// The record; its fields stand beside the payload.
    #[serde(rename = "..signal")]
    pub signal: Signal,
    /// Kept apart from the record, for its size.
    #[serde(rename = "payload:bytes")]
    pub payload: Payload,
}
