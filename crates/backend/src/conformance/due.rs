//! What is due: everything whose moment has come, longest overdue first.

use ff_core::command::submit::CreateExecution;
use ff_core::id::{ExecutionId, FlowId, WaitpointId};
use ff_core::machine::decided::Nudge;
use ff_core::machine::placement::due_at;
use ff_core::partition::{Family, Partition};
use ff_core::record::{Delay, Execution, Phase, Record, RecordKey};
use ff_core::time::{Duration, Timestamp};

use super::build::{Random, Store, record_key, waitpoint};
use crate::due::DuePage;
use crate::transaction::{Delete, Transaction};

pub(super) async fn nothing_is_due_before_its_moment(store: &Store<'_>) {
    let (id, until) = delayed(store, store.home(), Duration::from_hours(1)).await;
    store.submit(store.command()).await;
    let page = store.due_in(&[store.home()], 10).await;
    assert_eq!((page.items, page.next), (vec![], Some(until)));
    store.advance(Duration::from_hours(1)).await;
    let page = store.due_in(&[store.home()], 10).await;
    assert!(page.now >= until);
    assert_eq!(
        page.items
            .iter()
            .map(|item| (item.partition, item.due_at))
            .collect::<Vec<_>>(),
        [(store.home(), until)]
    );
    assert_eq!((keys(&page), page.next), (vec![RecordKey::Execution(id)], None));
}

pub(super) async fn the_longest_overdue_of_all_partitions_comes_first(store: &Store<'_>) {
    let mut random = Random::new(3);
    let partitions = some_partitions(store);
    let mut wanted = Vec::new();
    for n in 0..60 {
        let after = Duration::from_secs(60 + random.below(3_600));
        let (id, until) = delayed(store, partitions[n % partitions.len()], after).await;
        wanted.push((until, RecordKey::Execution(id)));
    }
    store.advance(Duration::from_hours(2)).await;
    wanted.sort_unstable();
    let page = store.due_in(&partitions, 100).await;
    let moments: Vec<Timestamp> = page.items.iter().map(|item| item.due_at).collect();
    assert!(moments.is_sorted(), "{moments:?}");
    let mut found: Vec<_> = page
        .items
        .into_iter()
        .map(|item| (item.due_at, record_key(item)))
        .collect();
    found.sort_unstable();
    assert_eq!(found, wanted);
}

pub(super) async fn a_full_page_says_when_the_next_is_due(store: &Store<'_>) {
    let partitions = some_partitions(store);
    let mut moments = Vec::new();
    for n in 0..20 {
        let after = Duration::from_secs(1_000 - 10 * n as u64);
        moments.push(delayed(store, partitions[n % partitions.len()], after).await.1);
    }
    store.advance(Duration::from_hours(1)).await;
    moments.sort_unstable();
    let page = store.due_in(&partitions, 5).await;
    assert_eq!(
        page.items.iter().map(|item| item.due_at).collect::<Vec<_>>(),
        moments[..5]
    );
    assert_eq!(page.next, Some(moments[5]));
}

pub(super) async fn partitions_not_asked_for_are_left_out(store: &Store<'_>) {
    let partitions = some_partitions(store);
    for partition in &partitions {
        delayed(store, *partition, Duration::from_secs(1)).await;
    }
    store.advance(Duration::from_secs(2)).await;
    for partition in &partitions {
        let page = store.due_in(&[*partition], 100).await;
        assert_eq!(
            page.items.iter().map(|item| item.partition).collect::<Vec<_>>(),
            [*partition]
        );
    }
    let page = store.due_in(&[], 100).await;
    assert_eq!((page.items, page.next), (vec![], None));
}

