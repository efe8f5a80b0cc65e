//! What is remembered of one thing: some numbers for each minute in which there were any.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use ff_core::id::BudgetId;
use ff_core::name::{Dimension, ExecutionKind, LaneId};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::tracks::Group;

/// What is counted of a lane, by the place of its number.
pub(crate) struct LaneCounts {
    pub(crate) submitted: usize,
    pub(crate) started: usize,
    pub(crate) completed: usize,
    pub(crate) failed: usize,
    pub(crate) cancelled: usize,
    pub(crate) expired: usize,
    pub(crate) skipped: usize,
    pub(crate) retried: usize,
    pub(crate) lease_lost: usize,
    pub(crate) waited: usize,
    pub(crate) ran: usize,
}

pub(crate) const LANE_COUNTS: LaneCounts = LaneCounts {
    submitted: 0,
    started: 1,
    completed: 2,
    failed: 3,
    cancelled: 4,
    expired: 5,
    skipped: 6,
    retried: 7,
    lease_lost: 8,
    waited: 9,
    ran: 10,
};

impl LaneCounts {
    /// Where the ends of executions are counted.
    pub(super) const ENDED: RangeInclusive<usize> = LANE_COUNTS.completed..=LANE_COUNTS.skipped;
    /// Where those are counted that ended badly.
    pub(super) const FAILED: [usize; 2] = [LANE_COUNTS.failed, LANE_COUNTS.expired];

    pub(crate) const fn len(&self) -> usize {
        self.ran + 1
    }
}

/// What is counted of a kind, by the place of its number.
pub(crate) struct KindCounts {
    pub(crate) completed: usize,
    pub(crate) failed: usize,
    pub(crate) ran: usize,
    /// Where the numbers of [`BUCKETS`] begin.
    pub(crate) buckets: usize,
}

pub(crate) const KIND_COUNTS: KindCounts = KindCounts {
    completed: 0,
    failed: 1,
    ran: 2,
    buckets: 3,
};

/// What is seen of a lane: how much waits, how much runs, how old the oldest is.
pub(crate) const GAUGES: usize = 3;

/// How long what completed had run, in milliseconds: up to each of these, and longer.
const BUCKETS: [u64; 15] = [
    10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000, 60_000, 300_000, 900_000, 3_600_000,
];

/// What everything is called that is beyond what is told apart.
const OTHER: &str = "_other";
/// How much is told apart.
const LANES_MAX: usize = 500;
const KINDS_MAX: usize = 200;
const SPENT_MAX: usize = 500;

/// What a track is of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TrackName {
    /// What happened in a lane.
    Lane(LaneId),
    /// What stood in a lane.
    Gauge(LaneId),
    /// What happened to executions of a kind.
    Kind(ExecutionKind),
    /// What a budget was charged of a dimension by executions of a kind, or by nobody's execution.
    Spent {
        budget: BudgetId,
        dimension: Dimension,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kind: Option<ExecutionKind>,
    },
}

/// Which limit counts for a track.
pub(super) const fn class_of(name: &TrackName) -> (&'static str, usize) {
    match name {
        TrackName::Lane(_) => ("lane", LANES_MAX),
        TrackName::Gauge(_) => ("gauge", LANES_MAX),
        TrackName::Kind(_) => ("kind", KINDS_MAX),
        TrackName::Spent { .. } => ("spent", SPENT_MAX),
    }
}

impl TrackName {
    /// What it is asked for with.
    pub(super) const fn group(&self) -> Group {
        match self {
            TrackName::Lane(_) => Group::Lanes,
            TrackName::Gauge(_) => Group::Gauges,
            TrackName::Kind(_) => Group::Kinds,
            TrackName::Spent { budget, .. } => Group::Spent(*budget),
        }
    }

    /// How many numbers a minute of it has.
    pub(super) const fn columns(&self) -> usize {
        match self {
            TrackName::Lane(_) => LANE_COUNTS.len(),
            TrackName::Gauge(_) => GAUGES,
            TrackName::Kind(_) => KIND_COUNTS.buckets + BUCKETS.len() + 1,
            TrackName::Spent { .. } => 1,
        }
    }

