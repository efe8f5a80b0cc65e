//! A server that cannot be used.

use ff_backend_postgres::{OpenError, Options, PostgresBackend};
use ff_postgres_server::{Database, Replication, Server};

use super::{impatient, options, refused};

#[tokio::test]
async fn a_server_that_forgets_what_it_acknowledged_is_refused_unless_that_is_allowed() {
    let database = Database::fresh().await;
    let (refused, said) = refused(&Options::new(database.url())).await;
    assert!(matches!(refused, OpenError::LosesWrites(_)), "{said}");
    assert!(
        said.starts_with("fsync is off: acknowledged work would be lost"),
        "{said}"
    );
    PostgresBackend::open(&options(database.url())).await.unwrap();
}

#[tokio::test]
async fn commits_that_are_not_waited_for_are_refused_too() {
    let server = Server::start(ff_postgres_server::Options::default().fsync(true)).await;
    let database = server.create_database().await;
    let alter = format!("ALTER DATABASE {database} SET synchronous_commit = off");
    server.ask(&database, &alter).await;
    let (refused, said) = refused(&Options::new(server.url(&database))).await;
    assert!(matches!(refused, OpenError::LosesWrites(_)), "{said}");
    assert!(said.starts_with("synchronous_commit is off: "), "{said}");
    server
        .ask(
            &database,
            &format!("ALTER DATABASE {database} RESET synchronous_commit"),
        )
        .await;
    PostgresBackend::open(&Options::new(server.url(&database)))
        .await
        .unwrap();
}

#[tokio::test]
async fn a_standby_is_refused_as_one_and_beside_its_primary_it_is_passed_over() {
    let primary = Server::start(Default::default()).await;
    let database = primary.create_database().await;
    let standby = primary.standby(Replication::Synchronous).await;
    let (refused, said) = refused(&impatient(standby.url(&database))).await;
    assert!(matches!(refused, OpenError::Standby), "{said}");
    assert!(said.contains("standby") && said.contains("name the primary"), "{said}");
    let group = format!(
        "host=127.0.0.1,127.0.0.1 port={},{} user=ff dbname={database}",
        standby.port(),
        primary.port()
    );
    PostgresBackend::open(&options(group)).await.unwrap();
}

#[tokio::test]
async fn a_database_or_a_server_that_is_not_there_is_told_apart() {
    let database = Database::fresh().await;
    let missing = database.url().replace(database.name(), "nowhere");
    let (refused_there, said) = refused(&impatient(missing)).await;
    assert!(matches!(refused_there, OpenError::Refused(_)), "{said}");
    assert!(said.contains("\"nowhere\" does not exist"), "{said}");
    let (nobody, said) = refused(&impatient("postgres://me:hunter2@127.0.0.1:1/d".to_owned())).await;
    assert!(matches!(nobody, OpenError::Unreachable(_)), "{said}");
    assert!(
        said.starts_with("PostgreSQL does not answer: ") && !said.contains("hunter2"),
        "{said}"
    );
    let (no_address, said) = refused(&impatient("postgres://me:hunter2@/d?port=x".to_owned())).await;
    assert!(matches!(no_address, OpenError::Address(_)), "{said}");
    assert!(!said.contains("hunter2"), "{said}");
}
