//! Bytes that change, or that stay when they should go.

use std::collections::BTreeMap;
use std::sync::Mutex;

use async_trait::async_trait;
use ff_backend::frames::{Append, AppendError, Appended};
use ff_backend::layer::Layer;
use ff_backend::load::{Load, Snapshot};
use ff_backend::transaction::{CommitError, Committed, Transaction};
use ff_backend::{Backend, Result};
use ff_core::name::ContentType;
use ff_core::payload::Payload;
use ff_core::record::BlobKey;

use crate::liar::lies;

lies! {
    // Every blob that was ever committed.
    Mutex<BTreeMap<BlobKey, Payload>>;
    /// What bytes mean is forgotten.
    ContentTypeLost,
    /// Payloads are taken for text.
    BlobsThroughUtf8Lossy,
    /// Bytes are kept for executions that do not exist.
    BlobsOfNobodyKept,
}

#[async_trait]
impl Layer for Liar {
    fn inner(&self) -> &dyn Backend {
        &*self.honest
    }

    async fn commit(&self, mut batch: Vec<Transaction>) -> Vec<std::result::Result<Committed, CommitError>> {
        for (key, payload) in batch.iter_mut().flat_map(|transaction| &mut transaction.blobs) {
            self.distort(payload);
            self.seen.lock().expect("no panic").insert(*key, payload.clone());
        }
        self.inner().commit(batch).await
    }

    async fn load(&self, loads: Vec<Load>) -> Result<Vec<Snapshot>> {
        let asked: Vec<Vec<BlobKey>> = loads.iter().map(|load| load.blobs.clone()).collect();
        let mut snapshots = self.inner().load(loads).await?;
        if self.lie == Lie::BlobsOfNobodyKept {
            let kept = self.seen.lock().expect("no panic");
            for (snapshot, keys) in snapshots.iter_mut().zip(asked) {
                let found = keys.into_iter().filter_map(|key| Some((key, kept.get(&key)?.clone())));
                snapshot.blobs.extend(found);
            }
        }
        Ok(snapshots)
    }

    async fn append(&self, mut batch: Vec<Append>) -> Vec<std::result::Result<Appended, AppendError>> {
        batch
            .iter_mut()
            .for_each(|append| self.distort(&mut append.frame.payload));
        self.inner().append(batch).await
    }
}

impl Liar {
    fn distort(&self, payload: &mut Payload) {
        match self.lie {
            Lie::ContentTypeLost => payload.content_type = ContentType::binary(),
            Lie::BlobsThroughUtf8Lossy => {
                payload.bytes = String::from_utf8_lossy(&payload.bytes).into_owned().into();
            }
            Lie::BlobsOfNobodyKept => {}
        }
    }
}