pub(super) async fn a_written_record_is_due_at_its_new_moment_only(store: &Store<'_>) {
    let (id, until) = delayed(store, store.home(), Duration::from_secs(60)).await;
    let later = until + Duration::from_secs(60);
    let (mut execution, version) = store.versioned(id).await;
    put_off(&mut execution, Some(later));
    store.commit(store.replacement(&execution, version)).await;
    store.advance(Duration::from_secs(60)).await;
    let page = store.due_in(&[store.home()], 10).await;
    assert_eq!((page.items, page.next), (vec![], Some(later)));
    let (mut execution, version) = store.versioned(id).await;
    put_off(&mut execution, None);
    store.commit(store.replacement(&execution, version)).await;
    store.advance(Duration::from_secs(60)).await;
    let page = store.due_in(&[store.home()], 10).await;
    assert_eq!((page.items, page.next), (vec![], None));
}

pub(super) async fn a_deleted_record_is_not_due(store: &Store<'_>) {
    let (id, _) = delayed(store, store.home(), Duration::from_secs(60)).await;
    let (_, version) = store.versioned(id).await;
    let deletes = vec![Delete::unlisted(RecordKey::Execution(id), version)];
    store
        .commit(Transaction {
            deletes,
            ..store.transaction(store.home())
        })
        .await;
    store.advance(Duration::from_secs(60)).await;
    let page = store.due_in(&[store.home()], 10).await;
    assert_eq!((page.items, page.next), (vec![], None));
}

pub(super) async fn waitpoints_and_flows_have_timers_too(store: &Store<'_>) {
    let now = store.now().await;
    let pending = waitpoint(
        WaitpointId::from_uuid(store.uuid()),
        store.id(),
        now + Duration::from_secs(60),
    );
    let mut flow = super::build::flow(FlowId::from_uuid(store.uuid()), now);
    flow.ended_at = Some(now);
    let records = [Record::from(pending), Record::from(flow)];
    let mut wanted: Vec<_> = records
        .iter()
        .filter_map(|record| Some((due_at(record)?, record.key())))
        .collect();
    wanted.sort_unstable();
    store.commit(store.creation(store.home(), records)).await;
    store.advance(Duration::from_hours(24 * 30)).await;
    let page = store.due_in(&[store.home()], 10).await;
    assert_eq!(
        page.items
            .into_iter()
            .map(|item| (item.due_at, record_key(item)))
            .collect::<Vec<_>>(),
        wanted
    );
}

pub(super) async fn a_nudged_record_is_due_among_the_overdue(store: &Store<'_>) {
    let (overdue, _) = delayed(store, store.home(), Duration::from_secs(60)).await;
    let nudged = store.submit(store.command()).await;
    store.advance(Duration::from_hours(1)).await;
    let (_, version) = store.versioned(nudged.id).await;
    let nudges = vec![Nudge::always(RecordKey::Execution(nudged.id))];
    let before = store.now().await;
    store
        .commit(Transaction {
            nudges,
            ..store.replacement(&nudged, version)
        })
        .await;
    let page = store.due_in(&[store.home()], 10).await;
    assert_eq!(keys(&page), [overdue, nudged.id].map(RecordKey::Execution));
    let since = page.items[1].due_at;
    assert!(before <= since && since <= page.now, "due since it was nudged");
    let first = store.due_in(&[store.home()], 1).await;
    assert_eq!(
        (keys(&first), first.next),
        (vec![RecordKey::Execution(overdue)], Some(since))
    );
}

fn keys(page: &DuePage) -> Vec<RecordKey> {
    page.items.iter().cloned().map(record_key).collect()
}

fn some_partitions(store: &Store<'_>) -> Vec<Partition> {
    store.counts().all(Family::Flow).take(8).collect()
}

/// Submits an execution that becomes due once, after `after`.
async fn delayed(store: &Store<'_>, partition: Partition, after: Duration) -> (ExecutionId, Timestamp) {
    let until = store.now().await + after;
    let command = CreateExecution {
        delay_until: Some(until),
        ..store.command()
    };
    (store.submit_as(store.id_in(partition), command).await.id, until)
}

fn put_off(execution: &mut Execution, until: Option<Timestamp>) {
    let Phase::Runnable(runnable) = &mut execution.phase else {
        return;
    };
    runnable.delay = runnable
        .delay
        .take()
        .zip(until)
        .map(|(delay, until)| Delay { until, ..delay });
}
