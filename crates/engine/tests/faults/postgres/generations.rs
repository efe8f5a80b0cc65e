//! What was decided before a failover is not taken for what was decided after it.

use std::sync::Arc;
use std::time::Duration;

use ff_backend::load::{Load, Snapshot};
use ff_backend::query::{FeedPosition, FeedStart, Listing, Query};
use ff_backend::transaction::{CommitError, Generation, Tag, Transaction};
use ff_backend::{Backend, Error};
use ff_core::command::submit::CreateExecution;
use ff_core::id::ExecutionId;
use ff_core::machine::Context;
use ff_core::machine::submit::{Known, create};
use ff_core::name::ExecutionKind;
use ff_core::partition::Partition;
use ff_core::payload::Payload;
use ff_postgres_server::{Replication, Server};

use super::{Site, open};

/// Both standbys tell something of the first, and one of them of the second.
const BOTH: Partition = Partition::flow(7);
const ONE: Partition = Partition::flow(8);
/// While nobody takes writes.
const PAUSE: Duration = Duration::from_millis(20);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn standbys_of_one_primary_that_are_promoted_in_turn_have_generations_of_their_own() {
    let site = Site::start().await;
    let database = &site.database;
    drop(open(site.url()).await);
    let first = site.server.standby(Replication::Asynchronous).await;
    let second = site.server.standby(Replication::Asynchronous).await;
    let ports = [&site.server, &first, &second].map(Server::port);
    let [a, b, c] = ports.map(|port| format!("127.0.0.1:{port}"));
    let store = open(format!("postgres://ff@{a},{b},{c}/{database}")).await;
    let before = generation(&store).await;

    site.server.kill();
    first.promote().await;
    submit(&store, BOTH).await;
    submit(&store, ONE).await;
    let of_first = generation(&store).await;
    let seen = [newest(&store, BOTH).await, newest(&store, ONE).await];
    no_line_is_of_no_generation(&first, database).await;

    first.kill();
    second.promote().await;
    submit(&store, BOTH).await;
    let of_second = generation(&store).await;
    no_line_is_of_no_generation(&second, database).await;

    assert_ne!(before, of_first);
    assert_ne!(of_first, of_second, "both have the same timeline of the same cluster");
    assert_ne!(before, of_second);
    for old in [before, of_first] {
        let decided = Transaction {
            generation: Some(old),
            ..submission(&store, BOTH).await
        };
        let refused = store.commit(vec![decided]).await.remove(0);
        assert_eq!(refused, Err(CommitError::OtherGeneration));
    }
    let left = feed(&store, BOTH, FeedStart::Oldest).await.unwrap();
    for (partition, seen, left) in [(BOTH, seen[0], left.first()), (ONE, seen[1], None)] {
        let lost = feed(&store, partition, FeedStart::After(seen)).await;
        let oldest = left.copied();
        assert_eq!(lost, Err(Error::CursorExpired { partition, oldest }));
    }
}

/// What a restored dump of another cluster, further on than this one, leaves: the same rows in tables that are new.
const BROUGHT_IN: &str = "BEGIN;
    CREATE TABLE brought_in (LIKE generation INCLUDING ALL);
    INSERT INTO brought_in SELECT * FROM generation;
    DROP TABLE generation;
    ALTER TABLE brought_in RENAME TO generation;
    UPDATE feed SET xid = xid + 1000000000;
    INSERT INTO feed_trimmed (partition, xid, number, written_at, trimmed_at) VALUES (8, 2000000000, 1, 0, 0);
    COMMIT";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_a_dump_brought_in_has_a_generation_of_its_own_and_no_feed_that_is_ahead_of_it() {
    let site = Site::start().await;
    let store = open(site.url()).await;
    submit(&store, BOTH).await;
    let before = generation(&store).await;
    let decided = Transaction {
        generation: Some(before),
        ..submission(&store, BOTH).await
    };
    site.server.ask(&site.database, BROUGHT_IN).await;
    let seen = newest_there_is(&site).await;

    let refused = store.commit(vec![decided]).await.remove(0);
    assert_eq!(refused, Err(CommitError::OtherGeneration));
    assert_ne!(generation(&store).await, before);
    submit(&store, BOTH).await;

    let told = feed(&store, BOTH, FeedStart::Oldest).await.unwrap();
    let [told] = told[..] else { panic!("{told:?}") };
    for (partition, seen, oldest) in [
        (BOTH, seen, Some(told)),
        (
            ONE,
            FeedPosition {
                major: 2_000_000_000,
                minor: 1 << 32,
            },
            None,
        ),
    ] {
        let lost = feed(&store, partition, FeedStart::After(seen)).await;
        assert_eq!(lost, Err(Error::CursorExpired { partition, oldest }));
    }
    let generations = site.server.ask(&site.database, "SELECT count(*) FROM generation").await;
    assert_eq!(generations, "2");
    assert_eq!(generation(&store).await, generation(&store).await);
}

