//! list_partitions: who looks after each part of the store, and how far behind they are.

use std::collections::BTreeMap;

use ff_backend::due::Due;
use ff_core::error::Code;
use ff_core::fabric::Result;
use ff_core::limits::PAGE_MAX;
use ff_core::partition::Partition;
use ff_core::time::Timestamp;
use ff_core::view::{ListPartitions, PartitionView};

use crate::engine::Engine;
use crate::pump::pumped_ranges;

pub(crate) async fn list_partitions(engine: &Engine, _: ListPartitions) -> Result<Vec<PartitionView>> {
    if engine.caller.namespace.is_some() {
        return Err(Code::Forbidden.because("partitions belong to every namespace; this key reaches only one"));
    }
    let partitions = engine.all_partitions();
    let due = Due {
        partitions: partitions.clone(),
        limit: PAGE_MAX,
    };
    // The longest overdue come first.
    let mut since: BTreeMap<Partition, Timestamp> = BTreeMap::new();
    for item in engine.store().due(due).await?.items {
        since.entry(item.partition).or_insert(item.due_at);
    }
    let ranges = pumped_ranges(engine).await?;
    let view = |partition: Partition| {
        let pumped = ranges.of(partition);
        PartitionView {
            family: partition.family,
            index: partition.index,
            pumped_by: pumped.map(|lease| lease.replica.clone()),
            pumped_until: pumped.and_then(|lease| lease.until),
            due_since: since.get(&partition).copied(),
        }
    };
    Ok(partitions.into_iter().map(view).collect())
}
