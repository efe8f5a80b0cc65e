//! Times as people say them: `90s`, `3 min ago`, `2026-11-16 09:30:00`.

use ff_core::date;
use ff_core::time::{Duration, Timestamp};

pub(crate) use ff_core::date::write as moment;

const DAY_MS: u64 = 86_400_000;
/// Units of time, the longest first.
const UNITS: [(&str, u64); 6] = [
    ("d", DAY_MS),
    ("h", 3_600_000),
    ("min", 60_000),
    ("ms", 1),
    ("m", 60_000),
    ("s", 1_000),
];

/// A moment that was asked for: one that is named, or so long ago.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    At(Timestamp),
    Ago(Duration),
}

impl Moment {
    /// The moment, seen from `now`.
    pub(crate) fn seen_from(self, now: Timestamp) -> Timestamp {
        match self {
            Self::At(at) => at,
            Self::Ago(span) => now - span,
        }
    }
}

/// Reads a length of time: `250ms`, `90s`, `5min`, `1h30m`, `2d`.
pub(crate) fn parse_span(text: &str) -> Result<Duration, String> {
    let refused = || format!("a length of time looks like 250ms, 90s, 5min, 1h30m or 2d, not {text:?}");
    let (mut rest, mut total) = (text, 0_u64);
    while !rest.is_empty() {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let count: u64 = rest[..digits].parse().map_err(|_| refused())?;
        rest = &rest[digits..];
        let unit = UNITS.iter().find(|(unit, _)| rest.starts_with(unit));
        let (unit, millis) = unit.ok_or_else(refused)?;
        total = total.saturating_add(count.saturating_mul(*millis));
        rest = &rest[unit.len()..];
    }
    if text.is_empty() {
        return Err(refused());
    }
    Ok(Duration::from_millis(total))
}

/// Reads a moment: `2h` (ago), Unix milliseconds, or a date in UTC.
pub(crate) fn parse_moment(text: &str) -> Result<Moment, String> {
    if let Ok(span) = parse_span(text) {
        return Ok(Moment::Ago(span));
    }
    if let Ok(millis) = text.parse() {
        return Ok(Moment::At(Timestamp::from_millis(millis)));
    }
    let refused = "a moment is 2h (so long ago), 2026-11-16, 2026-11-16T09:30:00 (in UTC), or Unix milliseconds";
    date::read(text).map(Moment::At).ok_or_else(|| refused.to_owned())
}

/// A length of time, in its largest unit.
pub(crate) fn span(span: Duration) -> String {
    let millis = span.as_millis();
    match millis {
        0..1_000 => format!("{millis} ms"),
        1_000..10_000 => format!("{}.{} s", millis / 1_000, millis / 100 % 10),
        10_000..60_000 => format!("{} s", millis / 1_000),
        60_000..3_600_000 => format!("{} min", millis / 60_000),
        3_600_000..DAY_MS => format!("{} h", millis / 3_600_000),
        _ => format!("{} d", millis / DAY_MS),
    }
}

/// How long ago, or in how long.
pub(crate) fn from_now(at: Timestamp, now: Timestamp) -> String {
    if at <= now {
        return format!("{} ago", span(now.since(at)));
    }
    format!("in {}", span(at.since(now)))
}

/// A moment, and how far away it is.
pub(crate) fn moment_from_now(at: Timestamp, now: Timestamp) -> String {
    format!("{} ({})", moment(at), from_now(at, now))
}

/// The same text with the moments in it, which are Unix milliseconds there, as people say them.
pub(crate) fn in_words(text: &str, now: Timestamp) -> String {
    let is_digit = |c: char| c.is_ascii_digit();
    let (mut words, mut rest) = (String::new(), text);
    while let Some(start) = rest.find(is_digit) {
        let length = rest[start..].find(|c| !is_digit(c)).unwrap_or(rest.len() - start);
        let number = &rest[start..start + length];
        words += &rest[..start];
        match number.parse() {
            // Thirteen digits: from 2001 to 2286.
            Ok(millis) if length == 13 => words += &moment_from_now(Timestamp::from_millis(millis), now),
            _ => words += number,
        }
        rest = &rest[start + length..];
    }
    words + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_time_are_read_as_people_write_them() {
        let millis = |text| parse_span(text).map(Duration::as_millis);
        assert_eq!(millis("250ms"), Ok(250));
        assert_eq!(millis("1h30m"), Ok(5_400_000));
        assert_eq!(millis("5min"), Ok(300_000));
        assert_eq!(millis("2d"), Ok(2 * DAY_MS));
        for bad in ["", "5", "s", "5 s", "-5s", "5x", "1.5h"] {
            assert!(millis(bad).unwrap_err().contains("90s"), "{bad}");
        }
    }

    #[test]
    fn moments_are_dates_or_so_long_ago() {
        let at = |millis| Ok(Moment::At(Timestamp::from_millis(millis)));
        assert_eq!(parse_moment("2000-02-29"), at(951_782_400_000));
        assert_eq!(parse_moment("2027-01-15T08:00:00Z"), at(1_800_000_000_000));
        assert_eq!(parse_moment("2027-01-15 08:00"), at(1_800_000_000_000));
        assert_eq!(parse_moment("1800000000000"), at(1_800_000_000_000));
        assert_eq!(parse_moment("2h"), Ok(Moment::Ago(Duration::from_hours(2))));
        for bad in ["2027-02-30", "2027-13-01", "2027-01-15T25:00", "soon", "1969-12-31"] {
            assert!(parse_moment(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn numbers_that_are_moments_are_said_in_words() {
        let now = Timestamp::from_millis(1_800_000_000_000);
        let said = in_words("leased to w-1 until 1800000030000; 12 tried", now);
        assert_eq!(said, "leased to w-1 until 2027-01-15 08:00:30 (in 30 s); 12 tried");
        assert_eq!(in_words("", now), "");
    }

    #[test]
    fn spans_have_one_unit() {
        let said = |millis| span(Duration::from_millis(millis));
        assert_eq!(
            [0, 1_250, 59_999, 60_000, 3_600_000, 3 * DAY_MS].map(said),
            ["0 ms", "1.2 s", "59 s", "1 min", "1 h", "3 d"]
        );
    }
}
