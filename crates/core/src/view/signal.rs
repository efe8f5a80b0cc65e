//! How a signal is read.

use crate::payload::Payload;
use crate::record::Signal;

/// An accepted signal with what came with it.
#[derive(Clone, Debug, PartialEq)]
pub struct SignalView {
    /// The signal.
    pub signal: Signal,
    /// Its bytes.
    pub payload: Payload,
}
