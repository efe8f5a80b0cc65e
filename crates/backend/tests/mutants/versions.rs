//! Versions that are compared carelessly: a transaction is told to expect what there is.

use async_trait::async_trait;
use ff_backend::Backend;
use ff_backend::layer::Layer;
use ff_backend::load::Load;
use ff_backend::transaction::{CommitError, Committed, Delete, Role, Transaction, Version};
use ff_core::record::RecordKey;

use crate::liar::lies;

lies! {
    ();
    /// Guards are not compared.
    IgnoreGuards,
    /// Versions of replaced and deleted records are not compared.
    IgnoreVersions,
    /// Versions are compared by their counter, whoever wrote them.
    CompareCounterOnly,
    /// A record that must not exist is overwritten.
    AbsentPutOverwrites,
}

impl Lie {
    fn overlooks(self, role: Role, expected: Option<Version>, found: Option<Version>) -> bool {
        match self {
            Lie::IgnoreGuards => role == Role::Guard,
            Lie::IgnoreVersions => role != Role::Guard && expected.is_some(),
            Lie::CompareCounterOnly => expected.map(|v| v.counter) == found.map(|v| v.counter),
            Lie::AbsentPutOverwrites => role == Role::Put && expected.is_none(),
        }
    }
}

#[async_trait]
impl Layer for Liar {
    fn inner(&self) -> &dyn Backend {
        &*self.honest
    }

    async fn commit(&self, batch: Vec<Transaction>) -> Vec<Result<Committed, CommitError>> {
        let mut answers = Vec::new();
        for mut transaction in batch {
            self.overlook(&mut transaction).await;
            answers.push(self.honest.commit_one(transaction).await);
        }
        answers
    }
}

impl Liar {
    async fn overlook(&self, transaction: &mut Transaction) {
        let keys: Vec<RecordKey> = transaction.expectations().map(|(_, key, _)| key).collect();
        let there = self.honest.load_one(Load::records(transaction.partition, keys)).await;
        let seen = |role, key: &RecordKey, expected| {
            let found = there.version(key);
            if self.lie.overlooks(role, expected, found) {
                found
            } else {
                expected
            }
        };
        for (key, expected) in &mut transaction.guards {
            *expected = seen(Role::Guard, key, *expected);
        }
        for put in &mut transaction.puts {
            let expected = seen(Role::Put, &put.record.key(), put.expected);
            if put.expected.is_none() && expected.is_some() {
                // Only what did not exist may have one.
                put.ttl = None;
            }
            put.expected = expected;
        }
        let deletes = std::mem::take(&mut transaction.deletes).into_iter();
        let found = deletes.filter_map(|delete| {
            let expected = seen(Role::Delete, &delete.key, Some(delete.expected))?;
            Some(Delete { expected, ..delete })
        });
        transaction.deletes = found.collect();
    }
}
