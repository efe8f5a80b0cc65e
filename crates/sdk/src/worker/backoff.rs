//! Pauses between tries.

use std::time::Duration;

/// Pauses that double, each shortened at random by up to a half, so that many workers do not come back at once.
#[derive(Clone, Debug)]
pub(crate) struct Backoff {
    next: Duration,
    first: Duration,
    longest: Duration,
}

impl Backoff {
    pub(crate) const fn new(first: Duration, longest: Duration) -> Self {
        Self {
            next: first,
            first,
            longest,
        }
    }

    /// Between tries of a call that got no answer.
    pub(crate) const fn of_calls() -> Self {
        Self::new(Duration::from_millis(50), Duration::from_secs(5))
    }

    /// The next pause.
    pub(crate) fn pause(&mut self) -> Duration {
        let whole = self.next;
        self.next = (whole * 2).min(self.longest);
        whole.mul_f64(rand::random_range(0.5..=1.0))
    }

    /// It went well: the next trouble is another one.
    pub(crate) const fn reset(&mut self) {
        self.next = self.first;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest_and_begin_again() {
        let mut backoff = Backoff::of_calls();
        let pauses: Vec<_> = (0..20).map(|_| backoff.pause()).collect();
        assert!(pauses[0] <= Duration::from_millis(50), "{pauses:?}");
        assert!(pauses[0] >= Duration::from_millis(25), "{pauses:?}");
        let longest = Duration::from_millis(2_500)..=Duration::from_secs(5);
        assert!(pauses[10..].iter().all(|pause| longest.contains(pause)), "{pauses:?}");
        backoff.reset();
        assert!(backoff.pause() <= Duration::from_millis(50));
    }
}
