//! Randomness from a seed: the same seed, the same luck.

use std::sync::{Arc, Mutex, PoisonError};

use uuid::Uuid;

/// A sequence of random numbers. Clones share it; [`Luck::fork`] begins another one.
#[derive(Clone, Debug)]
pub struct Luck(Arc<Mutex<u64>>);

impl Luck {
    /// The sequence of `seed`.
    pub fn new(seed: u64) -> Self {
        Self(Arc::new(Mutex::new(seed)))
    }

    /// A sequence of its own, so that whoever draws from it does not change what others draw.
    pub fn fork(&self) -> Luck {
        Luck::new(self.next())
    }

    /// The next number. SplitMix64: every seed gives another sequence of good quality.
    pub fn next(&self) -> u64 {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = *state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// 128 random bits.
    pub fn bits(&self) -> u128 {
        (u128::from(self.next()) << 64) | u128::from(self.next())
    }

    /// A random UUID.
    pub fn uuid(&self) -> Uuid {
        uuid::Builder::from_random_bytes(self.bits().to_be_bytes()).into_uuid()
    }

    /// A number from 0 up to, not including, `bound`.
    pub fn below(&self, bound: u64) -> u64 {
        self.next() % bound.max(1)
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    /// An index into something of this length.
    pub fn index(&self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).unwrap_or(0)
    }

    /// True once in `n` times.
    pub fn one_in(&self, n: u64) -> bool {
        self.below(n) == 0
    }

    /// True this many times in 10,000.
    pub fn per_myriad(&self, times: u64) -> bool {
        self.below(10_000) < times
    }

    /// True every second time.
    pub fn flip(&self) -> bool {
        self.one_in(2)
    }

    /// One of `items`; `None` when there is none.
    pub fn pick<'a, T>(&self, items: &'a [T]) -> Option<&'a T> {
        items.get(self.index(items.len()))
    }

    /// One of at least one item.
    pub fn choose<T: Copy, const N: usize>(&self, items: [T; N]) -> T {
        items[self.index(N)]
    }

    /// One of the weighted items: twice the weight, twice as often.
    pub fn weighted<T: Copy>(&self, items: &[(u32, T)]) -> Option<T> {
        let total: u64 = items.iter().map(|(weight, _)| u64::from(*weight)).sum();
        let mut ticket = self.below(total);
        for (weight, item) in items {
            match ticket.checked_sub(u64::from(*weight)) {
                None => return Some(*item),
                Some(rest) => ticket = rest,
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_luck() {
        let draw = |seed| {
            let luck = Luck::new(seed);
            (0..8).map(|_| luck.next()).collect::<Vec<_>>()
        };
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
    }

    #[test]
    fn a_fork_goes_its_own_way() {
        let (left, right) = (Luck::new(7), Luck::new(7));
        let fork = left.fork();
        right.fork();
        fork.next();
        assert_eq!(left.next(), right.next());
    }

    #[test]
    fn weights_are_kept() {
        let luck = Luck::new(1);
        let heads = (0..1_000)
            .filter(|_| luck.weighted(&[(9, true), (1, false)]) == Some(true))
            .count();
        assert!((850..950).contains(&heads), "{heads}");
    }
}
