//! A record is in the lists and the queue its facts say, and due when they say.

use std::collections::{BTreeMap, BTreeSet};

use ff_backend::query::{AuditRow, HeadsOf, Listing, Page, Range};
use ff_core::machine::index::{Index, entries};
use ff_core::machine::placement::{due_at, queue_of};
use ff_core::partition::{Family, Partition};
use ff_core::record::{Record, RecordKey};

use super::mirror::Mirror;
use super::watch::Store;
use super::{Holds, hold};

/// What the facts say.
#[derive(Default)]
struct Said {
    executions: usize,
    eligible: BTreeSet<RecordKey>,
    lists: BTreeMap<Index, BTreeSet<RecordKey>>,
}

/// Compares every record of the store with where it is found, and the mirror with the store.
pub(crate) fn check_all(mirror: &Mirror, store: &Store) -> Holds {
    let mut said = Said::default();
    for partition in store.counts.all(Family::Flow) {
        for row in store.list(&Listing::Audit(partition), Page::audit) {
            check(&row)?;
            let key = row.record.key();
            for entry in entries(&row.record) {
                said.lists.entry(entry.index).or_default().insert(key.clone());
            }
            said.eligible.extend(row.queue.map(|_| key));
            if let Record::Execution(execution) = &row.record {
                said.executions += 1;
                let mirrored = mirror.executions.get(&execution.id);
                hold(
                    mirrored.is_some_and(|known| **known == **execution),
                    "every write was seen",
                    || format!("{} was written behind the back of the watch", execution.id),
                )?;
            }
        }
    }
    hold(
        said.executions == mirror.executions.len(),
        "every write was seen",
        || {
            format!(
                "the store has {} executions, {} were written",
                said.executions,
                mirror.executions.len()
            )
        },
    )?;
    queues_hold_what_is_eligible(store, &said.eligible)?;
    lists_hold_what_the_facts_say(mirror, store, &mut said.lists)
}

fn check(row: &AuditRow) -> Holds {
    let key = row.record.key();
    let queue = queue_of(&row.record);
    hold(row.queue == queue, "a record is in the queue its facts say", || {
        format!("{key:?} is in {:?}, its facts say {queue:?}", row.queue)
    })?;
    hold(row.missing.is_empty(), "a record is in the lists its facts say", || {
        format!("{key:?} is missing in {:?}", row.missing)
    })?;
    let due = due_at(&row.record);
    hold(row.due_at == due, "a record is due when its facts say", || {
        format!("{key:?} is due at {:?}, its facts say {due:?}", row.due_at)
    })
}

fn queues_hold_what_is_eligible(store: &Store, eligible: &BTreeSet<RecordKey>) -> Holds {
    let partitions: Vec<Partition> = store.counts.all(Family::Flow).collect();
    let heads = Listing::Heads {
        of: HeadsOf::Queues,
        partitions: partitions.clone(),
        count: 0,
    };
    let queues: BTreeSet<Index> = store
        .list(&heads, Page::heads)
        .into_iter()
        .map(|head| head.index)
        .collect();
    let of = queues.into_iter().collect();
    let queued = keys(
        store,
        Range {
            of,
            ..Range::of(Index::Flows, partitions)
        },
    );
    hold(queued == *eligible, "the queues hold what is eligible", || {
        format!("{queued:?} are queued, {eligible:?} are eligible")
    })
}

/// Also those that hold nothing any more.
fn lists_hold_what_the_facts_say(
    mirror: &Mirror,
    store: &Store,
    said: &mut BTreeMap<Index, BTreeSet<RecordKey>>,
) -> Holds {
    let partitions: Vec<Partition> = store.counts.all(Family::Flow).collect();
    for index in &mirror.lists {
        let expected = said.remove(index).unwrap_or_default();
        let found = keys(store, Range::of(index.clone(), partitions.clone()));
        hold(found == expected, "a list holds what the facts say", || {
            format!("{index} holds {found:?}, the facts say {expected:?}")
        })?;
    }
    Ok(())
}

fn keys(store: &Store, range: Range) -> BTreeSet<RecordKey> {
    let rows = store.list(&Listing::Range(range), Page::records);
    rows.into_iter().map(|(record, _)| record.key()).collect()
}
