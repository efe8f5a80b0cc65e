//! Lengths of time in words: `90s`, `1s..30s`.

/// What people are told to write.
const EXAMPLES: &str = "say a number and a unit, as in \"500ms\", \"90s\", \"5m\", \"2h\" or \"7d\"";

/// The milliseconds of `90s`.
pub(crate) fn millis(text: &str) -> Result<u64, String> {
    let unknown = || format!("{text:?} is no length of time: {EXAMPLES}");
    let digits = text.find(|c: char| !c.is_ascii_digit()).ok_or_else(unknown)?;
    let (count, unit) = text.split_at(digits);
    let unit = match unit.trim() {
        "ms" => 1,
        "s" => 1_000,
        "m" | "min" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return Err(unknown()),
    };
    let count: u64 = count.parse().map_err(|_| unknown())?;
    match count.checked_mul(unit) {
        Some(0) => Err(format!("{text:?} is no time at all")),
        Some(millis) => Ok(millis),
        None => Err(unknown()),
    }
}

/// The milliseconds at both ends of `1s..30s`.
pub(crate) fn range(text: &str) -> Result<(u64, u64), String> {
    let unknown = || format!("{text:?} is no range of pauses: say the first and the longest, as in \"1s..30s\"");
    let (first, longest) = text.split_once("..").ok_or_else(unknown)?;
    let (first, longest) = (millis(first.trim())?, millis(longest.trim())?);
    match first <= longest {
        true => Ok((first, longest)),
        false => Err(format!(
            "{text:?} begins with its longest pause: the first comes first, as in \"1s..30s\""
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_and_a_unit_are_a_length_of_time() {
        for (text, expected) in [
            ("500ms", 500),
            ("90s", 90_000),
            ("5m", 300_000),
            ("2 h", 7_200_000),
            ("7d", 604_800_000),
        ] {
            assert_eq!(millis(text), Ok(expected), "{text}");
        }
        for text in [
            "",
            "90",
            "s",
            "1.5s",
            "-1s",
            "90 seconds",
            "0s",
            "99999999999999999999s",
            "99999999999999999d",
        ] {
            assert!(millis(text).is_err(), "{text}");
        }
    }

    #[test]
    fn pauses_grow() {
        assert_eq!(range("1s..30s"), Ok((1_000, 30_000)));
        assert!(range("30s..1s").is_err() && range("1s").is_err());
    }
}
