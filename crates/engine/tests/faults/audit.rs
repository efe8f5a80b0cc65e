//! Nothing is torn: every record is where its facts say, and what is counted is as many as there are.

use std::collections::BTreeMap;

use ff_backend::Backend;
use ff_backend::query::{AuditRow, Listing, Query};
use ff_core::machine::placement::{due_at, queue_of};
use ff_core::name::Namespace;
use ff_core::partition::{Family, Partition, PartitionCounts};
use ff_core::record::Record;
use ff_core::state::{PublicState, public_state};
use futures::{StreamExt as _, stream};

const PAGE: usize = 500;
/// Partitions that are read at the same time.
const AT_ONCE: usize = 8;

/// What is wrong in a store nobody uses any more.
pub(crate) async fn audit(store: &dyn Backend) -> Vec<String> {
    let mut broken = Vec::new();
    let mut depth: BTreeMap<PublicState, u64> = BTreeMap::new();
    let partitions = stream::iter(PartitionCounts::default().all(Family::Flow));
    let mut read = partitions
        .map(|partition| rows(store, partition))
        .buffer_unordered(AT_ONCE);
    while let Some(rows) = read.next().await {
        for row in rows {
            if let Record::Execution(execution) = &row.record {
                *depth.entry(public_state(execution)).or_default() += 1;
            }
            broken.extend(drift(&row));
        }
    }
    let counted = counted(store).await;
    if counted != depth {
        broken.push(format!("there are {depth:?}, and {counted:?} are counted"));
    }
    broken
}

async fn rows(store: &dyn Backend, partition: Partition) -> Vec<AuditRow> {
    let (mut rows, mut after) = (Vec::new(), None);
    loop {
        let of = Listing::Audit(partition);
        let page = store.list(Query { of, after, limit: PAGE }).await.unwrap();
        after = page.next.clone();
        rows.extend(page.audit());
        if after.is_none() {
            return rows;
        }
    }
}

fn drift(row: &AuditRow) -> Option<String> {
    let (key, expected) = (row.record.key(), queue_of(&row.record));
    if row.queue != expected {
        return Some(format!("{key:?} is at {:?} and belongs to {expected:?}", row.queue));
    }
    if !row.missing.is_empty() {
        return Some(format!("{key:?} is missing in {:?}", row.missing));
    }
    let due_at = due_at(&row.record);
    (row.due_at != due_at).then(|| format!("{key:?} is due at {due_at:?} and listed at {:?}", row.due_at))
}

async fn counted(store: &dyn Backend) -> BTreeMap<PublicState, u64> {
    let query = Query {
        of: Listing::Lanes(Namespace::default_namespace()),
        after: None,
        limit: PAGE,
    };
    let lanes = store.list(query).await.unwrap().lanes();
    let mut depth = BTreeMap::new();
    for (state, count) in lanes.into_iter().flat_map(|lane| lane.depth) {
        *depth.entry(state).or_default() += count;
    }
    depth.retain(|_, count| *count > 0);
    depth
}
