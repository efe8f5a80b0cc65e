//! The numbers of an account.

use std::borrow::Cow;
use std::fmt;

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
    fn sums_stop_at_the_end_of_the_scale() {
        assert_eq!(sum(NUMBER_MAX, 1), NUMBER_MAX);
        assert_eq!(sum(-NUMBER_MAX, i64::MIN), -NUMBER_MAX);
        assert_eq!(sum(2, -3), -1);
    }
}
