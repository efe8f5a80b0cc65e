//! How long things took, counted by range: a few atomics, no lock and no allocation.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use prometheus_client::encoding::{MetricEncoder, NoLabelSet};

/// Upper ends of ranges, in microseconds, in order. What is longer than the last is counted beyond all of them.
pub type Ranges = &'static [u64];

/// From a tenth of a millisecond to ten seconds: a call, a request.
pub const CALL_RANGES: Ranges = &[
    100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000,
    10_000_000,
];

/// From a millisecond to an hour: waiting for somebody.
pub const WAIT_RANGES: Ranges = &[
    1_000,
    5_000,
    10_000,
    50_000,
    100_000,
    500_000,
    1_000_000,
    5_000_000,
    10_000_000,
    30_000_000,
    60_000_000,
    300_000_000,
    900_000_000,
    3_600_000_000,
];

/// Durations by range, with their sum.
pub struct Histogram {
    ranges: Ranges,
    /// One per range, and one for what is beyond.
    counts: Box<[AtomicU64]>,
    sum_micros: AtomicU64,
}

impl Histogram {
    /// An empty one.
    pub fn new(ranges: Ranges) -> Self {
        Self {
            ranges,
            counts: (0..=ranges.len()).map(|_| AtomicU64::new(0)).collect(),
            sum_micros: AtomicU64::new(0),
        }
    }

    /// Counts one duration.
    pub fn observe(&self, duration: Duration) {
        let micros = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        let range = self.ranges.partition_point(|end| *end < micros);
        self.counts[range].fetch_add(1, Ordering::Relaxed);
        self.sum_micros.fetch_add(micros, Ordering::Relaxed);
    }

    /// Writes it, in seconds. What is counted meanwhile is in the ranges and the count alike, or in neither.
    pub fn write(&self, encoder: &mut MetricEncoder<'_>) -> fmt::Result {
        let ends = self.ranges.iter().map(|micros| seconds(*micros)).chain([f64::INFINITY]);
        let counts = self.counts.iter().map(|count| count.load(Ordering::Relaxed));
        let ranges: Vec<(f64, u64)> = ends.zip(counts).collect();
        let count = ranges.iter().map(|(_, count)| count).sum();
        let sum = seconds(self.sum_micros.load(Ordering::Relaxed));
        encoder.encode_histogram::<NoLabelSet>(sum, count, &ranges, None)
    }
}

/// Exact enough: a double holds three centuries of microseconds.
pub(super) fn seconds(micros: u64) -> f64 {
    micros as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_falls_into_the_first_range_that_holds_it() {
        let histogram = Histogram::new(&[100, 1_000]);
        for micros in [1, 100, 101, 1_000, 1_001, 5_000_000] {
            histogram.observe(Duration::from_micros(micros));
        }
        let counts: Vec<u64> = histogram
            .counts
            .iter()
            .map(|count| count.load(Ordering::Relaxed))
            .collect();
        assert_eq!(counts, [2, 2, 2]);
        assert_eq!(histogram.sum_micros.load(Ordering::Relaxed), 5_002_203);
    }
}
