//! Partition counts: written once, at the first start, and the same ever after.

use ff_core::partition::PartitionCounts;

use super::obstacle::Obstacle;
use crate::error::OpenError;
use crate::keys::SHARED;
use crate::reply::{document, optional_text};
use crate::shared::Shared;

/// Creates the counts, or compares with those that are there. Of two who start at once, one creates.
pub(super) async fn check_counts(shared: &Shared) -> Result<(), Obstacle> {
    let counts = serde_json::to_string(&shared.counts).expect("counts are a document");
    let mut command = redis::cmd("SET");
    command
        .arg(format!("{SHARED}partition_counts"))
        .arg(counts)
        .arg("NX")
        .arg("GET");
    let found = shared.client.run(&command, SHARED).await?;
    let Some(stored) = optional_text(&found)? else {
        return Ok(());
    };
    let stored: PartitionCounts = document(stored)?;
    let verified = shared.counts.verify(&stored);
    verified.map_err(|mismatch| Obstacle::Lasting(OpenError::Counts(mismatch)))
}
