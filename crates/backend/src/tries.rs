//! Looking again because somebody else was faster: so often, and with pauses that grow and differ.

use std::time::Duration;

use async_trait::async_trait;
use ff_core::error::{Code, Rejection};

/// Tries in a row before the caller is told to come back later.
const TRIES_MAX: u32 = 24;
/// The longest pause between two tries.
const PAUSE_MAX: Duration = Duration::from_millis(50);

/// Who can wait.
#[async_trait]
pub trait Patience: Send + Sync {
    /// Waits for some part of this, another one each time.
    async fn pause(&self, at_most: Duration);
}

/// The tries of one change.
#[derive(Debug, Default)]
pub struct Tries(u32);

impl Tries {
    /// It did not hold: waits before the next try, or refuses one. The first try is usually made from what was remembered, so
    /// the second follows at once.
    pub async fn again(&mut self, patience: &(impl Patience + ?Sized)) -> Result<(), Rejection> {
        self.0 += 1;
        if self.0 > TRIES_MAX {
            return Err(Code::Contention.because("too many others change the same thing; try again"));
        }
        if self.0 > 1 {
            let at_most = Duration::from_millis(1 << self.0.min(9)).min(PAUSE_MAX);
            patience.pause(at_most).await;
        }
        Ok(())
    }
}
