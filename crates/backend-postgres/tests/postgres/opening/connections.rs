//! Not enough connections.

use ff_backend::settings::SettingsOp;
use ff_backend::{Backend, Error};
use ff_backend_postgres::{OpenError, Options, PostgresBackend};
use ff_postgres_server::{Database, Server};
use tokio_postgres::NoTls;

use super::{impatient, options, refused};

#[tokio::test]
async fn while_all_connections_are_in_use_it_is_said_what_allows_more() {
    let database = Database::fresh().await;
    let alone = Options {
        connections_max: 1,
        ..options(database.url())
    };
    let store = PostgresBackend::open(&alone).await.unwrap();
    let (blocker, connection) = tokio_postgres::connect(&database.url(), NoTls).await.unwrap();
    let connection = tokio::spawn(connection);
    blocker.batch_execute("BEGIN; LOCK TABLE setting").await.unwrap();
    let key = "any".to_owned();
    let (user, ask) = (store.clone(), vec![SettingsOp::Get { key }]);
    let waiting = tokio::spawn(async move { user.settings(ask).await });
    let waits = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'relation'";
    while database.ask(waits).await != "1" {}
    let Err(Error::Unavailable(said)) = store.ping().await else {
        panic!("there is no connection left")
    };
    assert!(said.contains("all 1 connections are in use"), "{said}");
    assert!(said.contains("`postgres_connections_max`"), "{said}");
    drop(blocker);
    connection.await.unwrap().unwrap();
    waiting.await.unwrap().unwrap();
    store.ping().await.unwrap();
}

#[tokio::test]
async fn a_limit_of_the_role_or_of_the_database_is_named_with_what_can_be_done() {
    let server = Server::start(Default::default()).await;
    let database = server.create_database().await;
    let set = async |sql: &str| server.ask(&database, sql).await;
    // Nobody limits a superuser.
    set("CREATE ROLE guest LOGIN").await;
    set("GRANT CREATE ON SCHEMA public TO guest").await;
    set(&format!("GRANT CREATE ON DATABASE {database} TO guest")).await;
    let guest = server.url(&database).replace("ff@", "guest@");
    let role = "ALTER ROLE guest CONNECTION LIMIT";
    let own = format!("ALTER DATABASE {database} CONNECTION LIMIT");
    PostgresBackend::open(&options(guest.clone())).await.unwrap();
    // One is enough to look at the database, and two to call it, but not to listen as well.
    for (limit, names) in [(role, "role \"guest\""), (own.as_str(), "database")] {
        for few in 0..3 {
            set(&format!("{limit} {few}")).await;
            let (refused, said) = refused(&impatient(guest.clone())).await;
            assert!(matches!(refused, OpenError::Unreachable(_)), "{few}: {refused:?}");
            assert!(said.contains(&format!("too many connections for {names}")), "{said}");
            for knob in ["CONNECTION LIMIT", "`max_connections`", "`postgres_connections_max`"] {
                assert!(said.contains(knob), "{knob}: {said}");
            }
        }
        set(&format!("{limit} -1")).await;
    }
    PostgresBackend::open(&options(guest)).await.unwrap();
}
