//! The server that test processes share.

use std::future::pending;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use ff_postgres_server::Database;
use tempfile::TempDir;
use tokio::time::sleep;

use crate::child;

#[tokio::test]
async fn a_database_goes_with_who_made_it() {
    let started = Instant::now();
    let kept = Database::fresh().await;
    println!("the first after {:?}", started.elapsed());
    let started = Instant::now();
    let dropped = Database::fresh().await;
    println!("the next after {:?}", started.elapsed());
    let count = format!("SELECT count(*) FROM pg_database WHERE datname = '{}'", dropped.name());
    assert_eq!(kept.ask(&count).await, "1");
    let started = Instant::now();
    drop(dropped);
    println!("removed after {:?}", started.elapsed());
    assert_eq!(kept.ask(&count).await, "0");
    assert!(kept.url().ends_with(kept.name()));
}

/// Processes with a temporary directory of their own share a server of their own.
#[tokio::test]
async fn processes_share_a_server_that_ends_after_the_last() {
    const TEST: &str = "shared::processes_share_a_server_that_ends_after_the_last";
    const SERVER: &str = "SELECT pg_postmaster_start_time(), current_setting('data_directory')";
    if child::am_child() {
        let database = Database::fresh().await;
        child::tell(&database.ask(SERVER).await);
        return pending().await;
    }
    let temporary = TempDir::new().unwrap();
    let (first, server) = child::start(TEST, temporary.path());
    let (second, same_server) = child::start(TEST, temporary.path());
    assert_eq!(server, same_server);
    let own = Database::fresh().await;
    assert_ne!(
        own.ask(SERVER).await,
        server,
        "it is found by who has another temporary directory"
    );

    // Who started it is gone; who comes next finds it still.
    child::kill(first);
    let (third, same_server) = child::start(TEST, temporary.path());
    assert_eq!(server, same_server);
    child::kill(second);
    child::kill(third);
    let (fourth, same_server) = child::start(TEST, temporary.path());
    assert_eq!(server, same_server, "it waits a while for the next");

    child::kill(fourth);
    let data = PathBuf::from(server.split_once('|').unwrap().1);
    let deadline = Instant::now() + Duration::from_secs(20);
    while data.parent().unwrap().exists() {
        assert!(Instant::now() < deadline, "the server outlived its users");
        sleep(Duration::from_millis(10)).await;
    }
    let (fifth, new_server) = child::start(TEST, temporary.path());
    assert_ne!(server, new_server);
    child::kill(fifth);
}
