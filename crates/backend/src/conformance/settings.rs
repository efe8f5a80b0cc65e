//! Small shared state: compared and swapped, listed by prefix, forgotten after its time.

use std::collections::BTreeSet;

use ff_core::time::Duration;
use serde_json::{Value, json};

use super::build::Store;
use crate::settings::{Expected, Setting, SettingsOp, SettingsReply};

pub(super) async fn a_setting_is_read_back_as_it_was_written(store: &Store<'_>) {
    let values = [
        json!(null),
        json!("größe \u{0} \u{1f980}"),
        json!({"a": [1, -2.5, true, {"b": {}}], "": []}),
        json!((1_u64 << 53) - 1),
    ];
    for (n, value) in values.into_iter().enumerate() {
        let before = store.now().await;
        let written = put(store, &format!("key/{n}"), value.clone(), Expected::Anything).await;
        assert_eq!((&written.value, written.expires_at), (&value, None));
        assert!(written.updated_at >= before);
        assert_eq!(get(store, &format!("key/{n}")).await, Some(written));
    }
    assert_eq!(get(store, "key/none").await, None);
}

pub(super) async fn a_setting_is_written_only_if_it_is_what_was_expected(store: &Store<'_>) {
    let first = put(store, "key", json!(1), Expected::Absent).await;
    assert_eq!(
        one(store, write("key", json!(2), Expected::Absent)).await,
        SettingsReply::Conflict(Some(first.clone()))
    );
    let second = put(store, "key", json!(2), Expected::Revision(first.revision)).await;
    let stale = write("key", json!(3), Expected::Revision(first.revision));
    assert_eq!(one(store, stale).await, SettingsReply::Conflict(Some(second.clone())));
    let absent = write("other", json!(3), Expected::Revision(second.revision));
    assert_eq!(one(store, absent).await, SettingsReply::Conflict(None));
    assert_eq!(
        (get(store, "key").await, get(store, "other").await),
        (Some(second), None)
    );
}

pub(super) async fn a_setting_is_deleted_only_if_it_is_what_was_expected(store: &Store<'_>) {
    let first = put(store, "key", json!(1), Expected::Absent).await;
    let second = put(store, "key", json!(2), Expected::Anything).await;
    let stale = delete("key", Expected::Revision(first.revision));
    assert_eq!(one(store, stale).await, SettingsReply::Conflict(Some(second.clone())));
    assert_eq!(
        one(store, delete("key", Expected::Revision(second.revision))).await,
        SettingsReply::Absent
    );
    assert_eq!(get(store, "key").await, None);
    assert_eq!(
        one(store, delete("key", Expected::Anything)).await,
        SettingsReply::Absent
    );
}

pub(super) async fn a_revision_is_never_given_twice(store: &Store<'_>) {
    let mut revisions = BTreeSet::new();
    for n in 0..10 {
        let written = put(store, "key", json!(0), Expected::Anything).await;
        assert!(
            revisions.insert(written.revision),
            "{revisions:?} has {} already",
            written.revision
        );
        match n % 3 {
            1 => drop(one(store, delete("key", Expected::Anything)).await),
            2 => {
                let short = SettingsOp::Put {
                    key: "key".to_owned(),
                    value: Some(json!(1)),
                    expected: Expected::Anything,
                    ttl: Some(Duration::from_secs(1)),
                };
                assert!(revisions.insert(found(one(store, short).await).revision));
                store.advance(Duration::from_secs(2)).await;
            }
            _ => {}
        }
    }
}

pub(super) async fn a_setting_is_gone_after_its_time(store: &Store<'_>) {
    let ttl = Some(Duration::from_hours(1));
    let timed = SettingsOp::Put {
        key: "key".to_owned(),
        value: Some(json!(1)),
        expected: Expected::Absent,
        ttl,
    };
    let written = found(one(store, timed.clone()).await);
    let expires_at = written.expires_at.expect("it expires");
    assert_eq!(expires_at, written.updated_at + Duration::from_hours(1));
    store.advance(Duration::from_secs(3_000)).await;
    assert_eq!(get(store, "key").await, Some(written.clone()));
    store.advance(Duration::from_secs(600)).await;
    assert_eq!(get(store, "key").await, None);
    assert_eq!(list(store, "", None, 10).await, []);
    let stale = write("key", json!(2), Expected::Revision(written.revision));
    assert_eq!(one(store, stale).await, SettingsReply::Conflict(None));
    found(one(store, timed).await);
}

pub(super) async fn a_setting_written_again_has_a_new_time(store: &Store<'_>) {
    let ttl = Some(Duration::from_secs(60));
    let timed = SettingsOp::Put {
        key: "key".to_owned(),
        value: Some(json!(1)),
        expected: Expected::Anything,
        ttl,
    };
    found(one(store, timed.clone()).await);
    store.advance(Duration::from_secs(40)).await;
    found(one(store, timed).await);
    store.advance(Duration::from_secs(40)).await;
    assert!(get(store, "key").await.is_some());
    put(store, "key", json!(2), Expected::Anything).await;
    store.advance(Duration::from_hours(1)).await;
    assert_eq!(get(store, "key").await.map(|setting| setting.expires_at), Some(None));
}

