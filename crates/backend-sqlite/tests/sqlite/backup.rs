//! Copies of a store that is in use.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ff_backend::Backend;
use ff_backend::settings::{Expected, SettingsOp, SettingsReply};
use ff_backend_sqlite::{OpenError, Options, Problem, SqliteBackend};
use serde_json::{Value, json};

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_made_while_writes_go_on_is_the_store_at_one_moment() {
    let directory = tempfile::tempdir().unwrap();
    let store = Arc::new(SqliteBackend::open(&Options::new(directory.path().join("store.db"))).unwrap());
    // Enough pages for several steps.
    for n in 0..16 {
        put(&store, &[(&format!("ballast/{n}"), json!("x".repeat(1 << 20)))]).await;
    }
    let done = Arc::new(AtomicBool::new(false));
    let writing = tokio::spawn({
        let (store, done) = (Arc::clone(&store), Arc::clone(&done));
        async move {
            let mut written = 0;
            while !done.load(Ordering::Relaxed) {
                written += 1;
                put(&store, &[("left", json!(written)), ("right", json!(written))]).await;
            }
            written
        }
    });
    let copy = directory.path().join("copy.db");
    let copied = tokio::task::spawn_blocking({
        let (store, copy) = (Arc::clone(&store), copy.clone());
        move || store.backup(&copy)
    });
    copied.await.unwrap().unwrap();
    done.store(true, Ordering::Relaxed);
    assert!(writing.await.unwrap() > 0);
    let copy = SqliteBackend::open(&Options::new(copy)).unwrap();
    assert_eq!(get(&copy, "left").await, get(&copy, "right").await);
    assert_eq!(get(&copy, "ballast/15").await, get(&store, "ballast/15").await);
}

#[tokio::test]
async fn only_the_owner_may_read_a_copy() {
    let directory = tempfile::tempdir().unwrap();
    let store = SqliteBackend::open(&Options::new(directory.path().join("store.db"))).unwrap();
    let copy = directory.path().join("copy.db");
    store.backup(&copy).unwrap();
    assert_eq!(fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o600);
    let names = fs::read_dir(directory.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name());
    let copies: Vec<_> = names
        .filter(|name| name.to_string_lossy().starts_with("copy"))
        .collect();
    assert_eq!(copies, ["copy.db"], "nothing else is left behind");
}

#[tokio::test]
async fn a_copy_never_replaces_a_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store.db");
    let store = SqliteBackend::open(&Options::new(&path)).unwrap();
    let taken = directory.path().join("taken.db");
    fs::write(&taken, "precious").unwrap();
    // Opened, the copy would take in what an earlier store has left in its log.
    let (free, log) = (directory.path().join("free.db"), directory.path().join("free.db-wal"));
    fs::write(&log, "of another store").unwrap();
    for (to, there) in [(&taken, &taken), (&path, &path), (&free, &log)] {
        let OpenError { path, problem } = store.backup(to).unwrap_err();
        match problem {
            Problem::File(source) => assert_eq!((&path, source.kind()), (there, ErrorKind::AlreadyExists)),
            other => panic!("the file is there, got {other}"),
        }
    }
    assert!(!free.exists());
    assert_eq!(fs::read(&taken).unwrap(), b"precious");
}

async fn put(store: &SqliteBackend, settings: &[(&str, Value)]) {
    let ops = settings.iter().map(|(key, value)| SettingsOp::Put {
        key: (*key).to_owned(),
        value: Some(value.clone()),
        expected: Expected::Anything,
        ttl: None,
    });
    store.settings(ops.collect()).await.unwrap();
}

async fn get(store: &SqliteBackend, key: &str) -> Option<Value> {
    let op = SettingsOp::Get { key: key.to_owned() };
    match store.settings(vec![op]).await.unwrap().remove(0) {
        SettingsReply::Found(setting) => Some(setting.value),
        _ => None,
    }
}
