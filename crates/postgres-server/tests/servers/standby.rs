//! A primary and who follows it.

use std::time::{Duration, Instant};

use ff_postgres_server::{Options, Replication, Server};
use tokio::time::{sleep, timeout};

const COLOURS: &str = "SELECT name FROM colours";

async fn primary() -> Server {
    let primary = Server::start(Options::default()).await;
    primary.ask("postgres", "CREATE TABLE colours (name text)").await;
    primary
}

#[tokio::test]
async fn a_standby_follows_and_is_promoted_and_followed_by_the_former_primary() {
    let primary = primary().await;
    let started = Instant::now();
    let standby = primary.standby(Replication::Asynchronous).await;
    println!("follows after {:?}", started.elapsed());
    primary.ask("postgres", "INSERT INTO colours VALUES ('green')").await;
    let deadline = Instant::now() + Duration::from_secs(10);
    while standby.ask("postgres", COLOURS).await != "green" {
        assert!(Instant::now() < deadline, "the standby does not follow");
        sleep(Duration::from_millis(5)).await;
    }
    let write = "INSERT INTO colours VALUES ('blue')";
    assert!(standby.try_ask("postgres", write).await.is_err());

    primary.kill();
    let started = Instant::now();
    standby.promote().await;
    println!("promoted after {:?}", started.elapsed());
    standby.ask("postgres", write).await;
    assert_eq!(standby.ask("postgres", COLOURS).await, "green\nblue");

    let port = primary.port();
    primary.follow(&standby, Replication::Synchronous).await;
    standby.ask("postgres", "INSERT INTO colours VALUES ('red')").await;
    standby.kill();
    primary.promote().await;
    assert_eq!(primary.ask("postgres", COLOURS).await, "green\nblue\nred");
    assert_eq!(primary.port(), port);
}

#[tokio::test]
async fn a_synchronous_primary_answers_no_commit_without_its_standby() {
    let primary = primary().await;
    let standby = primary.standby(Replication::Synchronous).await;
    primary.ask("postgres", "INSERT INTO colours VALUES ('green')").await;

    standby.pause();
    let mut waiting = Box::pin(primary.ask("postgres", "INSERT INTO colours VALUES ('blue')"));
    assert!(timeout(Duration::from_millis(100), &mut waiting).await.is_err());
    standby.resume();
    waiting.await;

    primary.kill();
    standby.promote().await;
    assert_eq!(standby.ask("postgres", COLOURS).await, "green\nblue");
    let second = standby.standby(Replication::Synchronous).await;
    standby.ask("postgres", "INSERT INTO colours VALUES ('red')").await;
    standby.kill();
    second.promote().await;
    second.ask("postgres", "INSERT INTO colours VALUES ('white')").await;
    assert_eq!(second.ask("postgres", COLOURS).await, "green\nblue\nred\nwhite");
}
