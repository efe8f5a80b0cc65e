//! What is asked for again and again, over all partitions.

use ff_backend::query::{HeadsOf, Listing, Page};
use ff_core::machine::index::{Index, Order};
use ff_core::machine::placement::score;
use ff_core::partition::{Family, Partition, PartitionCounts};
use ff_core::record::{Cause, Execution};

use super::{Scratch, blocked_by, budget, calls_of, moment};

const CAUSE: Cause = budget(1);

fn blocked(n: u64, partition: u16) -> Execution {
    blocked_by(CAUSE, n, partition, moment(n))
}

#[tokio::test]
async fn what_is_held_back_is_asked_for_only_where_somebody_has_written() {
    let scratch = Scratch::new().await;
    let all: Vec<Partition> = PartitionCounts::default().all(Family::Flow).collect();
    let heads = Listing::Heads {
        of: HeadsOf::Blocked,
        partitions: all.clone(),
        count: 0,
    };
    let find = async || scratch.follow(&heads, 1, Page::heads).await.0;
    let asked = async || calls_of(&scratch, "zrangebylex").await;
    assert!(find().await.is_empty());
    assert!(find().await.is_empty());
    assert_eq!(asked().await, all.len());
    let held = [blocked(1, 7), blocked(2, 3), blocked(3, 3)];
    scratch.write_executions(&held).await;
    let found = find().await;
    let places = found
        .iter()
        .map(|head| (head.partition.index, &head.index, &head.first));
    let first = [&held[1], &held[0]].map(|execution| Order::best(&score(execution)));
    let wanted = [
        (3, &Index::Blocked(CAUSE), &first[0]),
        (7, &Index::Blocked(CAUSE), &first[1]),
    ];
    assert!(places.eq(wanted), "{found:?}");
    // Each was asked for its one list and for the end.
    assert_eq!(asked().await, all.len() + 4);
}

#[tokio::test]
async fn very_many_causes_are_seen_once_each() {
    let scratch = Scratch::new().await;
    let causes: Vec<Cause> = (1..=2_100).map(budget).collect();
    let held = (0..).zip(&causes).map(|(n, cause)| blocked_by(*cause, n, 0, moment(n)));
    scratch.write_executions(&held.collect::<Vec<_>>()).await;
    let heads = Listing::Heads {
        of: HeadsOf::Blocked,
        partitions: vec![Partition::flow(0)],
        count: 0,
    };
    let (found, _) = scratch.follow(&heads, 400, Page::heads).await;
    let found: Vec<Index> = found.into_iter().map(|head| head.index).collect();
    assert_eq!(found, causes.into_iter().map(Index::Blocked).collect::<Vec<_>>());
}
