//! Cleaning up behind the calls, little by little, for as long as the store is open.

use std::sync::Weak;
use std::time::Duration;

use ff_backend::Result;
use ff_backend::query::FEED_KEPT_FOR;
use tokio::time::sleep;

use crate::call::call;
use crate::shared::{Shared, duration};

/// Between two runs that found little to do.
const PAUSE: Duration = Duration::from_secs(1);
/// Rows of a kind that one run deletes at most.
const ROWS_PER_RUN: i64 = 256;
/// Runs between two looks at the segments of the feed.
const FEED_EVERY: u32 = 60;

/// Cleans up; of several processes the one that comes first.
pub(crate) async fn keep_tidy(shared: Weak<Shared>) {
    let mut runs = 0_u32;
    loop {
        sleep(PAUSE).await;
        let Some(shared) = shared.upgrade() else { return };
        runs = runs.wrapping_add(1);
        if let Err(error) = shared.tidy(runs.is_multiple_of(FEED_EVERY)).await {
            tracing::debug!(%error, "nothing was cleaned up; the next run tries again");
        }
    }
}

impl Shared {
    async fn tidy(&self, with_feed: bool) -> Result<()> {
        loop {
            let (_, answer) = self.ask(call!(reading tidy(at_most: &ROWS_PER_RUN))).await?;
            if answer.get::<i64>("deleted")? < ROWS_PER_RUN {
                break;
            }
        }
        if with_feed {
            self.ask(call!(reading tidy_feed(kept_ms: &duration(FEED_KEPT_FOR))))
                .await?;
        }
        Ok(())
    }
}
