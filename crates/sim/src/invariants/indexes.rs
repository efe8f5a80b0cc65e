//! A record is in the index its facts say, and due when they say.

use ff_backend::query::{AuditRow, Listing};
use ff_core::machine::placement::{Placement, due_at, placement};
use ff_core::partition::{Family, Partition};
use ff_core::record::Record;

use super::mirror::Mirror;
use super::watch::Store;
use super::{Holds, hold};

/// Compares every record of the store with its index entries, and the mirror with the store.
pub(crate) fn check_all(mirror: &Mirror, store: &Store) -> Holds {
    let mut executions = 0;
    let mut eligible = 0;
    for partition in store.counts.all(Family::Flow) {
        for row in store.list(&Listing::Audit(partition), ff_backend::query::Page::audit) {
            check(&row)?;
            if let Record::Execution(execution) = &row.record {
                executions += 1;
                eligible += u64::from(matches!(row.placement, Some(Placement::Eligible { .. })));
                let mirrored = mirror.executions.get(&execution.id);
                hold(
                    mirrored.is_some_and(|known| **known == **execution),
                    "every write was seen",
                    || format!("{} was written behind the back of the watch", execution.id),
                )?;
            }
        }
    }
    hold(executions == mirror.executions.len(), "every write was seen", || {
        format!(
            "the store has {executions} executions, {} were written",
            mirror.executions.len()
        )
    })?;
    queues_hold_what_is_eligible(store, eligible)
}

fn check(row: &AuditRow) -> Holds {
    let expected = match &row.record {
        Record::Execution(execution) => Some(placement(execution)),
        _ => None,
    };
    let key = row.record.key();
    hold(
        row.placement == expected,
        "a record is in the index its facts say",
        || format!("{key:?} is in {:?}, its facts say {expected:?}", row.placement),
    )?;
    let due = due_at(&row.record);
    hold(row.due_at == due, "a record is due when its facts say", || {
        format!("{key:?} is due at {:?}, its facts say {due:?}", row.due_at)
    })
}

fn queues_hold_what_is_eligible(store: &Store, eligible: u64) -> Holds {
    let partitions: Vec<Partition> = store.counts.all(Family::Flow).collect();
    let queues = store.list(&Listing::Queues(partitions), ff_backend::query::Page::queues);
    let queued: u64 = queues.iter().map(|queue| queue.length).sum();
    hold(queued == eligible, "the queues hold what is eligible", || {
        format!("{queued} executions are queued, {eligible} are eligible")
    })
}
