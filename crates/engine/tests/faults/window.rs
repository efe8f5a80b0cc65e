//! What a store may lose: what was acknowledged shortly before a fault.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use ff_core::id::ExecutionId;

/// When a client asked and was answered. What was done was done in between.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub(crate) asked_at: Instant,
    pub(crate) answered_at: Instant,
}

/// A time in which what was acknowledged may be lost.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    from: Instant,
    fault_at: Instant,
    /// Where; everywhere if it is not said.
    partitions: Option<BTreeSet<u16>>,
}

impl Window {
    /// The time before a fault that happens now.
    pub(crate) fn before_now(length: Duration, partitions: Option<BTreeSet<u16>>) -> Self {
        let fault_at = Instant::now();
        Self {
            from: fault_at - length,
            fault_at,
            partitions,
        }
    }

    fn reaches(&self, id: ExecutionId, span: Span) -> bool {
        let here = |partitions: &BTreeSet<u16>| partitions.contains(&id.partition().index);
        self.partitions.as_ref().is_none_or(here) && span.answered_at >= self.from && span.asked_at <= self.fault_at
    }
}

/// The windows of all faults of a test.
#[derive(Default)]
pub(crate) struct Windows(Vec<Window>);

impl Windows {
    pub(crate) fn add(&mut self, window: Window) {
        self.0.push(window);
    }

    /// Nothing may be lost.
    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How long before a fault it was acknowledged, if that may have lost it.
    pub(crate) fn excuse(&self, id: ExecutionId, span: Span) -> Option<Duration> {
        let windows = self.0.iter().filter(|window| window.reaches(id, span));
        windows
            .map(|window| window.fault_at.saturating_duration_since(span.answered_at))
            .min()
    }
}