pub(super) async fn settings_are_listed_by_prefix_in_order(store: &Store<'_>) {
    let keys = [
        "a",
        "a%",
        "a/",
        "a/1",
        "a/10",
        "a/2",
        "a_b",
        "aab",
        "b",
        "größe",
        "größe/1",
    ];
    for key in keys {
        put(store, key, json!(key), Expected::Absent).await;
    }
    let names = async |prefix, after, limit| {
        let settings = list(store, prefix, after, limit).await;
        assert!(settings.iter().all(|setting| setting.value == setting.key));
        settings.into_iter().map(|setting| setting.key).collect::<Vec<_>>()
    };
    assert_eq!(names("", None, 100).await, keys);
    assert_eq!(names("a/", None, 100).await, ["a/", "a/1", "a/10", "a/2"]);
    assert_eq!(names("a_", None, 100).await, ["a_b"]);
    assert_eq!(names("a%", None, 100).await, ["a%"]);
    assert_eq!(names("größe", None, 100).await, ["größe", "größe/1"]);
    assert_eq!(names("a/", Some("a/1"), 2).await, ["a/10", "a/2"]);
    assert_eq!(names("a/", Some("a/1"), 1).await, ["a/10"]);
    assert_eq!(names("c", None, 100).await, [""; 0]);
}

pub(super) async fn several_operations_are_answered_in_order(store: &Store<'_>) {
    let ops = vec![
        write("a", json!(1), Expected::Absent),
        write("a", json!(2), Expected::Absent),
        write("b", json!(3), Expected::Absent),
        SettingsOp::Get { key: "none".to_owned() },
    ];
    let replies = store.backend().settings(ops).await.expect("the store answers");
    assert_eq!(replies.len(), 4);
    assert!(matches!(&replies[0], SettingsReply::Found(setting) if setting.key == "a"));
    assert!(matches!(&replies[1], SettingsReply::Conflict(Some(setting)) if setting.value == json!(1)));
    assert!(
        matches!(&replies[2], SettingsReply::Found(setting) if setting.key == "b"),
        "one conflict stops nothing"
    );
    assert_eq!(replies[3], SettingsReply::Absent);
}

pub(super) async fn of_many_writers_of_one_revision_one_wins(store: &Store<'_>) {
    // One that is there after the first round, and in every round one that is not.
    let keys = (0..10).flat_map(|round| ["key".to_owned(), format!("key/{round}")]);
    for (round, key) in keys.enumerate() {
        let expected = match get(store, &key).await {
            None => Expected::Absent,
            Some(setting) => Expected::Revision(setting.revision),
        };
        let calls: Vec<_> = (0..8)
            .map(|n| {
                let (backend, op) = (store.backend(), write(&key, json!([round, n]), expected));
                tokio::spawn(async move { backend.settings(vec![op]).await.expect("the store answers").remove(0) })
            })
            .collect();
        let mut won = 0;
        for call in calls {
            won += usize::from(matches!(
                call.await.expect("the store answers"),
                SettingsReply::Found(_)
            ));
        }
        assert_eq!(won, 1, "round {round}");
    }
}

fn write(key: &str, value: Value, expected: Expected) -> SettingsOp {
    SettingsOp::Put {
        key: key.to_owned(),
        value: Some(value),
        expected,
        ttl: None,
    }
}

fn delete(key: &str, expected: Expected) -> SettingsOp {
    SettingsOp::delete(key.to_owned(), expected)
}

async fn one(store: &Store<'_>, op: SettingsOp) -> SettingsReply {
    let mut replies = store.backend().settings(vec![op]).await.expect("the store answers");
    assert_eq!(replies.len(), 1, "one reply per operation");
    replies.remove(0)
}

fn found(reply: SettingsReply) -> Setting {
    match reply {
        SettingsReply::Found(setting) => setting,
        other => panic!("the setting is there, got {other:?}"),
    }
}

async fn put(store: &Store<'_>, key: &str, value: Value, expected: Expected) -> Setting {
    found(one(store, write(key, value, expected)).await)
}

async fn get(store: &Store<'_>, key: &str) -> Option<Setting> {
    match one(store, SettingsOp::Get { key: key.to_owned() }).await {
        SettingsReply::Found(setting) => Some(setting),
        SettingsReply::Absent => None,
        other => panic!("a setting is there or not, got {other:?}"),
    }
}

async fn list(store: &Store<'_>, prefix: &str, after: Option<&str>, limit: usize) -> Vec<Setting> {
    let op = SettingsOp::List {
        prefix: prefix.to_owned(),
        after: after.map(str::to_owned),
        limit,
    };
    match one(store, op).await {
        SettingsReply::Page(settings) => settings,
        other => panic!("a list is a page, got {other:?}"),
    }
}
