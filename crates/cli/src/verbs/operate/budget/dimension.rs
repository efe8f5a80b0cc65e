//! Dimensions of a budget on the command line: `tokens=1000`.

use ff_core::name::Dimension;
use ff_core::record::Limits;

/// Reads a dimension and what is said of it.
fn named(text: &str) -> Result<(Dimension, &str), String> {
    let (name, value) = text
        .split_once('=')
        .ok_or("a dimension is NAME=NUMBER, such as tokens=1000")?;
    Ok((Dimension::parse(name).map_err(|refused| refused.detail)?, value))
}

/// Reads `NAME=NUMBER`.
pub(super) fn amount(text: &str) -> Result<(Dimension, u64), String> {
    let (name, value) = named(text)?;
    let amount = value.parse().map_err(|_| format!("{value:?} is no number"))?;
    Ok((name, amount))
}

/// Reads `NAME=HARD`, `NAME=SOFT:HARD`, `NAME=SOFT:` or `NAME=none`.
pub(super) fn limits(text: &str) -> Result<(Dimension, Limits), String> {
    let (name, value) = named(text)?;
    let number = |text: &str| match text {
        "" => Ok(None),
        text => text.parse().map(Some).map_err(|_| format!("{text:?} is no number")),
    };
    let limits = match value.split_once(':') {
        Some((soft, hard)) => Limits {
            soft: number(soft)?,
            hard: number(hard)?,
        },
        None if value == "none" => Limits::default(),
        None => Limits {
            soft: None,
            hard: Some(
                value
                    .parse()
                    .map_err(|_| format!("{value:?} is no limit, such as 1000, 800:1000 or none"))?,
            ),
        },
    };
    Ok((name, limits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_hard_soft_or_none() {
        let read = |text| limits(text).map(|(name, limits)| (name.to_string(), limits.soft, limits.hard));
        assert_eq!(read("tokens=1000"), Ok(("tokens".to_owned(), None, Some(1000))));
        assert_eq!(
            read("tokens=800:1000"),
            Ok(("tokens".to_owned(), Some(800), Some(1000)))
        );
        assert_eq!(read("tokens=800:"), Ok(("tokens".to_owned(), Some(800), None)));
        assert_eq!(read("tokens=none"), Ok(("tokens".to_owned(), None, None)));
        for bad in ["tokens", "tokens=", "tokens=many", "=1", "tokens=1:x"] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
