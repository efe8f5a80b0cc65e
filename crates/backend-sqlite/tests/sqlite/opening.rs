//! Opening a store: who may, what is checked, and what the messages say.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use ff_backend::Backend;
use ff_backend_sqlite::{Options, Problem, SqliteBackend};
use ff_core::partition::PartitionCounts;
use ff_core::time::Duration;
use rusqlite::Connection;
use tempfile::TempDir;

fn place() -> (TempDir, Options) {
    let directory = tempfile::tempdir().unwrap();
    let options = Options::new(directory.path().join("store.db"));
    (directory, options)
}

fn refusal(options: &Options) -> Problem {
    SqliteBackend::open(options).map(|_| ()).unwrap_err().problem
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_second_opener_is_told_who_has_the_store() {
    let (_directory, options) = place();
    let first = SqliteBackend::open(&options).unwrap();
    let refused = refusal(&options);
    assert!(matches!(refused, Problem::Locked(_)), "{refused}");
    let own = format!("process {}", std::process::id());
    assert!(refused.to_string().contains(&own), "{refused}");
    drop(first);
    SqliteBackend::open(&options).unwrap();
}

#[test]
fn only_the_owner_may_read_the_files() {
    let (directory, options) = place();
    let _store = SqliteBackend::open(&options).unwrap();
    for name in ["store.db", "store.db.lock", "store.db-wal"] {
        assert_eq!(mode(&directory.path().join(name)), 0o600, "{name}");
    }
}

#[test]
fn a_file_of_somebody_else_is_left_alone() {
    let (_directory, options) = place();
    let other = Connection::open(&options.path).unwrap();
    other.execute_batch("CREATE TABLE theirs (x)").unwrap();
    drop(other);
    let refused = refusal(&options);
    assert!(matches!(refused, Problem::Foreign), "{refused}");
    let tables: i64 = Connection::open(&options.path)
        .unwrap()
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .unwrap();
    assert_eq!(tables, 1, "nothing was added to it");
}

#[test]
fn a_file_that_is_no_database_is_called_damaged() {
    let (_directory, options) = place();
    fs::write(&options.path, vec![b'x'; 8_192]).unwrap();
    let refused = refusal(&options);
    assert!(matches!(refused, Problem::Damaged(_)), "{refused}");
}

#[test]
fn a_damaged_page_is_found_when_the_file_is_opened() {
    let (_directory, options) = place();
    drop(SqliteBackend::open(&options).unwrap());
    let mut bytes = fs::read(&options.path).unwrap();
    // Whole pages behind the first one: whatever they hold, it is a table or an index of the schema.
    bytes[4 * 4_096..8 * 4_096].fill(0xA5);
    fs::write(&options.path, bytes).unwrap();
    let refused = refusal(&options);
    assert!(matches!(refused, Problem::Damaged(_)), "{refused}");
}

#[test]
fn a_newer_schema_is_refused_with_both_versions() {
    let (_directory, options) = place();
    drop(SqliteBackend::open(&options).unwrap());
    let file = Connection::open(&options.path).unwrap();
    file.execute("INSERT INTO migration VALUES (1000, 'later', 0)", [])
        .unwrap();
    drop(file);
    let refused = refusal(&options);
    assert!(matches!(refused, Problem::Newer { .. }), "{refused}");
}

#[test]
fn a_migration_with_another_text_is_refused() {
    let (_directory, options) = place();
    drop(SqliteBackend::open(&options).unwrap());
    let file = Connection::open(&options.path).unwrap();
    file.execute("UPDATE migration SET checksum = 'edited'", []).unwrap();
    drop(file);
    assert!(matches!(refusal(&options), Problem::Diverged(1)));
}

#[test]
fn other_partition_counts_are_refused_with_both_values() {
    let (_directory, options) = place();
    drop(SqliteBackend::open(&options).unwrap());
    let other = Options {
        counts: PartitionCounts::new(64, 32, 32).unwrap(),
        ..options
    };
    let refused = refusal(&other);
    let message = refused.to_string();
    assert!(message.contains("64") && message.contains("256"), "{message}");
}

#[tokio::test]
async fn the_clock_does_not_go_back_over_a_restart() {
    let (_directory, options) = place();
    let store = SqliteBackend::open(&options).unwrap();
    store.advance_clock(Duration::from_hours(1_000));
    let seen = store
        .settings(vec![put_setting()])
        .await
        .map(|_| ())
        .and(store.ping().await)
        .unwrap();
    drop(store);
    let again = SqliteBackend::open(&options).unwrap();
    assert!(again.ping().await.unwrap() + Duration::from_secs(1) >= seen);
}

fn put_setting() -> ff_backend::settings::SettingsOp {
    ff_backend::settings::SettingsOp::Put {
        key: "seen".to_owned(),
        value: Some(serde_json::json!(true)),
        expected: ff_backend::settings::Expected::Anything,
        ttl: None,
    }
}
