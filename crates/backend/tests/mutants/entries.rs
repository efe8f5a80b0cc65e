//! Lists that are not entered or left as a transaction says.

use std::collections::HashMap;
use std::sync::Mutex;

use async_trait::async_trait;
use ff_backend::layer::Layer;
use ff_backend::query::{Page, Query, Rows};
use ff_backend::transaction::{CommitError, Committed, Put, Transaction, Version};
use ff_backend::{Backend, Result};
use ff_core::machine::index::entries;
use ff_core::record::{Record, RecordKey};

use crate::liar::lies;

lies! {
    // Records as they were created.
    Mutex<HashMap<RecordKey, (Record, Version)>>;
    /// A record that is replaced stays in the lists it was in.
    ListsNotLeft,
    /// A record that is deleted stays in the lists it was in.
    ListsNotLeftByDeletion,
    /// No list is entered.
    ListsNotEntered,
    /// A list is entered by a new record only.
    ListsEnteredAtCreation,
    /// A record that changes its place in a list stays where it was.
    PlaceKept,
    /// Lists have copies of records, made when they were created.
    ListsHaveOldCopies,
    /// The audit misses nothing.
    AuditMissesNothing,
}

#[async_trait]
impl Layer for Liar {
    fn inner(&self) -> &dyn Backend {
        &*self.honest
    }

    async fn commit(&self, mut batch: Vec<Transaction>) -> Vec<std::result::Result<Committed, CommitError>> {
        for transaction in &mut batch {
            let tag = transaction.tag;
            for put in &mut transaction.puts {
                self.distort(put);
                if put.expected.is_none() {
                    let mut seen = self.seen.lock().expect("no panic");
                    seen.insert(put.record.key(), (put.record.clone(), put.version(tag)));
                }
            }
            if self.lie == Lie::ListsNotLeftByDeletion {
                transaction.deletes.iter_mut().for_each(|delete| delete.listed.clear());
            }
        }
        self.inner().commit(batch).await
    }

    async fn list(&self, query: Query) -> Result<Page> {
        let mut page = self.inner().list(query).await?;
        match (self.lie, &mut page.rows) {
            (Lie::AuditMissesNothing, Rows::Audit(rows)) => rows.iter_mut().for_each(|row| row.missing.clear()),
            (Lie::ListsHaveOldCopies, Rows::Records(rows)) => {
                let seen = self.seen.lock().expect("no panic");
                for row in rows {
                    let copy = seen.get(&row.0.key()).cloned();
                    *row = copy.unwrap_or_else(|| row.clone());
                }
            }
            _ => {}
        }
        Ok(page)
    }
}

impl Liar {
    /// What a record is said to stand in already is not entered, and what it is not said to stand in is not left.
    fn distort(&self, put: &mut Put) {
        match self.lie {
            Lie::ListsNotLeft => put.listed.clear(),
            Lie::ListsNotEntered => put.listed.extend(entries(&put.record)),
            Lie::ListsEnteredAtCreation if put.expected.is_some() => put.listed.extend(entries(&put.record)),
            Lie::PlaceKept => {
                for entry in entries(&put.record) {
                    let mut listed = put.listed.iter_mut();
                    if let Some(before) = listed.find(|before| before.index == entry.index) {
                        *before = entry;
                    }
                }
            }
            _ => {}
        }
    }
}
