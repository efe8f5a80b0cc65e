//! Snapshots of a partition that took more than one read.
//!
//! What was read first stays: everything is decided from the oldest reading of a record, and the commit finds out whether it
//! has changed since. The generation is that of the first counters, or of what was read before rows were listed: records have
//! versions, and some snapshots begin with a record that is remembered, in a generation nobody has read.

use ff_backend::load::Snapshot;
use ff_backend::transaction::Version;
use ff_core::id::ExecutionId;
use ff_core::machine::group;
use ff_core::record::{CounterKey, GroupCounter, Record};

/// Adds what a later read found.
pub(crate) fn merge(snapshot: &mut Snapshot, later: Snapshot) {
    for (key, found) in later.records {
        snapshot.records.entry(key).or_insert(found);
    }
    if snapshot.counters.is_empty() && !snapshot.listed {
        snapshot.generation = later.generation;
    }
    for (key, value) in later.counters {
        snapshot.counters.entry(key).or_insert(value);
    }
    for (key, blob) in later.blobs {
        snapshot.blobs.entry(key).or_insert(blob);
    }
    for (key, stamp) in later.nudges {
        snapshot.nudges.entry(key).or_insert(stamp);
    }
}

/// Adds rows of a listing, so that a draft may write them.
pub(crate) fn add_rows<R: Into<Record> + Clone>(snapshot: &mut Snapshot, rows: &[(R, Version)]) {
    for (row, version) in rows {
        let record: Record = row.clone().into();
        snapshot.records.entry(record.key()).or_insert((record, *version));
    }
}

/// The counters of an execution's group, to load them.
pub(crate) fn group_counters(id: ExecutionId) -> impl Iterator<Item = CounterKey> {
    GroupCounter::ALL
        .into_iter()
        .map(move |counter| CounterKey::Group(id, counter))
}

/// What was counted over the inbound edges of an execution.
pub(crate) fn group_counts(snapshot: &Snapshot, id: ExecutionId) -> group::Counts {
    group::Counts::read(|counter| snapshot.counter(CounterKey::Group(id, counter)))
}
