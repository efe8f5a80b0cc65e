//! The write-ahead log while the store is written.

use std::fs;
use std::path::Path;

use ff_backend::Backend;
use ff_backend::settings::{Expected, SettingsOp};
use ff_backend_sqlite::{Durability, Options, SqliteBackend};

/// Far more than should be needed: the log is begun anew every hundred writes or so.
const WRITES_MAX: usize = 100_000;

/// How often the log was begun anew; its header says so.
fn log_number(log: &Path) -> u32 {
    let bytes = fs::read(log).unwrap();
    let number = bytes.get(12..16).map(|number| number.try_into().unwrap());
    number.map_or(0, u32::from_be_bytes)
}

async fn write(store: &SqliteBackend, number: usize) {
    let put = SettingsOp::Put {
        key: "number".to_owned(),
        value: Some(serde_json::json!(number)),
        expected: Expected::Anything,
        ttl: None,
    };
    store.settings(vec![put]).await.unwrap();
}

#[tokio::test]
async fn the_log_begins_anew_while_the_store_is_written_and_is_gone_when_it_is_closed() {
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("store.db-wal");
    let store = SqliteBackend::open(&Options {
        durability: Durability::Normal,
        ..Options::new(directory.path().join("store.db"))
    })
    .unwrap();
    let first = log_number(&log);
    let mut writes = 0;
    while log_number(&log) < first + 3 {
        assert!(writes < WRITES_MAX, "the log only grows");
        for _ in 0..100 {
            write(&store, writes).await;
            writes += 1;
        }
    }
    drop(store);
    assert!(!log.exists(), "only the database is left");
}
