//! Moments as people write them, in UTC: `2026-11-16 09:30:00`.

use crate::time::Timestamp;

const DAY_SECONDS: u64 = 86_400;

/// The moment as people write it, to the second.
pub fn write(moment: Timestamp) -> String {
    let seconds = moment.as_millis() / 1_000;
    let (year, month, day) = civil(seconds / DAY_SECONDS);
    let of_day = seconds % DAY_SECONDS;
    let (hour, minute, second) = (of_day / 3_600, of_day / 60 % 60, of_day % 60);
    format!("{year}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
}

/// The moment that was written: a date from 1970 on, with a time of day or without.
pub fn read(text: &str) -> Option<Timestamp> {
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
    let seconds = days * DAY_SECONDS + hour * 3_600 + minute * 60 + second;
    Some(Timestamp::from_millis(seconds * 1_000))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_as_dates() {
        let at = |millis| write(Timestamp::from_millis(millis));
        assert_eq!(at(0), "1970-01-01 00:00:00");
        assert_eq!(at(951_782_400_000), "2000-02-29 00:00:00");
        assert_eq!(at(1_800_000_000_000), "2027-01-15 08:00:00");
    }

    #[test]
    fn every_day_of_forty_years_is_read_as_it_is_written() {
        for day in (0..40 * 366).map(|day| Timestamp::from_millis(day * DAY_SECONDS * 1_000)) {
            assert_eq!(read(&write(day)), Some(day));
        }
    }

    #[test]
    fn a_time_of_day_may_be_left_out_and_a_day_that_never_was_is_none() {
        let at = |millis| Some(Timestamp::from_millis(millis));
        assert_eq!(read("2000-02-29"), at(951_782_400_000));
        assert_eq!(read("2027-01-15 08:00"), at(1_800_000_000_000));
        assert_eq!(read("2027-01-15T08:00:00Z"), at(1_800_000_000_000));
        for bad in ["2027-02-30", "2027-13-01", "2027-01-15T25:00", "1969-12-31", "soon", ""] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }
}
