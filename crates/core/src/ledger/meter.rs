//! The numbers of an account.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use crate::error::{Code, Rejection};
use crate::name::Dimension;
use crate::partition::Partition;
use crate::record::AMOUNT_MAX;

/// Numbers stay between this and its negative: what every store counts exactly. Sums stop there.
pub const NUMBER_MAX: i64 = AMOUNT_MAX.cast_signed();

/// What a number of an account is called.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Meter {
    /// Something that is spent: it begins again when the account does. An account makes at most
    /// [`crate::record::DIMENSIONS_MAX`] that its definition does not name.
    Spent(Dimension),
    /// Moves whenever something that waits may fit.
    Generation,
    /// Work waits in this partition; stands with the generation it was made in.
    Mark(Partition),
    /// Some of the work that waits there needs no place.
    PlacelessMark(Partition),
    /// Anything else; it stays when the account begins again.
    Own(Cow<'static, str>),
}

/// What a meter shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Numbers {
    /// What stays.
    pub used: i64,
    /// What belongs to grants.
    pub held: i64,
}

impl Meter {
    /// A number of its own.
    pub const fn own(name: &'static str) -> Self {
        Meter::Own(Cow::Borrowed(name))
    }

    /// Whether it tells where work waits.
    pub const fn is_mark(&self) -> bool {
        matches!(self, Meter::Mark(_) | Meter::PlacelessMark(_))
    }
}

/// As stores write it: no two meters are written the same way.
impl fmt::Display for Meter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Meter::Spent(dimension) => write!(f, "spent:{dimension}"),
            Meter::Generation => f.write_str("generation"),
            Meter::Mark(partition) => write!(f, "mark:{}", partition.index),
            Meter::PlacelessMark(partition) => write!(f, "placeless:{}", partition.index),
            Meter::Own(name) => write!(f, "own:{name}"),
        }
    }
}

/// Reads what [`Meter`] writes.
impl FromStr for Meter {
    type Err = Rejection;

    fn from_str(text: &str) -> Result<Self, Rejection> {
        let partition = |index: &str| index.parse().ok().map(Partition::flow);
        let meter = match text.split_once(':') {
            Some(("spent", name)) => Some(Meter::Spent(Dimension::parse(name)?)),
            Some(("mark", index)) => partition(index).map(Meter::Mark),
            Some(("placeless", index)) => partition(index).map(Meter::PlacelessMark),
            Some(("own", name)) => Some(Meter::Own(Cow::Owned(name.to_owned()))),
            None if text == "generation" => Some(Meter::Generation),
            _ => None,
        };
        meter.ok_or_else(|| Code::InvalidId.because(format!("no number of an account is called {text:?}")))
    }
}

impl Numbers {
    /// Used and held.
    pub fn total(self) -> i64 {
        sum(self.used, self.held)
    }
}

/// Adds two numbers, and stops at the end of the scale.
pub fn sum(left: i64, right: i64) -> i64 {
    left.saturating_add(right).clamp(-NUMBER_MAX, NUMBER_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_called_as_it_is_written() {
        let meters = [
            Meter::Spent(Dimension::parse("tokens").unwrap()),
            Meter::Generation,
            Meter::Mark(Partition::flow(7)),
            Meter::PlacelessMark(Partition::flow(7)),
            Meter::own("slots"),
            Meter::own("a:b"),
        ];
        for meter in meters {
            assert_eq!(meter.to_string().parse(), Ok(meter));
        }
        for text in ["", "slots", "mark:", "mark:x", "generation:1", "spent:"] {
            assert!(text.parse::<Meter>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn sums_stop_at_the_end_of_the_scale() {
        assert_eq!(sum(NUMBER_MAX, 1), NUMBER_MAX);
        assert_eq!(sum(-NUMBER_MAX, i64::MIN), -NUMBER_MAX);
        assert_eq!(sum(2, -3), -1);
    }
}
