//! Whether the engine answers, said once when it stops to and once when it does again.

use std::time::Instant;

use ff_core::error::Rejection;

/// Whether the engine answers.
#[derive(Default)]
pub(super) struct Connection {
    broken_since: Option<Instant>,
}

impl Connection {
    /// A call got no answer.
    pub(super) fn broke(&mut self, refusal: &Rejection) {
        if self.broken_since.is_none() {
            self.broken_since = Some(Instant::now());
            tracing::warn!(%refusal, "the engine does not answer; running tasks go on, what they finish is kept and sent again");
        }
    }

    /// A call was answered. Whether it had not been before.
    pub(super) fn works(&mut self) -> bool {
        let Some(since) = self.broken_since.take() else {
            return false;
        };
        tracing::info!(after_ms = since.elapsed().as_millis(), "the engine answers again");
        true
    }
}
