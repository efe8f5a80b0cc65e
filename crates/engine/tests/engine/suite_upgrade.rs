//! The whole interface in the middle of a rolling upgrade: after every write a newer server has written the record too, with
//! members nobody here knows. Nothing is refused, and whoever writes such a record again must not have lost them.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard};

use async_trait::async_trait;
use ff_backend::layer::Layer;
use ff_backend::ledger::LedgerReply;
use ff_backend::memory::MemoryBackend;
use ff_backend::settings::{Expected, Setting, SettingsOp, SettingsReply};
use ff_backend::transaction::{CommitError, Committed, Put, Tag, Transaction};
use ff_backend::{Backend, Result};
use ff_core::ledger::LedgerCall;
use ff_core::partition::PartitionCounts;
use ff_core::record::Record;
use ff_core::record::stored::{FORMAT, read_record, write_record};
use serde_json::{Value, json};

use crate::support::{EngineHarness, START};

const LATER: &str = "later";

/// A store that a newer server writes to as well.
struct Upgrading {
    store: Arc<MemoryBackend>,
    /// Settings that were read with what the newer server wrote.
    shown: Mutex<BTreeSet<(String, u64)>>,
}

impl Upgrading {
    /// What is stored of a record once the newer server has written it.
    fn written_by_both(put: Put) -> Put {
        let key = put.record.key();
        if matches!(put.record, Record::Gate(_)) {
            return put;
        }
        let mut document: Value = serde_json::from_str(&write_record(&put.record).unwrap()).unwrap();
        add(&mut document);
        document.as_object_mut().unwrap().remove("format");
        let text = document.to_string();
        let marked = format!("{{\"format\":{},{}", FORMAT + 1, &text[1..]);
        let record = read_record(&key, &marked).unwrap();
        Put { record, ..put }
    }

    /// What a newer server has written into a setting before it is read.
    fn add_to(&self, setting: &mut Setting) {
        if setting.key.starts_with("lane/") || setting.key.starts_with("keys/") {
            setting.value[LATER] = json!(1);
            setting.value["format"] = json!(FORMAT + 1);
            self.shown().insert((setting.key.clone(), setting.revision));
        }
    }

    /// Fails if whoever read a setting has lost what a newer server wrote.
    fn check_setting(&self, op: &SettingsOp) {
        if let SettingsOp::Put {
            key,
            value: Some(value),
            expected: Expected::Revision(revision),
            ..
        } = op
            && self.shown().contains(&(key.clone(), *revision))
        {
            assert!(value.get(LATER).is_some(), "{key} lost what a newer server wrote");
        }
    }

    fn shown(&self) -> MutexGuard<'_, BTreeSet<(String, u64)>> {
        self.shown.lock().unwrap()
    }
}

/// What waits is written by the newer server once more: whoever remembers what it wrote of a flow finds that it has changed.
fn written_again(transaction: Transaction) -> Option<Transaction> {
    let tag = transaction.tag;
    let waits = |put: &Put| match &put.record {
        Record::Edge(_) => true,
        Record::Execution(execution) => execution.dependencies.as_ref().is_some_and(|edges| edges.waiting),
        _ => false,
    };
    let puts = transaction.puts.into_iter().filter(waits);
    let again = puts.map(|put| Put::replace(put.record.clone(), (&put.record, put.version(tag))));
    let again = Transaction {
        puts: again.collect(),
        ..Transaction::new(transaction.partition, Tag(tag.0 ^ 1))
    };
    (!again.puts.is_empty()).then_some(again)
}

/// What an account says of itself once the newer server has written it.
fn defined_by_both(body: &str, is_new: bool) -> String {
    let mut document: Value = serde_json::from_str(body).unwrap();
    let kept = document.get(LATER).is_some();
    assert!(kept || is_new, "an account lost what a newer server wrote: {document}");
    document[LATER] = json!(1);
    document.as_object_mut().unwrap().remove("format");
    format!("{{\"format\":{},{}", FORMAT + 1, &document.to_string()[1..])
}

/// The parts of a record that have a name: as long as they keep it, they keep what is not known of them.
fn named_parts(document: &Value) -> Vec<(String, Value)> {
    let attempt = document.get("attempt").map(|_| "/attempt".to_owned());
    let phase = document.get("phase").and_then(Value::as_object);
    let phase = phase.and_then(|phase| phase.keys().next().map(|name| format!("/phase/{name}")));
    let named = |part: String| {
        let id = document.pointer(&part)?.get("id")?.clone();
        Some((part, id))
    };
    attempt.into_iter().chain(phase).filter_map(named).collect()
}

