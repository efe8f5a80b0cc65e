//! What a later version wrote, and this one does not know, stays: in every record, through every way of writing it.

use ff_core::command::lease::Fail;
use ff_core::command::submit::CreateExecution;
use ff_core::machine::fail;
use ff_core::name::Category;
use ff_core::policy::{Backoff, Policy, RetryPolicy};
use ff_core::record::stored::{FORMAT, read_record, write_record};
use ff_core::record::{Execution, Record, RecordKey};
use ff_core::time::Duration;
use serde_json::{Value, json};

use super::build::{Store, every_record, fence};
use crate::transaction::{Put, Version};

/// Where a later version may have added a member, as far as a record has such a part.
const PARTS: [&str; 12] = [
    "",
    "/definition",
    "/definition/policy",
    "/dependencies",
    "/attempt",
    "/phase/runnable/next_claim",
    "/phase/active",
    "/phase/suspended",
    "/phase/terminal",
    "/pending_waitpoints/0",
    "/outbox/1",
    "/cancellation",
];

/// The record as a later version would have written it. A gate has no later form.
fn later(record: &Record) -> Option<Record> {
    let key = record.key();
    let mut document = document(record);
    for part in PARTS {
        if let Some(Value::Object(members)) = document.pointer_mut(part) {
            members.insert("later".to_owned(), json!({ "at": part, "list": [1, null] }));
        }
    }
    if let Some(members) = document.as_object_mut() {
        members.remove("format");
    }
    let text = document.to_string();
    let marked = format!("{{\"format\":{},{}", FORMAT + 1, &text[1..]);
    let read = read_record(&key, &marked).expect("what is not known is not refused");
    (!matches!(record, Record::Gate(_))).then_some(read)
}

fn document(record: &Record) -> Value {
    let text = write_record(record).expect("a record is a document");
    serde_json::from_str(&text).expect("a document")
}

/// What a record holds at `part` that is not known here.
fn unknown_at(record: &Record, part: &str) -> Option<Value> {
    document(record).pointer(&format!("{part}/later")).cloned()
}

pub(super) async fn what_is_not_known_comes_back_as_it_was_written(store: &Store<'_>) {
    let mut parts = 0;
    for record in every_record(store).await.iter().filter_map(later) {
        let creation = store.creation(store.home(), [record.clone()]);
        let version = Version::first(creation.tag);
        store.commit(creation).await;
        let found = store.record(store.home(), record.key()).await;
        assert_eq!(found, Some((record.clone(), version)));
        let (found, _) = found.expect("it was just compared");
        assert_eq!(document(&found), document(&record));
        parts += PARTS.iter().filter(|part| unknown_at(&found, part).is_some()).count();
    }
    assert!(parts > 2 * PARTS.len(), "{parts} parts held something unknown");
    store.audited(store.home()).await;
}

pub(super) async fn a_hand_out_leaves_what_is_not_known(store: &Store<'_>) {
    let id = submit_later(store).await.id;
    let task = store.take().await;
    assert_eq!(task.execution.id, id);
    let stored = Record::from(store.execution(id).await);
    for record in [Record::from(task.execution), stored] {
        for part in ["", "/definition", "/definition/policy"] {
            assert!(unknown_at(&record, part).is_some(), "{part:?} of {record:?}");
        }
    }
}

pub(super) async fn what_is_not_known_of_an_attempt_goes_where_the_attempt_goes(store: &Store<'_>) {
    let id = submit_later(store).await.id;
    let task = store.take().await;
    let (leased, version) = store.versioned(id).await;
    let later = later(&Record::from(leased)).expect("an execution has a later form");
    replace(store, later, version).await;
    let category = Category::parse("transient").expect("a category");
    let fail = Fail {
        fence: Some(fence(&task)),
        reason: "again".to_owned(),
        category,
        retry_after: None,
        steps: Vec::new(),
    };
    store
        .apply(id, |execution, context| fail::fail(execution, &fail, context))
        .await;
    let failed = Record::from(store.execution(id).await);
    assert!(unknown_at(&failed, "/attempt").is_some(), "the attempt is the same");
    store.take().await;
    let (archived, _) = store
        .record(store.home(), RecordKey::Attempt(id, 0))
        .await
        .expect("an attempt that another followed has a record");
    assert_eq!(
        unknown_at(&archived, ""),
        Some(json!({ "at": "/attempt", "list": [1, null] }))
    );
    let next = Record::from(store.execution(id).await);
    assert_eq!(unknown_at(&next, "/attempt"), None, "it is another attempt");
    assert!(unknown_at(&next, "").is_some());
}

/// An execution that waits to be claimed and is retried at once, as a later version would have written it.
async fn submit_later(store: &Store<'_>) -> Execution {
    let retry_policy = Some(RetryPolicy {
        backoff: Backoff::Fixed { delay: Duration::ZERO },
        ..RetryPolicy::default()
    });
    let policy = Policy {
        retry_policy,
        ..Policy::default()
    };
    let submitted = store
        .submit(CreateExecution {
            policy,
            ..store.command()
        })
        .await;
    let (execution, version) = store.versioned(submitted.id).await;
    let record = later(&Record::from(execution)).expect("an execution has a later form");
    replace(store, record, version).await;
    store.execution(submitted.id).await
}

async fn replace(store: &Store<'_>, record: Record, version: Version) {
    let mut transaction = store.transaction(store.home());
    transaction.puts.push(Put::unlisted(record, Some(version)));
    store.commit(transaction).await;
}