    /// What it is counted as when there are too many of its class.
    pub(super) fn other(self) -> Self {
        let lane = |lane| LaneId::parse(OTHER).unwrap_or(lane);
        let kind = |kind| ExecutionKind::parse(OTHER).unwrap_or(kind);
        match self {
            TrackName::Lane(name) => TrackName::Lane(lane(name)),
            TrackName::Gauge(name) => TrackName::Gauge(lane(name)),
            TrackName::Kind(name) => TrackName::Kind(kind(name)),
            TrackName::Spent {
                dimension, kind: of, ..
            } => TrackName::Spent {
                budget: BudgetId::from_uuid(Uuid::nil()),
                dimension,
                kind: of.map(kind),
            },
        }
    }

    pub(super) fn is_other(&self) -> bool {
        *self == self.clone().other()
    }
}

/// Numbers by minute. What is zero at the end of a minute's numbers may be left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Track(BTreeMap<u64, Vec<u64>>);

impl Track {
    /// Counts; whether the minute is new.
    pub(super) fn add(&mut self, minute: u64, columns: usize, counts: &[(usize, u64)]) -> bool {
        let is_new = !self.0.contains_key(&minute);
        let cell = self.0.entry(minute).or_insert_with(|| vec![0; columns]);
        for (column, by) in counts {
            if let Some(count) = cell.get_mut(*column) {
                *count = count.saturating_add(*by);
            }
        }
        is_new
    }

    /// Takes back what was counted in a minute, as far as it was counted there; what is left to take.
    pub(super) fn take(&mut self, minute: u64, column: usize, by: u64) -> u64 {
        let count = self.0.get_mut(&minute).and_then(|cell| cell.get_mut(column));
        let Some(count) = count else { return by };
        let taken = by.min(*count);
        *count -= taken;
        by - taken
    }

    /// Notes what was seen; whether the minute is new.
    pub(super) fn set(&mut self, minute: u64, seen: &[u64]) -> bool {
        self.0.insert(minute, seen.to_vec()).is_none()
    }

    /// Adds another server's numbers from a minute on. What stands in a lane all of them see alike: of two looks, neither is added
    /// to the other.
    pub(super) fn merge(&mut self, other: &Track, from: u64, name: &TrackName) {
        let is_gauge = matches!(name, TrackName::Gauge(_));
        for (minute, numbers) in other.since(from) {
            let cell = self.0.entry(minute).or_insert_with(|| vec![0; name.columns()]);
            for (own, number) in cell.iter_mut().zip(numbers) {
                *own = if is_gauge {
                    (*own).max(*number)
                } else {
                    own.saturating_add(*number)
                };
            }
        }
    }

    /// A number; `None`: nothing is known of the minute.
    pub(crate) fn get(&self, minute: u64, column: usize) -> Option<u64> {
        let cell = self.0.get(&minute)?;
        Some(cell.get(column).copied().unwrap_or_default())
    }

    /// The minutes it knows of.
    pub(crate) fn minutes(&self) -> impl Iterator<Item = u64> {
        self.0.keys().copied()
    }

    /// The numbers of each minute it knows of, from one on.
    pub(super) fn since(&self, minute: u64) -> impl Iterator<Item = (u64, &[u64])> {
        let minutes = self.0.range(minute..);
        minutes.map(|(minute, numbers)| (*minute, numbers.as_slice()))
    }

    /// The numbers of a minute; empty: nothing is known of it.
    pub(super) fn numbers(&self, minute: u64) -> &[u64] {
        self.0.get(&minute).map_or(&[], Vec::as_slice)
    }

    /// A copy from a minute on.
    pub(super) fn copy_since(&self, minute: u64) -> Track {
        Track(
            self.since(minute)
                .map(|(minute, numbers)| (minute, numbers.to_vec()))
                .collect(),
        )
    }

    pub(super) fn first(&self) -> Option<u64> {
        self.0.keys().next().copied()
    }