/// Fails if a record that was there before has lost what a newer server wrote into it.
fn check_put(put: &Put) {
    if put.expected.is_some() && !matches!(put.record, Record::Gate(_)) {
        check(&serde_json::from_str(&write_record(&put.record).unwrap()).unwrap());
    }
}

/// Fails if a part has lost what a newer server wrote into it.
fn check(document: &Value) {
    let own = document.get(LATER);
    let own = own.unwrap_or_else(|| panic!("lost what a newer server wrote: {document}"));
    for part in ["/definition", "/definition/policy"] {
        let kept = document.pointer(part).is_none_or(|part| part.get(LATER).is_some());
        assert!(kept, "{part} lost what a newer server wrote: {document}");
    }
    for (part, id) in named_parts(document) {
        let same = own["parts"].get(&part) == Some(&id);
        let kept = document.pointer(&format!("{part}/{LATER}")).is_some();
        assert_eq!(same, kept, "{part} lost or took what a newer server wrote: {document}");
    }
}

/// Adds members as a newer server would.
fn add(document: &mut Value) {
    let parts: Value = named_parts(document)
        .into_iter()
        .collect::<serde_json::Map<_, _>>()
        .into();
    let Some(Value::Object(definition)) = document.get_mut("definition") else {
        document[LATER] = json!({ "parts": {} });
        return;
    };
    definition.entry("policy").or_insert(json!({}));
    for part in ["/definition", "/definition/policy"] {
        if let Some(part) = document.pointer_mut(part) {
            part[LATER] = json!([part.to_string().len()]);
        }
    }
    for part in parts.as_object().into_iter().flat_map(serde_json::Map::keys) {
        if let Some(part) = document.pointer_mut(part) {
            part[LATER] = json!("anything");
        }
    }
    document[LATER] = json!({ "parts": parts });
}

#[async_trait]
impl Layer for Upgrading {
    fn inner(&self) -> &dyn Backend {
        &*self.store
    }

    async fn commit(&self, batch: Vec<Transaction>) -> Vec<std::result::Result<Committed, CommitError>> {
        let upgraded = batch.iter().cloned().map(|transaction| Transaction {
            puts: transaction.puts.into_iter().map(Self::written_by_both).collect(),
            ..transaction
        });
        let upgraded: Vec<_> = upgraded.collect();
        let answers = self.store.commit(upgraded.clone()).await;
        for (transaction, _) in batch.iter().zip(&answers).filter(|(_, answer)| answer.is_ok()) {
            transaction.puts.iter().for_each(check_put);
        }
        let landed = upgraded.into_iter().zip(&answers).filter(|(_, answer)| answer.is_ok());
        let again = landed.filter_map(|(transaction, _)| written_again(transaction));
        // Where somebody was faster, the record has changed as well.
        let _faster = self.store.commit(again.collect()).await;
        answers
    }

    async fn ledger(&self, mut calls: Vec<LedgerCall>) -> Vec<Result<LedgerReply>> {
        for call in &mut calls {
            if let LedgerCall::Amend(amend) = call {
                let is_new = amend.expected == ff_core::ledger::Expected::Absent;
                amend.body = amend.body.take().map(|body| defined_by_both(&body, is_new));
            }
        }
        self.store.ledger(calls).await
    }

    async fn settings(&self, ops: Vec<SettingsOp>) -> Result<Vec<SettingsReply>> {
        ops.iter().for_each(|op| self.check_setting(op));
        let reads = ops
            .iter()
            .map(|op| matches!(op, SettingsOp::Get { .. } | SettingsOp::List { .. }));
        let reads: Vec<bool> = reads.collect();
        let mut replies = self.store.settings(ops).await?;
        for (reply, _) in replies.iter_mut().zip(reads).filter(|(_, read)| *read) {
            match reply {
                SettingsReply::Found(setting) => self.add_to(setting),
                SettingsReply::Page(settings) => settings.iter_mut().for_each(|setting| self.add_to(setting)),
                SettingsReply::Absent | SettingsReply::Conflict(_) => {}
            }
        }
        Ok(replies)
    }
}

async fn make() -> EngineHarness {
    let store = Arc::new(MemoryBackend::new(START, PartitionCounts::default()));
    let clock = Arc::clone(&store);
    let upgrading = Upgrading {
        store,
        shown: Mutex::default(),
    };
    EngineHarness::over(Arc::new(upgrading), move |by| clock.advance(by), |_| ())
}

ff_fabric_suite::fabric_suite!(make);
