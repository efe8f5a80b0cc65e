//! What keeps a store from being opened.

use ff_backend_postgres::{OpenError, Options, PostgresBackend};
use ff_postgres_server::Database;

fn options(url: String) -> Options {
    Options {
        may_lose_writes: true,
        ..Options::new(url)
    }
}

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