/// Where a reader of the other cluster stands who has seen everything.
async fn newest_there_is(site: &Site) -> FeedPosition {
    let row = site
        .server
        .ask(
            &site.database,
            "SELECT xid, number, generation FROM feed ORDER BY xid DESC, number DESC LIMIT 1",
        )
        .await;
    let values: Vec<i64> = row.split('|').map(|value| value.parse().unwrap()).collect();
    let [xid, number, generation] = values[..] else {
        panic!("{row}")
    };
    FeedPosition {
        major: xid.cast_unsigned(),
        minor: number.cast_unsigned() << 32 | (generation.cast_unsigned() & u64::from(u32::MAX)),
    }
}

/// Two lines may stand at the same place of two histories: the generation tells them apart.
async fn no_line_is_of_no_generation(server: &Server, database: &str) {
    let lines = server
        .ask(database, "SELECT count(*) FROM feed WHERE generation = 0")
        .await;
    assert_eq!(lines, "0");
}

async fn generation(store: &Arc<dyn Backend>) -> Generation {
    snapshot(store).await.generation
}

/// Nothing of the partition, as soon as somebody answers.
async fn snapshot(store: &Arc<dyn Backend>) -> Snapshot {
    loop {
        match store.load(vec![Load::records(BOTH, [])]).await {
            Ok(mut snapshots) => return snapshots.remove(0),
            Err(Error::Unavailable(_)) => tokio::time::sleep(PAUSE).await,
            Err(error) => panic!("{error}"),
        }
    }
}

/// Submits something without a look at the store before.
async fn submit(store: &Arc<dyn Backend>, partition: Partition) {
    loop {
        let submission = submission(store, partition).await;
        match store.commit(vec![submission]).await.remove(0) {
            Ok(_) => return,
            Err(CommitError::Store(Error::Unavailable(_) | Error::Unknown(_))) => tokio::time::sleep(PAUSE).await,
            Err(error) => panic!("{error}"),
        }
    }
}

async fn submission(store: &Arc<dyn Backend>, partition: Partition) -> Transaction {
    let now = loop {
        match store.ping().await {
            Ok(now) => break now,
            Err(Error::Unavailable(_)) => tokio::time::sleep(PAUSE).await,
            Err(error) => panic!("{error}"),
        }
    };
    let id = ExecutionId::new(partition.index, uuid::Uuid::now_v7());
    let command = CreateExecution::new(ExecutionKind::parse("fault").unwrap(), Payload::default());
    let decided = create(&command, id, Known::default(), &Context::engine(now)).unwrap();
    Transaction::bind(decided.draft, &Snapshot::empty(partition, now), Tag(rand::random()))
}

/// Where the newest line stands.
async fn newest(store: &Arc<dyn Backend>, partition: Partition) -> FeedPosition {
    feed(store, partition, FeedStart::Oldest).await.unwrap().pop().unwrap()
}

async fn feed(
    store: &Arc<dyn Backend>,
    partition: Partition,
    from: FeedStart,
) -> ff_backend::Result<Vec<FeedPosition>> {
    let query = Query {
        of: Listing::Feed(vec![(partition, from)]),
        after: None,
        limit: 100,
    };
    let lines = store.list(query).await?.feed();
    Ok(lines.into_iter().map(|(_, position, _)| position).collect())
}
