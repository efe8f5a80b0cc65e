//! Moments as people write them.

use ff_core::time::Timestamp;

const SECONDS_PER_DAY: u64 = 86_400;

/// A moment in UTC: `2026-11-16 09:30:00`.
pub(crate) fn date(moment: Timestamp) -> String {
    let seconds = moment.as_millis() / 1_000;
    let (year, month, day) = civil(seconds / SECONDS_PER_DAY);
    let of_day = seconds % SECONDS_PER_DAY;
    let (hour, minute, second) = (of_day / 3_600, of_day / 60 % 60, of_day % 60);
    format!("{year}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
}

/// The day so many days after 1970-01-01. Years begin in March here, so that the day of a leap year comes last.
const fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let era = days / 146_097;
    let of_era = days % 146_097;
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
        let at = |millis| date(Timestamp::from_millis(millis));
        assert_eq!(at(0), "1970-01-01 00:00:00");
        assert_eq!(at(951_782_400_000), "2000-02-29 00:00:00");
        assert_eq!(at(1_800_000_000_000), "2027-01-15 08:00:00");
    }
}
