//! Time as the engine sees it: whole milliseconds, always the store's.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

use serde::{Deserialize, Serialize};

/// Every store keeps integers exactly below 2^53; times and durations stay inside that.
const EXACT_MAX: u64 = (1 << 53) - 1;

const fn exact(millis: u64) -> u64 {
    if millis < EXACT_MAX { millis } else { EXACT_MAX }
}

macro_rules! millis_conversions {
    ($($name:ident),+) => {
        $(
            impl From<u64> for $name {
                fn from(millis: u64) -> Self {
                    Self::from_millis(millis)
                }
            }

            impl From<$name> for u64 {
                fn from(value: $name) -> u64 {
                    value.as_millis()
                }
            }
        )+
    };
}

millis_conversions!(Timestamp, Duration);

/// A moment on the store's clock, in Unix milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(from = "u64", into = "u64")]
pub struct Timestamp(u64);

impl Timestamp {
    /// The latest moment; later ones are this one.
    pub const MAX: Timestamp = Timestamp(EXACT_MAX);

    /// The moment `millis` after the Unix epoch.
    pub const fn from_millis(millis: u64) -> Self {
        Self(exact(millis))
    }

    /// Milliseconds since the Unix epoch.
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// How long after `earlier` this is; zero when it is not after it.
    pub const fn since(self, earlier: Timestamp) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }

    /// Whether this moment has come at `now`.
    pub const fn has_come(self, now: Timestamp) -> bool {
        self.0 <= now.0
    }
}

impl Add<Duration> for Timestamp {
    type Output = Timestamp;

    fn add(self, duration: Duration) -> Timestamp {
        Timestamp::from_millis(self.0 + duration.0)
    }
}

impl AddAssign<Duration> for Timestamp {
    fn add_assign(&mut self, duration: Duration) {
        *self = *self + duration;
    }
}

impl Sub<Duration> for Timestamp {
    type Output = Timestamp;

    fn sub(self, duration: Duration) -> Timestamp {
        Timestamp(self.0.saturating_sub(duration.0))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A length of time in whole milliseconds, so that what is stored equals what was meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(from = "u64", into = "u64")]
pub struct Duration(u64);

impl Duration {
    /// No time at all.
    pub const ZERO: Duration = Duration(0);

    /// A duration of `millis` milliseconds.
    pub const fn from_millis(millis: u64) -> Self {
        Self(exact(millis))
    }

    /// A duration of `secs` seconds.
    pub const fn from_secs(secs: u64) -> Self {
        Self::from_millis(secs.saturating_mul(1_000))
    }

    /// A duration of `hours` hours.
    pub const fn from_hours(hours: u64) -> Self {
        Self::from_millis(hours.saturating_mul(3_600_000))
    }

    /// Whole milliseconds.
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// This duration less `other`, never below zero.
    pub const fn saturating_sub(self, other: Duration) -> Duration {
        Duration(self.0.saturating_sub(other.0))
    }
}

impl Add for Duration {
    type Output = Duration;

    fn add(self, other: Duration) -> Duration {
        Duration::from_millis(self.0 + other.0)
    }
}

impl AddAssign for Duration {
    fn add_assign(&mut self, other: Duration) {
        *self = *self + other;
    }
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ms", self.0)
    }
}

/// The earliest of several moments that may or may not be set.
pub fn earliest(moments: impl IntoIterator<Item = Option<Timestamp>>) -> Option<Timestamp> {
    moments.into_iter().flatten().min()
}

/// A length of time that travels in seconds, with a fraction where it needs one.
pub mod seconds {
    use serde::{Deserialize, Deserializer, Serializer};

    use super::Duration;

    /// Writes it.
    #[expect(clippy::cast_precision_loss, reason = "a time of 2^53 ms is 285,000 years")]
    pub fn serialize<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        match duration.as_millis() {
            whole if whole.is_multiple_of(1_000) => serializer.serialize_u64(whole / 1_000),
            millis => serializer.serialize_f64(millis as f64 / 1_000.0),
        }
    }

    /// Reads it.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "not negative, and a duration has a greatest value of its own"
    )]
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        let seconds = f64::deserialize(deserializer)?;
        if !(0.0..=1e12).contains(&seconds) {
            return Err(serde::de::Error::custom("a number of seconds is expected"));
        }
        Ok(Duration::from_millis((seconds * 1_000.0).round() as u64))
    }
}

/// The same, where it may be absent.
pub mod optional_seconds {
    use serde::{Deserializer, Serializer};

    use super::{Duration, seconds};

    /// Writes it.
    pub fn serialize<S: Serializer>(duration: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
        match duration {
            Some(duration) => seconds::serialize(duration, serializer),
            None => serializer.serialize_none(),
        }
    }

    /// Reads it.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
        seconds::deserialize(deserializer).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_never_leave_the_range_every_store_keeps_exactly() {
        assert_eq!(Timestamp::from_millis(u64::MAX), Timestamp::MAX);
        assert_eq!(Timestamp::MAX + Duration::from_hours(u64::MAX), Timestamp::MAX);
        assert_eq!(
            serde_json::from_str::<Timestamp>("18446744073709551615").unwrap(),
            Timestamp::MAX
        );
        assert_eq!(
            Duration::from_secs(u64::MAX) + Duration::from_secs(1),
            Duration::from_millis(u64::MAX)
        );
    }

    #[test]
    fn a_moment_has_come_when_it_is_now() {
        let at = Timestamp::from_millis(5);
        assert!(at.has_come(at));
        assert!(!at.has_come(Timestamp::from_millis(4)));
    }
}
