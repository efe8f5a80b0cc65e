//! How long many of the same took.

use std::fmt;
use std::time::Duration;

/// How long many of the same took, the shortest first.
pub(super) struct Times(Vec<Duration>);

impl Times {
    pub(super) fn of(mut times: Vec<Duration>) -> Self {
        times.sort();
        Self(times)
    }

    /// So many percent of them took no longer.
    pub(super) fn at(&self, percent: usize) -> Duration {
        self.0.get(self.0.len() * percent / 100).copied().unwrap_or_default()
    }
}

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let milliseconds = |percent| self.at(percent).as_secs_f64() * 1e3;
        write!(f, "p50 {:.2} ms, p99 {:.2} ms", milliseconds(50), milliseconds(99))
    }
}
