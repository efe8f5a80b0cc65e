//! Lists are entered and left as transactions say, and what they say wrong does no harm.

use std::sync::Arc;

use ff_core::machine::index::{Index, entries};
use ff_core::name::Namespace;
use ff_core::record::{Execution, Record, Tags};

use super::build::{Store, tagged};
use crate::query::{Listing, Page};
use crate::transaction::{Delete, Put, Transaction, Version};

pub(super) async fn a_record_may_enter_a_list_that_it_stands_in(store: &Store<'_>) {
    let red = submit(store, "red").await;
    write(store, &red, "red", unlisted).await;
    assert_eq!(store.listed_ids(team(store, "red")).await, [red.id]);
    write(store, &red, "blue", Put::replace).await;
    assert_eq!(store.listed_ids(team(store, "red")).await, []);
    assert_eq!(store.listed_ids(team(store, "blue")).await, [red.id]);
}

pub(super) async fn an_entry_whose_record_is_gone_shows_nothing(store: &Store<'_>) {
    let mut stay = Vec::new();
    for n in 0..12 {
        let id = submit(store, "red").await.id;
        if n % 3 == 0 {
            stay.push(id);
            continue;
        }
        let (execution, version) = store.versioned(id).await;
        let deletion = Transaction {
            deletes: vec![Delete::unlisted(Record::from(execution).key(), version)],
            ..store.transaction(store.home())
        };
        store.commit(deletion).await;
    }
    let rows = store.follow(&team(store, "red"), 1, Page::executions).await;
    let mut found: Vec<_> = rows.into_iter().map(|(execution, _)| execution.id).collect();
    found.sort_unstable();
    stay.sort_unstable();
    assert_eq!(found, stay);
}

/// Whoever wrote it was wrong about where it stood; the next one who is not mends it.
pub(super) async fn an_audit_tells_which_lists_a_record_is_missing_in(store: &Store<'_>) {
    let red = submit(store, "red").await;
    write(store, &red, "blue", |record, before| Put {
        listed: entries(&record),
        ..unlisted(record, before)
    })
    .await;
    let missing = async || {
        let rows = store.follow(&Listing::Audit(store.home()), 10, Page::audit).await;
        let indexes = rows.into_iter().flat_map(|row| row.missing);
        indexes.map(|entry| entry.index).collect::<Vec<_>>()
    };
    assert_eq!(missing().await, [index("blue")]);
    assert_eq!(store.listed_ids(team(store, "blue")).await, []);
    write(store, &red, "blue", unlisted).await;
    assert_eq!(missing().await, []);
    assert_eq!(store.listed_ids(team(store, "blue")).await, [red.id]);
}

async fn submit(store: &Store<'_>, value: &str) -> Execution {
    store.submit(tagged(store.command(), ("team", value))).await
}

/// Writes an execution with another tag, as `put` says.
async fn write(
    store: &Store<'_>,
    execution: &Execution,
    value: &str,
    put: impl FnOnce(Record, (&Record, Version)) -> Put,
) {
    let (before, version) = store.versioned(execution.id).await;
    let tags = Tags::from([("team".to_owned(), value.to_owned())]);
    let after = Execution {
        tags: Arc::new(tags),
        ..before.clone()
    };
    let mut transaction = store.transaction(execution.id.partition());
    transaction.puts.push(put(after.into(), (&before.into(), version)));
    store.commit(transaction).await;
}

/// Says nothing about where the record stood.
fn unlisted(record: Record, (_, version): (&Record, Version)) -> Put {
    Put::unlisted(record, Some(version))
}

fn index(value: &str) -> Index {
    Index::Tag(Namespace::default_namespace(), "team".to_owned(), value.to_owned())
}

fn team(store: &Store<'_>, value: &str) -> Listing {
    store.range(index(value))
}
