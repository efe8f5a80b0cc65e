//! What tests want to know of steps, and to have instead of them.

use ff_core::id::ExecutionId;
use ff_core::name::StepKey;
use ff_core::payload::Payload;

/// Told what steps do.
pub(crate) trait Probe: Send + Sync {
    /// A body is about to run. What is given here is taken for what it gives, and it does not run.
    fn begins(&self, id: ExecutionId, key: &StepKey) -> Option<Payload>;
}
