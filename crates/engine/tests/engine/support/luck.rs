//! Luck with a seed.

/// The same seed gives the same luck.
pub(crate) struct Luck(pub(crate) u64);

impl Luck {
    /// A number below `end`.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    /// One of these, if there is one.
    pub(crate) fn of<T: Copy>(&mut self, choices: &[T]) -> Option<T> {
        let end = u64::try_from(choices.len()).unwrap();
        (end > 0).then(|| choices[usize::try_from(self.below(end)).unwrap()])
    }
}
