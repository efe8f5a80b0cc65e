//! What tests that start `ff` share.

pub(crate) mod http;

use std::process::Child;

/// A process that does not outlive the test.
pub(crate) struct Process(pub(crate) Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
