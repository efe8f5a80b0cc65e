//! One server: started, killed, paused.

use std::time::{Duration, Instant};

use ff_postgres_server::{Options, Server};
use tokio::time::timeout;

#[tokio::test]
async fn a_server_starts_and_answers() {
    let started = Instant::now();
    let server = Server::start(Options::default()).await;
    println!("started after {:?}", started.elapsed());
    assert_eq!(
        server
            .ask("postgres", "SELECT 1, NULL, 'a|b' UNION ALL SELECT 2, 'x', ''")
            .await,
        "1||a|b\n2|x|"
    );
    assert_eq!(
        server.try_ask("postgres", "SELECT 1 / 0").await.unwrap_err(),
        "division by zero"
    );
    let refused = server.try_ask("nothing", "SELECT 1").await.unwrap_err();
    assert_eq!(refused, r#"database "nothing" does not exist"#);
    assert!(server.log_path().is_file());
}

#[tokio::test]
async fn databases_do_not_see_each_other() {
    let server = Server::start(Options::default()).await;
    let started = Instant::now();
    let (one, other) = (server.create_database().await, server.create_database().await);
    println!("two databases after {:?}", started.elapsed());
    server.ask(&one, "CREATE TABLE colours (name text)").await;
    assert!(server.try_ask(&other, "SELECT * FROM colours").await.is_err());
    assert_eq!(
        server.url(&one),
        format!("postgres://ff@127.0.0.1:{}/{one}", server.port())
    );
}

#[tokio::test]
async fn settings_can_be_chosen_and_changed() {
    let options = Options::default().fsync(true).set("max_connections", "7");
    let server = Server::start(options).await;
    assert_eq!(server.ask("postgres", "SHOW fsync").await, "on");
    assert_eq!(server.ask("postgres", "SHOW max_connections").await, "7");
    server.set("cluster_name", "it's new").await;
    let changed = "SELECT setting FROM pg_file_settings WHERE name = 'cluster_name'";
    assert_eq!(server.ask("postgres", changed).await, "it's new");
}

#[tokio::test]
async fn a_killed_server_keeps_what_was_committed() {
    let server = Server::start(Options::default()).await;
    let name = server.create_database().await;
    server.ask(&name, "CREATE TABLE colours (name text)").await;
    server.ask(&name, "INSERT INTO colours VALUES ('green')").await;

    server.kill();
    assert!(!server.is_running());
    assert!(server.try_ask(&name, "SELECT 1").await.is_err());

    let started = Instant::now();
    server.restart().await;
    println!("back after {:?}", started.elapsed());
    assert_eq!(server.ask(&name, "SELECT name FROM colours").await, "green");
}

#[tokio::test]
async fn a_statement_does_not_outlive_a_killed_server() {
    let server = Server::start(Options::default()).await;
    server.ask("postgres", "CREATE SEQUENCE steps").await;
    let endless = "DO $$ BEGIN LOOP PERFORM nextval('steps'); END LOOP; END $$";
    let mut running = Box::pin(server.try_ask("postgres", endless));
    assert!(timeout(Duration::from_millis(50), &mut running).await.is_err());
    server.restart().await;
    assert!(running.await.is_err());
    let others = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'DO %'";
    assert_eq!(server.ask("postgres", others).await, "0");
}

#[tokio::test]
async fn a_paused_server_answers_when_it_goes_on() {
    let server = Server::start(Options::default()).await;
    server.pause();
    assert!(!server.is_running());
    let mut waiting = Box::pin(server.ask("postgres", "SELECT 1"));
    assert!(timeout(Duration::from_millis(100), &mut waiting).await.is_err());
    server.resume();
    assert_eq!(waiting.await, "1");
    server.pause();
    server.restart().await;
    assert_eq!(server.ask("postgres", "SELECT 1").await, "1");
}
