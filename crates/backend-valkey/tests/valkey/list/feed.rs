//! Feeds that are old, long, or have lost lines.

use ff_backend::query::{FeedPosition, FeedStart, Listing, Page, Query};
use ff_backend::transaction::{Tag, Transaction};
use ff_backend::{Backend, Error};
use ff_core::partition::Partition;
use ff_core::time::Duration;

use super::{Scratch, execution, line, moment, template};

const HERE: Partition = Partition::flow(3);
const THERE: Partition = Partition::flow(4);

#[tokio::test]
async fn a_reader_who_has_seen_everything_may_sleep_as_long_as_it_likes() {
    let scratch = Scratch::new().await;
    tell(&scratch, HERE, 3).await;
    let [.., last] = read(&scratch, &[(HERE, None)], 10).await.unwrap()[..] else {
        panic!("there are lines");
    };
    scratch.backend.advance_clock(Duration::from_hours(100));
    assert_eq!(read(&scratch, &[(HERE, Some(last))], 10).await, Ok(vec![]));
    tell(&scratch, HERE, 2).await;
    assert_eq!(read(&scratch, &[(HERE, Some(last))], 10).await.unwrap().len(), 2);
}

#[tokio::test]
async fn lines_of_yesterday_are_not_shown_and_are_missed_aloud() {
    let scratch = Scratch::new().await;
    tell(&scratch, HERE, 3).await;
    let old = read(&scratch, &[(HERE, None)], 10).await.unwrap();
    scratch.backend.advance_clock(Duration::from_hours(25));
    assert_eq!(read(&scratch, &[(HERE, None)], 10).await, Ok(vec![]));
    let expired = |oldest| {
        Err(Error::CursorExpired {
            partition: HERE,
            oldest,
        })
    };
    assert_eq!(read(&scratch, &[(HERE, Some(old[0]))], 10).await, expired(None));
    tell(&scratch, HERE, 1).await;
    let today = read(&scratch, &[(HERE, None)], 10).await.unwrap();
    assert_eq!(
        read(&scratch, &[(HERE, Some(old[0]))], 10).await,
        expired(Some(today[0]))
    );
}

#[tokio::test]
async fn a_long_feed_beside_many_empty_ones_fills_the_page() {
    let scratch = Scratch::new().await;
    tell(&scratch, HERE, 500).await;
    tell(&scratch, THERE, 1).await;
    let asked: Vec<_> = (0..256).map(|index| (Partition::flow(index), None)).collect();
    assert_eq!(read(&scratch, &asked, 100).await.unwrap().len(), 100);
}

#[tokio::test]
async fn a_position_of_another_store_is_refused() {
    let scratch = Scratch::new().await;
    let position = FeedPosition {
        major: moment(0).as_millis(),
        minor: 4,
    };
    let oldest = None;
    assert_eq!(
        read(&scratch, &[(HERE, Some(position))], 10).await,
        Err(Error::CursorExpired {
            partition: HERE,
            oldest
        })
    );
}

/// Adds lines to the feed of a partition.
async fn tell(scratch: &Scratch, partition: Partition, lines: usize) {
    let about = execution(&template(), 1, partition.index, moment(0));
    for chunk in (0..lines).collect::<Vec<_>>().chunks(100) {
        let history = chunk.iter().map(|n| line(&about, &n.to_string())).collect();
        let transaction = Transaction {
            history,
            ..Transaction::new(partition, Tag(1))
        };
        for committed in scratch.backend.commit(vec![transaction]).await {
            committed.unwrap();
        }
    }
}

/// The positions of the next lines.
async fn read(
    scratch: &Scratch,
    asked: &[(Partition, Option<FeedPosition>)],
    limit: usize,
) -> Result<Vec<FeedPosition>, Error> {
    let start = |after: Option<FeedPosition>| after.map_or(FeedStart::Oldest, FeedStart::After);
    let asked = asked.iter().map(|(partition, after)| (*partition, start(*after)));
    let query = Query {
        of: Listing::Feed(asked.collect()),
        after: None,
        limit,
    };
    let lines = Page::feed(scratch.backend.list(query).await?);
    Ok(lines.into_iter().map(|(_, position, _)| position).collect())
}
