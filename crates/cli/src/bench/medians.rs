//! What rounds say together, for people.

use std::collections::BTreeMap;
use std::fmt;

use super::output::Figures;

/// The middle of them.
pub(super) fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

/// Rounds of the same, each beside what others did right before it.
#[derive(Default)]
pub(super) struct Medians {
    rates: Vec<f64>,
    /// Shares of what others did, by who they are.
    shares: BTreeMap<String, Vec<f64>>,
}

impl Medians {
    pub(super) fn add(&mut self, round: &Figures<'_>) {
        let Some(rate) = round.per_second() else { return };
        self.rates.push(rate);
        for (other, of_other) in round.others() {
            self.shares
                .entry((*other).to_owned())
                .or_default()
                .push(rate / of_other);
        }
    }
}

impl fmt::Display for Medians {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "  median: {:.0} in a second", median(&mut self.rates.clone()))?;
        for (other, shares) in &self.shares {
            let percent = 100.0 * median(&mut shares.clone());
            write!(f, "\n  median: {percent:.1} % of {other}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::output::Beside;
    use super::*;

    #[test]
    fn shares_are_of_what_stood_beside_in_the_same_round() {
        let mut medians = Medians::default();
        for (tasks, other) in [(100, 50.0), (300, 100.0), (200, 200.0)] {
            let round = Figures::of("s5", "a store", "a lane").done(tasks, Duration::from_secs(1));
            medians.add(&round.beside(Beside::from([("another", other)])));
        }
        let expected = "  median: 200 in a second\n  median: 200.0 % of another";
        assert_eq!(medians.to_string(), expected);
    }
}
