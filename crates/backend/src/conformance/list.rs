//! Pages of listings: their order, and that cursors lose and repeat nothing.

use ff_core::command::submit::CreateExecution;
use ff_core::id::{ExecutionId, FlowId};
use ff_core::ledger::AccountKind;
use ff_core::machine::index::Index;
use ff_core::name::{LaneId, Namespace};
use ff_core::partition::{Family, Partition};
use ff_core::record::{Execution, HistorySubject, Record};
use ff_core::time::Duration;

use super::build::Store;
use crate::Error;
use crate::query::{Cursor, FeedStart, HeadsOf, Listing, Page, Query};
use crate::transaction::{Delete, Transaction};

pub(super) async fn executions_are_listed_newest_first_over_all_partitions(store: &Store<'_>) {
    let mut submitted = in_every_partition(store, 30).await;
    submitted.reverse();
    let all = store.range(Index::Age(None));
    assert_eq!(store.listed_ids(all.clone()).await, submitted);
    let rows = store.follow(&all, 1, Page::executions).await;
    let (execution, version) = &rows[0];
    assert_eq!(store.versioned(execution.id).await, (execution.clone(), *version));
}

pub(super) async fn rows_that_stay_are_seen_once_while_others_come_and_go(store: &Store<'_>) {
    let mut stay = in_every_partition(store, 40).await;
    let mut go = stay.split_off(34);
    let (mut seen, mut after) = (Vec::new(), None);
    loop {
        let page = store.page(store.range(Index::Age(None)), after, 4).await;
        after = page.next.clone();
        seen.extend(page.executions().into_iter().map(|(execution, _)| execution.id));
        assert!(seen.len() < 1_000, "the listing has an end");
        if after.is_none() {
            break;
        }
        store.advance(Duration::from_millis(10)).await;
        match go.pop() {
            Some(newest) => delete(store, newest).await,
            None => drop(store.submit(store.command()).await),
        }
        touch(store, &stay).await;
    }
    seen.retain(|id| stay.contains(id));
    stay.reverse();
    assert_eq!(seen, stay);
}

async fn touch(store: &Store<'_>, ids: &[ExecutionId]) {
    for id in ids {
        let (execution, version) = store.versioned(*id).await;
        let changed = Execution {
            priority: execution.priority + 1,
            ..execution
        };
        store.commit(store.replacement(&changed, version)).await;
    }
}

async fn delete(store: &Store<'_>, id: ExecutionId) {
    let (execution, version) = store.versioned(id).await;
    let deletion = Transaction {
        deletes: vec![Delete::of((&Record::from(execution), version))],
        ..store.transaction(id.partition())
    };
    store.commit(deletion).await;
}

pub(super) async fn a_listing_of_nothing_is_empty(store: &Store<'_>) {
    for index in [Index::Age(None), Index::Flows, Index::Signals(store.id())] {
        assert_eq!(store.follow(&store.range(index), 1, Page::records).await, []);
    }
    for of in [HeadsOf::Queues, HeadsOf::Blocked] {
        assert_eq!(store.follow(&store.heads(of), 1, Page::heads).await, []);
    }
    let lanes = Listing::Lanes(Namespace::default_namespace());
    assert_eq!(store.follow(&lanes, 1, Page::lanes).await, []);
    assert_eq!(store.audited(store.home()).await, []);
}

pub(super) async fn a_cursor_that_is_none_is_refused(store: &Store<'_>) {
    for of in every_listing(store) {
        for text in ["", "nonsense", "'; --", "\u{0}", "{\"a\":1}"] {
            refused(store, of.clone(), Cursor(text.to_owned())).await;
        }
    }
    let range = || store.range(Index::Flows);
    for text in ["range:", "range:7", "range:\"x\"", "range:\"ABC\""] {
        refused(store, range(), Cursor(text.to_owned())).await;
    }
    let longer_than_any_place = format!("range:\"{}\"", "0".repeat(1_000));
    refused(store, range(), Cursor(longer_than_any_place)).await;
}

pub(super) async fn a_cursor_of_another_listing_is_refused(store: &Store<'_>) {
    store.submit(store.command()).await;
    let in_another_lane = CreateExecution {
        lane_id: LaneId::parse("other").expect("a lane"),
        ..store.command()
    };
    store.submit(in_another_lane).await;
    for given_by in [
        store.range(Index::Age(None)),
        store.heads(HeadsOf::Queues),
        Listing::Audit(store.home()),
    ] {
        let after = store.page(given_by.clone(), None, 1).await.next;
        let after = after.expect("there is another page");
        for of in every_listing(store) {
            if of.cursor_prefix() != given_by.cursor_prefix() {
                refused(store, of, after.clone()).await;
            }
        }
    }
}

fn every_listing(store: &Store<'_>) -> [Listing; 8] {
    let namespace = Namespace::default_namespace();
    [
        store.range(Index::Flows),
        store.heads(HeadsOf::Queues),
        Listing::History(HistorySubject::Flow(FlowId::from_uuid(store.uuid()))),
        Listing::Feed(vec![(store.home(), FeedStart::Oldest)]),
        Listing::Marks(vec![store.home()]),
        Listing::Lanes(namespace.clone()),
        Listing::Accounts {
            kind: AccountKind::Budget,
            namespace,
        },
        Listing::Audit(store.home()),
    ]
}

async fn refused(store: &Store<'_>, of: Listing, after: Cursor) {
    let query = Query {
        of,
        after: Some(after),
        limit: 10,
    };
    let answer = store.backend().list(query.clone()).await;
    assert_eq!(answer, Err(Error::InvalidCursor), "{query:?}");
}

/// Submits executions all over the partitions, each a little later than the one before.
async fn in_every_partition(store: &Store<'_>, count: u16) -> Vec<ExecutionId> {
    let partitions = store.counts().count(Family::Flow);
    let mut submitted = Vec::new();
    for n in 0..count {
        let id = store.id_in(Partition::flow((n * 37) % partitions));
        submitted.push(store.submit_as(id, store.command()).await.id);
        store.advance(Duration::from_millis(10)).await;
    }
    submitted
}
