//! A database that holds something else.

use ff_backend_postgres::{OpenError, Options, PostgresBackend};
use ff_core::partition::PartitionCounts;
use ff_postgres_server::Database;

use super::{options, refused};

#[tokio::test]
async fn a_database_holds_one_store_and_another_schema_of_it_is_refused() {
    let database = Database::fresh().await;
    PostgresBackend::open(&options(database.url())).await.unwrap();
    PostgresBackend::open(&options(database.url())).await.unwrap();
    database.ask("CREATE SCHEMA mine").await;
    let other = options(format!("{}?options=-c%20search_path%3Dmine", database.url()));
    let refused = PostgresBackend::open(&other).await;
    assert!(matches!(refused, Err(OpenError::Shared)), "{refused:?}");
    assert_eq!(
        database.ask("SELECT to_regclass('mine.execution')").await,
        "",
        "nothing was made"
    );
}

#[tokio::test]
async fn a_schema_of_a_newer_release_is_refused_and_left_alone() {
    let database = Database::fresh().await;
    PostgresBackend::open(&options(database.url())).await.unwrap();
    database
        .ask("INSERT INTO migration (version, checksum) SELECT max(version) + 1, 'later' FROM migration")
        .await;
    let (refused, said) = refused(&options(database.url())).await;
    let OpenError::Newer { found, known } = refused else {
        panic!("{said}")
    };
    assert_eq!(found, known + 1);
    let versions = format!("has version {found}, this program knows {known}: upgrade it");
    assert!(said.contains(&versions), "{said}");
}

#[tokio::test]
async fn a_schema_that_somebody_else_made_is_refused() {
    let database = Database::fresh().await;
    PostgresBackend::open(&options(database.url())).await.unwrap();
    database
        .ask("UPDATE migration SET checksum = 'mine' WHERE version = 1")
        .await;
    let (refused, said) = refused(&options(database.url())).await;
    assert!(matches!(refused, OpenError::Diverged(1)), "{said}");
    assert!(
        said.contains("migration 1 in the database is not the one of this program"),
        "{said}"
    );
}

#[tokio::test]
async fn other_partition_counts_than_the_store_was_made_with_are_refused() {
    let database = Database::fresh().await;
    PostgresBackend::open(&options(database.url())).await.unwrap();
    let others = Options {
        counts: PartitionCounts::new(7, 32, 32).unwrap(),
        ..options(database.url())
    };
    let (refused, said) = refused(&others).await;
    assert!(matches!(refused, OpenError::Counts(_)), "{said}");
    assert!(said.contains('7') && said.contains("256"), "{said}");
}
