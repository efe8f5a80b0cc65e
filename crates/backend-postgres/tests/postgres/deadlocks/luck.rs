//! Luck with a seed.

/// The same seed gives the same luck.
pub(crate) struct Luck(pub(crate) u64);

impl Luck {
    /// A number of all 64 bits.
    pub(crate) const fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.number() % end as u64).unwrap()
    }

    /// Whether one of so many cases is met.
    pub(crate) fn one_of(&mut self, cases: usize) -> bool {
        self.below(cases) == 0
    }

    /// Some of these, at most so many, in any order.
    pub(crate) fn some<T: Clone>(&mut self, of: &[T], at_most: usize) -> Vec<T> {
        let mut left = of.to_vec();
        let count = self.below(at_most.min(left.len()) + 1);
        (0..count).map(|_| left.swap_remove(self.below(left.len()))).collect()
    }
}
