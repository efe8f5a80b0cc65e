//! Waiting for something to hold.

use std::time::Duration;

use tokio::time::{Instant, sleep};

/// Servers answer within a second; this is for a machine that is busy with everything else.
const PATIENCE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(5);

/// Asks again and again until the answer is a value.
///
/// # Panics
///
/// When it takes longer than a minute; the message ends with the last reason why not.
pub(crate) async fn until<T, F: Future<Output = Result<T, String>>>(what: &str, mut check: impl FnMut() -> F) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match check().await {
            Ok(value) => return value,
            Err(reason) if Instant::now() >= deadline => panic!("{what}: not within {PATIENCE:?}, because {reason}"),
            Err(_) => sleep(PAUSE).await,
        }
    }
}
