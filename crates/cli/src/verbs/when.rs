//! Times as people say them: `90s`, `3 min ago`, `2026-11-16 09:30:00`.

use ff_core::time::{Duration, Timestamp};

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
    date(text).map(Moment::At).ok_or_else(|| refused.to_owned())
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

/// A moment in UTC: `2026-11-16 09:30:00`.
pub(crate) fn moment(at: Timestamp) -> String {
    let (days, of_day) = (at.as_millis() / DAY_MS, at.as_millis() % DAY_MS / 1_000);
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (of_day / 3_600, of_day / 60 % 60, of_day % 60);
    format!("{year}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
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

/// The day so many days after 1970-01-01. Years begin in March here, so that the day of a leap year comes last.
const fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 {
        march_month + 3
    } else {
        march_month - 9
    };
    let year = year_of_era + era * 400 + (month <= 2) as u64;
    (year, month, day)
}

/// A date in UTC, with a time of day or without.
fn date(text: &str) -> Option<Timestamp> {
    let text = text.trim_end_matches('Z');
    let (date, time) = text.split_once(['T', ' ']).unwrap_or((text, "00:00:00"));
    let numbers = |text: &str, between: char| -> Option<Vec<u64>> {
        text.split(between).map(|number| number.parse().ok()).collect()
    };
    let [year @ 1970..=9999, month @ 1..=12, day @ 1..=31] = numbers(date, '-')?[..] else {
        return None;
    };
    let (hour, minute, second) = match numbers(time, ':')?[..] {
        [hour @ 0..24, minute @ 0..60] => (hour, minute, 0),
        [hour @ 0..24, minute @ 0..60, second @ 0..60] => (hour, minute, second),
        _ => return None,
    };
    // The days of a date are found by asking which date so many days are: no second calendar.
    let about = (year - 1970) * 365 + (year - 1968) / 4 + (month - 1) * 30;
    let days = (about.saturating_sub(40)..about + 40).find(|days| civil(*days) == (year, month, day))?;
    let seconds = days * 86_400 + hour * 3_600 + minute * 60 + second;
    Some(Timestamp::from_millis(seconds * 1_000))
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
    fn every_day_of_forty_years_is_read_as_it_is_written() {
        for day in (0..40 * 366).map(|day| Timestamp::from_millis(day * DAY_MS)) {
            assert_eq!(parse_moment(&moment(day)), Ok(Moment::At(day)));
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
