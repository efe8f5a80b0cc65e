//! More places stop counting at once than one step removes.

use ff_core::id::{ExecutionId, GrantId};
use ff_core::ledger::{Entry, LedgerAnswer, LedgerCall, PlaceEntry, PlacesSeen, Read, ReadMeters, ReadPlaces, Take};
use ff_core::partition::PartitionCounts;
use ff_core::time::Duration;
use uuid::Uuid;

use super::{Scratch, quota};

const WINDOW: Duration = Duration::from_secs(10);
const MANY: u128 = 600;

fn take(number: u128) -> LedgerCall {
    LedgerCall::Take(Take {
        path: vec![(quota(1), 1)],
        grant: GrantId::from_uuid(Uuid::from_u128(number)),
        holder: ExecutionId::new(3, Uuid::from_u128(number)),
        instead_of: None,
        tiers: vec![vec![Entry::Place(PlaceEntry {
            at: 0,
            name: format!("place {number}"),
            window: WINDOW,
            at_most: 1_000,
        })]],
        mark: None,
    })
}

/// In a window that has become much longer.
fn read() -> LedgerCall {
    LedgerCall::Read(Read {
        account: quota(1),
        meters: ReadMeters::All,
        places: vec![ReadPlaces {
            window: Duration::from_hours(1),
            at_most: 1,
            beside: None,
        }],
    })
}

fn places(answer: &LedgerAnswer) -> PlacesSeen {
    match answer {
        LedgerAnswer::Account(view) => view.places[0],
        other => panic!("{other:?} instead of an account"),
    }
}

#[tokio::test]
async fn a_place_that_has_stopped_counting_never_counts_again_however_many_there_are() {
    let scratch = Scratch::new().await;
    scratch.create(quota(1)).await;
    scratch.ask((0..MANY).map(take).collect()).await;
    let before = scratch.ask(vec![read()]).await;
    assert_eq!(u128::from(places(&before[0]).count), MANY);
    scratch.backend.advance_clock(WINDOW);
    let gone = |count| PlacesSeen { count, falls_at: None };
    let answers = scratch.ask(vec![take(MANY), read()]).await;
    assert_eq!(places(&answers[1]), gone(1), "seen by the same batch");
    let answers = scratch.ask(vec![read()]).await;
    assert_eq!(places(&answers[0]), gone(1), "seen by the next one");
    let log = format!(
        "{}:places:{}",
        quota(1).partition(&PartitionCounts::default()),
        quota(1)
    );
    let mut left = scratch.server.ask(&format!("ZCARD {log}")).await.integer();
    assert!(left > 1, "{left} are left: one step removes some of them");
    for number in 1..=3 {
        scratch.backend.advance_clock(WINDOW);
        scratch.ask(vec![take(MANY + number)]).await;
        let now_left = scratch.server.ask(&format!("ZCARD {log}")).await.integer();
        assert!(now_left < left || now_left == 1, "{now_left} of {left} are left");
        left = now_left;
    }
    assert_eq!(left, 1, "they go away with use");
}
