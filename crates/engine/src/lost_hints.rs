//! Making up for hints that were lost: whoever waits for a feed or a stream is woken when its partition changed.
//!
//! A look costs one call, however many wait, and none while nobody does. So nobody who waits has to look for itself now and then.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ff_backend::query::Listing;
use ff_core::fabric::Result;
use ff_core::partition::Partition;

use crate::engine::Engine;

/// What the marks of all partitions were at the last look; nothing before the first one.
#[derive(Default)]
pub(crate) struct LastMarks(Mutex<BTreeMap<Partition, u64>>);

impl LastMarks {
    fn marks(&self) -> MutexGuard<'_, BTreeMap<Partition, u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The partitions whose mark is another one than at the last look.
    fn moved(&self, marks: Vec<(Partition, u64)>) -> BTreeSet<Partition> {
        let mut last = self.marks();
        let mut moved = BTreeSet::new();
        for (partition, mark) in marks {
            if last.insert(partition, mark) != Some(mark) {
                moved.insert(partition);
            }
        }
        moved
    }
}

/// Wakes whoever waits for something of a partition that changed since the last look. Who began to wait after that look may be
/// woken for nothing, once.
pub(crate) async fn make_up_for_lost_hints(engine: &Engine) -> Result<()> {
    let shared = &engine.shared;
    if shared.streams.is_empty() && shared.feeds.is_empty() {
        return Ok(());
    }
    let partitions = engine.flow_partitions();
    let limit = partitions.len();
    let page = engine.store().list(Listing::Marks(partitions), None, limit).await?;
    let moved = shared.last_marks.moved(page.marks());
    shared.feeds.wake_where(|partition| moved.contains(partition));
    shared
        .streams
        .wake_where(|attempt| moved.contains(&attempt.execution_id.partition()));
    Ok(())
}