    pub(super) fn last(&self) -> Option<u64> {
        self.0.keys().next_back().copied()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn forget_before(&mut self, minute: u64) {
        self.0 = self.0.split_off(&minute);
    }

    /// The minutes of an hour, without what is zero at their ends.
    pub(super) fn of_hour(&self, hour: u64) -> Track {
        let minutes = self.0.range(hour * 60..(hour + 1) * 60);
        let short = |numbers: &Vec<u64>| {
            let end = numbers
                .iter()
                .rposition(|number| *number != 0)
                .map_or(0, |last| last + 1);
            numbers[..end].to_vec()
        };
        Track(minutes.map(|(minute, numbers)| (*minute, short(numbers))).collect())
    }
}

/// The place among the buckets of something that ran so long.
pub(super) fn bucket_of(millis: u64) -> usize {
    BUCKETS.partition_point(|end| *end < millis)
}

/// How long at most the fastest of so many of a hundred ran, by how many are in each bucket; within a bucket they are taken to be
/// spread evenly.
pub(crate) fn percentile(counts: &[u64], of_hundred: u64) -> Option<u64> {
    let all: u64 = counts.iter().sum();
    let mut wanted = (all * of_hundred).div_ceil(100);
    for (place, count) in counts.iter().enumerate() {
        if *count >= wanted && *count > 0 {
            let last = BUCKETS[BUCKETS.len() - 1];
            let start = place.checked_sub(1).map_or(0, |before| BUCKETS[before]);
            let end = BUCKETS.get(place).copied().unwrap_or(last * 2);
            return Some(start + (end - start) * wanted / count);
        }
        wanted -= count;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lane(name: &str) -> TrackName {
        TrackName::Lane(LaneId::parse(name).unwrap())
    }

    #[test]
    fn minutes_of_several_servers_are_added_and_looks_are_not() {
        let (mut one, mut other) = (Track::default(), Track::default());
        assert!(one.add(7, 11, &[(0, 2), (2, 1)]) && !one.add(7, 11, &[(0, 1)]));
        other.add(7, 11, &[(2, 4)]);
        other.add(8, 11, &[(0, 5)]);
        other.add(3, 11, &[(0, 9)]);
        one.merge(&other.of_hour(0), 7, &lane("a"));
        let read = |minute, column| one.get(minute, column);
        assert_eq!(
            (read(7, 0), read(7, 2), read(8, 0), read(3, 0)),
            (Some(3), Some(5), Some(5), None)
        );
        let gauge = TrackName::Gauge(LaneId::parse("a").unwrap());
        let (mut one, mut other) = (Track::default(), Track::default());
        one.set(7, &[3, 0, 5]);
        other.set(7, &[2, 1]);
        one.merge(&other, 0, &gauge);
        assert_eq!([0, 1, 2].map(|column| one.get(7, column)), [Some(3), Some(1), Some(5)]);
    }

    #[test]
    fn what_is_taken_back_was_counted() {
        let mut track = Track::default();
        track.add(7, 1, &[(0, 5)]);
        assert_eq!((track.take(7, 0, 3), track.get(7, 0)), (0, Some(2)));
        assert_eq!((track.take(7, 0, 3), track.get(7, 0)), (1, Some(0)));
        assert_eq!((track.take(8, 0, 3), track.get(8, 0)), (3, None));
    }

    #[test]
    fn a_percentile_lies_in_its_bucket() {
        let mut counts = [0; 16];
        assert_eq!(percentile(&counts, 50), None);
        counts[bucket_of(700)] = 10;
        assert_eq!(percentile(&counts, 50), Some(750));
        counts[bucket_of(4_000)] = 1;
        assert!(percentile(&counts, 95).unwrap() > 2_000);
        assert_eq!(
            (bucket_of(0), bucket_of(10), bucket_of(11), bucket_of(u64::MAX)),
            (0, 0, 1, 15)
        );
        let mut endless = [0; 16];
        endless[15] = 1;
        assert_eq!(percentile(&endless, 95), Some(7_200_000));
    }

    #[test]
    fn what_is_beyond_the_limit_has_one_name() {
        assert_eq!(lane("a").other(), lane("_other"));
        assert!(lane("_other").is_other() && !lane("a").is_other());
    }
}
