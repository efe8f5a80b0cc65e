//! How many executions of each lane this process saw end in the last minute.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ff_core::name::{LaneId, Namespace};

/// Over how many seconds ends are counted.
const WINDOW_SECS: u64 = 60;
/// Lanes counted before those where nothing ends any more are forgotten.
const LANES_KEPT_MAX: usize = 10_000;

/// Ends by lane.
#[derive(Default)]
pub(crate) struct Throughput {
    lanes: Mutex<BTreeMap<(Namespace, LaneId), Ends>>,
}

/// Ends by the second they fell into, for the seconds of the window in which there was one.
#[derive(Default)]
struct Ends(BTreeMap<u64, u32>);

impl Throughput {
    /// An execution of this lane ended by a commit of this process.
    pub(crate) fn count(&self, lane: (Namespace, LaneId), now: Duration) {
        let mut lanes = self.lanes();
        if lanes.len() >= LANES_KEPT_MAX && !lanes.contains_key(&lane) {
            lanes.retain(|_, ends| ends.in_window(now) > 0);
        }
        let ends = lanes.entry(lane).or_default();
        ends.slide(now);
        *ends.0.entry(now.as_secs()).or_default() += 1;
    }

    /// How many a second, over the last minute.
    pub(crate) fn per_second(&self, namespace: &Namespace, lane: &LaneId, now: Duration) -> f64 {
        let lanes = self.lanes();
        let ends = lanes.get(&(namespace.clone(), lane.clone()));
        let ended = ends.map_or(0, |ends| ends.in_window(now));
        // A minute's worth of ends is exact in a double.
        f64::from(u32::try_from(ended).unwrap_or(u32::MAX)) / WINDOW_SECS as f64
    }

    fn lanes(&self) -> MutexGuard<'_, BTreeMap<(Namespace, LaneId), Ends>> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ends {
    fn slide(&mut self, now: Duration) {
        self.0 = self.0.split_off(&first_second(now));
    }

    fn in_window(&self, now: Duration) -> u64 {
        self.0
            .range(first_second(now)..)
            .map(|(_, ended)| u64::from(*ended))
            .sum()
    }
}

fn first_second(now: Duration) -> u64 {
    (now.as_secs() + 1).saturating_sub(WINDOW_SECS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_count_for_a_minute() {
        let throughput = Throughput::default();
        let (namespace, lane) = (Namespace::default_namespace(), LaneId::default_lane());
        let at = Duration::from_secs;
        for second in 0..120 {
            throughput.count((namespace.clone(), lane.clone()), at(second));
            throughput.count((namespace.clone(), lane.clone()), at(second));
        }
        let per_second = |now| throughput.per_second(&namespace, &lane, now);
        assert_eq!(per_second(at(119)), 2.0);
        assert_eq!(per_second(at(149)), 1.0);
        assert_eq!(per_second(at(179)), 0.0);
        assert_eq!(throughput.lanes().values().map(|ends| ends.0.len()).sum::<usize>(), 60);
    }
}
