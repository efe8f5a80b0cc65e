//! Luck that repeats: the same seed gives the same numbers everywhere.

/// A small generator of numbers.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// Starts from `seed`.
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub(crate) const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(1);
        scramble(self.0)
    }

    /// A number below `bound`.
    pub(crate) const fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// One of `choices`.
    pub(crate) fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.place(choices.len())]
    }

    /// A place below `length`.
    pub(crate) fn place(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).unwrap_or(0)
    }
}

/// Spreads consecutive numbers over all 64 bits without ever giving one twice: every step can be undone.
pub(super) const fn scramble(number: u64) -> u64 {
    let mut bits = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits ^= bits >> 29;
    bits = bits.wrapping_mul(0xd6e8_feb8_6659_fd93);
    bits ^ (bits >> 32)
}
