//! What is asked all the time of what happened a moment ago: few numbers, and no walk over the day.

use ff_core::name::{LaneId, Namespace};
use ff_core::time::{Duration, Timestamp};

use super::track::{LANE_COUNTS, LaneCounts, Track, TrackName};
use super::{Group, Minutes, Wanted, minute_of};

/// For how many minutes back the looks at a lane are told.
const LOOKS_MINUTES: u64 = 12;
/// Where among the numbers of a look is how old the oldest one was.
const OLDEST: usize = 2;

/// What was counted in the last minute, by the place of its number.
type LastMinute = [f64; LANE_COUNTS.len()];

/// What happened in a lane lately, as far as it was counted and seen here.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Lately {
    /// What ended in the last minute, and what of it failed or expired.
    pub(crate) ended: f64,
    pub(crate) failed: f64,
    /// The same for the last hour.
    pub(crate) ended_in_hour: u64,
    pub(crate) failed_in_hour: u64,
    /// How old the oldest one was at the looks of the twelve minutes before the one under way, with the time of each, oldest look
    /// first.
    pub(crate) looks: Vec<(Timestamp, Duration)>,
}

impl Minutes {
    /// What happened in a lane lately.
    pub(crate) fn lately(&self, namespace: &Namespace, lane: &LaneId, now: Timestamp) -> Lately {
        let minute = minute_of(now);
        let (counted, seen) = (TrackName::Lane(lane.clone()), TrackName::Gauge(lane.clone()));
        let mut lately = Lately::default();
        let state = self.state();
        if let Some(track) = state.own.get(namespace, &counted) {
            let last = last_minute(track, now);
            lately.ended = LaneCounts::ENDED.map(|column| last[column]).sum();
            lately.failed = LaneCounts::FAILED.iter().map(|column| last[*column]).sum();
            for (_, numbers) in track.since(minute.saturating_sub(60)) {
                let of = |column: usize| numbers.get(column).copied().unwrap_or_default();
                lately.ended_in_hour += LaneCounts::ENDED.map(of).sum::<u64>();
                lately.failed_in_hour += LaneCounts::FAILED.iter().map(|column| of(*column)).sum::<u64>();
            }
        }
        if let Some(track) = state.own.get(namespace, &seen) {
            let looks = track.since(minute.saturating_sub(LOOKS_MINUTES));
            lately.looks = looks
                .take_while(|(of, _)| *of < minute)
                .map(|(minute, numbers)| {
                    let age = numbers.get(OLDEST).copied().unwrap_or_default();
                    (Timestamp::from_millis(minute * 60_000), Duration::from_millis(age))
                })
                .collect();
        }
        lately
    }

    /// What was counted here in the last minute in all lanes, by the place of its number.
    pub(crate) fn all_lately(&self, namespace: &Namespace, now: Timestamp) -> LastMinute {
        let mut all = [0.0; LANE_COUNTS.len()];
        let state = self.state();
        for (_, track) in state.own.find(namespace, &Wanted::All(Group::Lanes)) {
            let own = last_minute(track, now);
            all.iter_mut().zip(own).for_each(|(all, own)| *all += own);
        }
        all
    }
}

/// What was counted in the minute under way, and in the one before as far as it belongs to the last sixty seconds: it is taken to
/// be spread evenly.
fn last_minute(track: &Track, now: Timestamp) -> LastMinute {
    let minute = minute_of(now);
    let over = (now.as_millis() % 60_000) as f64 / 60_000.0;
    let (this, before) = (track.numbers(minute), track.numbers(minute.saturating_sub(1)));
    let of = |numbers: &[u64], column: usize| numbers.get(column).copied().unwrap_or_default() as f64;
    std::array::from_fn(|column| of(this, column) + of(before, column) * (1.0 - over))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use ff_backend::query::LaneDepth;

    use super::*;

    const NOON: u64 = 28_400_000;

    fn at(minute: u64, second: u64) -> Timestamp {
        Timestamp::from_millis((minute * 60 + second) * 1_000)
    }

    #[test]
    fn a_lane_lately_is_its_last_minute_its_last_hour_and_the_looks_of_twelve_minutes() {
        let (minutes, namespace) = (Minutes::default(), Namespace::default_namespace());
        let lane = LaneId::default_lane();
        let counts = [(NOON - 61, 1_000), (NOON - 60, 100), (NOON - 1, 8), (NOON, 2)];
        for (minute, count) in counts {
            let columns = [LANE_COUNTS.completed, LANE_COUNTS.failed, LANE_COUNTS.expired];
            let counts = columns.map(|column| (column, count));
            let name = TrackName::Lane(lane.clone());
            minutes.state().add(&namespace, name, at(minute, 0), &counts);
        }
        for minute in [NOON - 13, NOON - 12, NOON - 3, NOON] {
            let seen = LaneDepth {
                lane: lane.clone(),
                depth: BTreeMap::new(),
                oldest_eligible: Some(at(NOON - 20, 0)),
            };
            minutes.saw(&namespace, &[seen], at(minute, 0));
        }
        let lately = minutes.lately(&namespace, &lane, at(NOON, 15));
        assert_eq!((lately.ended, lately.failed), (3.0 * (2.0 + 6.0), 2.0 * (2.0 + 6.0)));
        assert_eq!((lately.ended_in_hour, lately.failed_in_hour), (330, 220));
        assert_eq!(
            lately.looks,
            [
                (at(NOON - 12, 0), Duration::from_secs(8 * 60)),
                (at(NOON - 3, 0), Duration::from_secs(17 * 60))
            ]
        );
        let all = minutes.all_lately(&namespace, at(NOON, 15));
        assert_eq!((all[LANE_COUNTS.completed], all[LANE_COUNTS.submitted]), (8.0, 0.0));
        let elsewhere = Namespace::parse("elsewhere").unwrap();
        assert_eq!(minutes.lately(&elsewhere, &lane, at(NOON, 15)), Lately::default());
    }
}
