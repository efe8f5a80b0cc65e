//! How a signal is read.

use serde::{Deserialize, Serialize};

use crate::payload::Payload;
use crate::record::Signal;

/// An accepted signal with what came with it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SignalView {
    /// The signal.
    #[serde(rename = "..signal")]
    pub signal: Signal,
    /// Its bytes.
    #[serde(rename = "payload:bytes")]
    pub payload: Payload,
}
