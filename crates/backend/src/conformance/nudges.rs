//! Nudges: a record is due now, without its version moving.

use ff_core::command::submit::CreateExecution;
use ff_core::machine::decided::Nudge;
use ff_core::record::{CounterKey, Execution, GroupCounter, Record, RecordKey};
use ff_core::time::Duration;

use super::build::{Store, conflict};
use crate::load::Load;
use crate::transaction::{NudgeStamp, Transaction, Version};

pub(super) async fn a_nudged_record_is_due_at_once_and_keeps_its_version(store: &Store<'_>) {
    let nudged = store.submit(store.command()).await.id;
    let (_, version) = store.versioned(nudged).await;
    assert_eq!(store.due_at_home().await, []);
    nudge(store, Nudge::always(RecordKey::Execution(nudged)), vec![]).await;
    assert_eq!(store.due_at_home().await, [RecordKey::Execution(nudged)]);
    assert_eq!(store.versioned(nudged).await.1, version);
}

pub(super) async fn a_nudge_stays_until_it_is_cleared_by_its_stamp(store: &Store<'_>) {
    let key = RecordKey::Execution(store.submit(store.command()).await.id);
    nudge(store, Nudge::always(key.clone()), vec![]).await;
    store.advance(Duration::from_hours(1)).await;
    assert_eq!(store.due_at_home().await, std::slice::from_ref(&key));
    clear(
        store,
        &key,
        stamp(store, &key).await.expect("the nudge is read with its record"),
    )
    .await;
    assert_eq!(store.due_at_home().await, []);
    assert_eq!(stamp(store, &key).await, None);
}

pub(super) async fn a_newer_nudge_survives_the_clearing_of_an_older_one(store: &Store<'_>) {
    let key = RecordKey::Execution(store.submit(store.command()).await.id);
    nudge(store, Nudge::always(key.clone()), vec![]).await;
    let older = stamp(store, &key).await.expect("nudged");
    nudge(store, Nudge::always(key.clone()), vec![]).await;
    let newer = stamp(store, &key).await.expect("nudged");
    assert_ne!(older, newer, "every nudge has a stamp of its own");
    clear(store, &key, older).await;
    assert_eq!(store.due_at_home().await, std::slice::from_ref(&key));
    clear(store, &key, newer).await;
    assert_eq!(store.due_at_home().await, []);
    nudge(store, Nudge::always(key.clone()), vec![]).await;
    clear(store, &key, newer).await;
    assert_eq!(store.due_at_home().await, [key], "a stamp is never given twice");
}

pub(super) async fn a_nudge_at_zero_counts_what_the_transaction_left(store: &Store<'_>) {
    let nudged = store.submit(store.command()).await.id;
    let counter = CounterKey::Group(nudged, GroupCounter::Unresolved);
    let at_zero = Nudge::at_zero(RecordKey::Execution(nudged), counter);
    nudge(store, at_zero.clone(), vec![(counter, 2)]).await;
    nudge(store, at_zero.clone(), vec![(counter, -1)]).await;
    assert_eq!(store.due_at_home().await, []);
    nudge(store, at_zero, vec![(counter, -1)]).await;
    assert_eq!(store.due_at_home().await, [RecordKey::Execution(nudged)]);
}

pub(super) async fn a_refused_commit_nudges_nobody_and_clears_nothing(store: &Store<'_>) {
    let [nudged, other] = [store.submit(store.command()).await, store.submit(store.command()).await];
    let [key, other_key] = [nudged.id, other.id].map(RecordKey::Execution);
    nudge(store, Nudge::always(key.clone()), vec![]).await;
    let stale = Version {
        counter: 9,
        tag: store.tag(),
    };
    let refused = Transaction {
        nudges: vec![Nudge::always(other_key)],
        clear_nudges: vec![(key.clone(), stamp(store, &key).await.expect("nudged"))],
        ..store.replacement(&other, stale)
    };
    conflict(store.try_commit(refused).await);
    assert_eq!(store.due_at_home().await, [key]);
}

pub(super) async fn a_cleared_nudge_leaves_the_timer(store: &Store<'_>) {
    let delay_until = Some(store.now().await + Duration::from_secs(60));
    let command = CreateExecution {
        delay_until,
        ..store.command()
    };
    let key = RecordKey::Execution(store.submit(command).await.id);
    nudge(store, Nudge::always(key.clone()), vec![]).await;
    clear(store, &key, stamp(store, &key).await.expect("nudged")).await;
    assert_eq!(store.due_at_home().await, []);
    store.advance(Duration::from_secs(60)).await;
    assert_eq!(store.due_at_home().await, [key]);
}

pub(super) async fn nudges_of_records_not_asked_for_are_not_read(store: &Store<'_>) {
    let [first, second] = [store.submit(store.command()).await, store.submit(store.command()).await];
    let [first, second] = [first.id, second.id].map(RecordKey::Execution);
    nudge(store, Nudge::always(first.clone()), vec![]).await;
    nudge(store, Nudge::always(second.clone()), vec![]).await;
    let snapshot = store.load(Load::records(store.home(), [second.clone()])).await;
    assert_eq!(snapshot.nudges.keys().collect::<Vec<_>>(), [&second]);
}

/// Commits a nudge beside the creation of some record; a held one, so that it is never due itself.
async fn nudge(store: &Store<'_>, nudge: Nudge, increments: Vec<(CounterKey, i64)>) {
    let execution = Execution {
        id: store.id(),
        ..store.submit(store.command()).await
    };
    let creation = store.creation(store.home(), [Record::from(execution)]);
    store
        .commit(Transaction {
            nudges: vec![nudge],
            increments,
            ..creation
        })
        .await;
}

async fn stamp(store: &Store<'_>, key: &RecordKey) -> Option<NudgeStamp> {
    store
        .load(Load::records(store.home(), [key.clone()]))
        .await
        .nudges
        .get(key)
        .copied()
}

async fn clear(store: &Store<'_>, key: &RecordKey, stamp: NudgeStamp) {
    let clear_nudges = vec![(key.clone(), stamp)];
    store
        .commit(Transaction {
            clear_nudges,
            ..store.transaction(store.home())
        })
        .await;
}
