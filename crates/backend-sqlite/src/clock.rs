//! The store's clock: never goes back, not across restarts either, and is never long behind the wall clock.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use ff_core::time::{Duration, Timestamp};

use crate::column::integer;

/// How fast the clock may run away from, or back to, the wall clock: one part in this many.
const SLEW: i64 = 10;
/// A gap to the wall clock that no drift explains: the machine slept, or somebody set its clock.
const FAR_MICROS: i64 = 1_000_000;

/// Runs on from the later of wall clock and last stored time. Behind the wall clock it catches up, ahead of it it waits for it,
/// by going a little slower.
#[derive(Debug)]
pub(crate) struct Clock {
    last: Mutex<Reading>,
    /// Added to every reading; only tests move it.
    offset_millis: AtomicU64,
}

/// The last time it told.
#[derive(Debug)]
struct Reading {
    read_at: Instant,
    micros: i64,
}

impl Clock {
    /// Starts no earlier than `stored`, the last time this store knew.
    pub(crate) fn start(stored: Timestamp) -> Self {
        let stored = i64::try_from(stored.as_millis())
            .unwrap_or(i64::MAX / 1_000)
            .saturating_mul(1_000);
        Self {
            last: Mutex::new(Reading {
                read_at: Instant::now(),
                micros: wall_micros().max(stored),
            }),
            offset_millis: AtomicU64::new(0),
        }
    }

    /// The time now; never before a time it told earlier.
    pub(crate) fn now(&self) -> Timestamp {
        let mut last = self.last.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let passed = i64::try_from(last.read_at.elapsed().as_micros()).unwrap_or(i64::MAX);
        last.read_at = Instant::now();
        last.micros = slew(last.micros, passed, wall_micros());
        let millis = u64::try_from(last.micros / 1_000).unwrap_or(0);
        Timestamp::from_millis(millis.saturating_add(self.offset_millis.load(Ordering::Relaxed)))
    }

    /// How far it is ahead of the wall clock, if that is much.
    pub(crate) fn ahead(&self) -> Option<Duration> {
        let last = self.last.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let ahead = last.micros.saturating_sub(wall_micros());
        let millis = u64::try_from(ahead / 1_000).unwrap_or(0);
        (ahead > FAR_MICROS).then(|| Duration::from_millis(millis))
    }

    /// Moves the clock forward, for tests.
    pub(crate) fn advance(&self, by: Duration) {
        self.offset_millis.fetch_add(by.as_millis(), Ordering::Relaxed);
    }
}

/// `passed` later than `micros`, pulled towards `wall` by at most a tenth of what passed; far behind it steps there, because what
/// is due by the wall clock would wait for hours.
fn slew(micros: i64, passed: i64, wall: i64) -> i64 {
    let ran_on = micros.saturating_add(passed);
    let most = passed / SLEW;
    let gap = wall.saturating_sub(ran_on);
    let pull = if gap > FAR_MICROS { gap } else { gap.clamp(-most, most) };
    ran_on.saturating_add(pull)
}

/// What came up to this moment is over at `now`, if it lasts for so long. Before the first moment there is nothing.
pub(crate) fn over_since(lasts: Duration, now: Timestamp) -> i64 {
    integer(now.as_millis()) - integer(lasts.as_millis())
}

fn wall_micros() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_ahead_of_the_wall_slows_down_and_never_goes_back() {
        let mut micros = 10_000_000;
        let mut wall = 0;
        while micros > wall {
            let next = slew(micros, 1_000, wall + 1_000);
            assert!(next >= micros);
            (micros, wall) = (next, wall + 1_000);
        }
        assert_eq!(micros, wall);
    }

    #[test]
    fn a_clock_a_little_behind_the_wall_catches_up_a_tenth_at_a_time() {
        assert_eq!(slew(0, 1_000, 1_000_000), 1_100);
        assert_eq!(slew(0, 1_000, 1_050), 1_050);
    }

    #[test]
    fn a_clock_far_behind_the_wall_steps_forward_at_once() {
        let night = 8 * 3_600_000_000;
        assert_eq!(slew(0, 1_000, night), night);
    }

    #[test]
    fn a_clock_says_how_far_it_starts_ahead_of_the_wall() {
        let hour = Duration::from_hours(1);
        let wall = Timestamp::from_millis(u64::try_from(wall_micros()).unwrap() / 1_000);
        let ahead = Clock::start(wall + hour).ahead().unwrap();
        assert!(ahead <= hour && ahead > Duration::from_secs(3_590), "{ahead}");
        assert_eq!(Clock::start(wall).ahead(), None);
        assert_eq!(Clock::start(Timestamp::default()).ahead(), None);
    }

    #[test]
    fn a_clock_starts_no_earlier_than_the_last_stored_time() {
        let future = Timestamp::from_millis(4_000_000_000_000);
        assert!(Clock::start(future).now() >= future);
        assert!(Clock::start(Timestamp::default()).now() > Timestamp::from_millis(1_600_000_000_000));
    }
}
