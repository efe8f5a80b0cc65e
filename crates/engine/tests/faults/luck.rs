//! Chance that can be repeated.

use std::ops::Range;
use std::time::Duration;

/// A sequence of numbers that its seed decides.
#[derive(Clone)]
pub(crate) struct Luck(u64);

impl Luck {
    /// The seed this run was told, or any; a failing test prints it.
    pub(crate) fn seed() -> u64 {
        let told = std::env::var("FF_TEST_SEED").ok();
        let seed = told.map_or_else(rand::random, |told| told.parse().expect("FF_TEST_SEED is a number"));
        eprintln!("FF_TEST_SEED={seed}");
        seed
    }

    /// The sequence of one of many who share a seed.
    pub(crate) const fn of(seed: u64, who: u64) -> Self {
        Self(seed ^ who.wrapping_mul(0xd134_2543_de82_ef95))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// One of these numbers.
    pub(crate) fn within(&mut self, range: Range<u64>) -> u64 {
        range.start + self.next() % (range.end - range.start)
    }

    /// A number below `count`.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        usize::try_from(self.within(0..count as u64)).unwrap()
    }

    /// Waits for so many milliseconds.
    pub(crate) async fn pause(&mut self, milliseconds: Range<u64>) {
        tokio::time::sleep(Duration::from_millis(self.within(milliseconds))).await;
    }
}
