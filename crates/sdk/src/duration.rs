//! Lengths of time as people say them.

use std::time::Duration;

/// So many seconds.
pub const fn secs(count: u64) -> Duration {
    Duration::from_secs(count)
}

/// So many minutes.
pub const fn mins(count: u64) -> Duration {
    Duration::from_secs(count.saturating_mul(60))
}

/// So many hours.
pub const fn hours(count: u64) -> Duration {
    mins(count.saturating_mul(60))
}

/// So many days.
pub const fn days(count: u64) -> Duration {
    hours(count.saturating_mul(24))
}

/// The same in the engine's milliseconds; what is shorter than one is one, so that no limit becomes 0 by rounding.
pub(crate) fn millis(duration: Duration) -> ff_core::time::Duration {
    let millis = duration.as_micros().div_ceil(1_000);
    ff_core::time::Duration::from_millis(u64::try_from(millis).unwrap_or(u64::MAX))
}
