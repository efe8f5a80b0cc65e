//! The ring of signing keys.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ff_backend::settings::{Expected, Setting, SettingsOp, SettingsReply};
use ff_backend::tries::Tries;
use ff_core::fabric::Result;
use ff_core::keyring::{self, KeyRing, RotateWaitpointSecret, Rotated, Secret};
use ff_core::name::Kid;
use ff_core::record::stored;
use ff_core::time::Timestamp;

use super::{BELIEVED_FOR, names};
use crate::engine::Engine;
use crate::fault::internal;
use crate::mint;

/// The ring as it was last read.
#[derive(Default)]
pub(crate) struct Keys {
    ring: Mutex<Option<Read>>,
}

#[derive(Clone)]
struct Read {
    ring: Arc<KeyRing>,
    revision: u64,
    at: Duration,
}

impl Keys {
    /// Forgets the ring if `key` names it.
    pub(crate) fn forget(&self, key: &str) {
        if key == names::KEYS {
            self.forget_all();
        }
    }

    /// Forgets the ring.
    pub(crate) fn forget_all(&self) {
        *self.ring() = None;
    }

    fn ring(&self) -> MutexGuard<'_, Option<Read>> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The ring, at most two seconds old; made with a random key when the store has none.
pub(crate) async fn ring(engine: &Engine) -> Result<Arc<KeyRing>> {
    Ok(read_ring(engine).await?.ring)
}

/// The ring to verify something signed with `kid`, and the time to verify it at. A kid the ring does not know may be
/// newer than what is remembered: it is read again before anything is refused.
pub(crate) async fn ring_for(engine: &Engine, kid: Option<Kid>) -> Result<(Arc<KeyRing>, Timestamp)> {
    let ring = read_ring(engine).await?;
    let now = engine.store_time().await?;
    if kid.is_some_and(|kid| !ring.ring.knows(&kid, now)) {
        engine.shared.directory.keys.forget_all();
        return Ok((read_ring(engine).await?.ring, now));
    }
    Ok((ring.ring, now))
}

/// Makes another key current.
pub(crate) async fn rotate(engine: &Engine, command: &RotateWaitpointSecret) -> Result<Rotated> {
    let mut tries = Tries::default();
    loop {
        engine.shared.directory.keys.forget_all();
        let read = read_ring(engine).await?;
        let now = engine.store_time().await?;
        let (ring, rotated) = keyring::rotate(&read.ring, command, now)?;
        if ring == *read.ring
            || write_ring(engine, &ring, Expected::Revision(read.revision))
                .await?
                .is_some()
        {
            return Ok(rotated);
        }
        tries.again(engine.store()).await?;
    }
}

async fn read_ring(engine: &Engine) -> Result<Read> {
    let now = engine.host().elapsed();
    let remembered = engine.shared.directory.keys.ring().clone();
    if let Some(read) = remembered.filter(|read| now.saturating_sub(read.at) < BELIEVED_FOR) {
        return Ok(read);
    }
    match stored_ring(engine).await? {
        Some(read) => Ok(read),
        None => first_ring(engine).await,
    }
}

async fn stored_ring(engine: &Engine) -> Result<Option<Read>> {
    let get = SettingsOp::Get {
        key: names::KEYS.to_owned(),
    };
    match engine.store().setting(get).await? {
        SettingsReply::Found(setting) => learn(engine, setting).map(Some),
        _ => Ok(None),
    }
}

/// The first start makes a random key; of two that start together one wins, and both use its key.
async fn first_ring(engine: &Engine) -> Result<Read> {
    let ring = KeyRing::first(
        Kid::parse("k1")?,
        Secret::from_random(mint::secret_bytes(engine.host())),
    );
    if let Some(written) = write_ring(engine, &ring, Expected::Absent).await? {
        return Ok(written);
    }
    let missing = || internal("the signing keys are neither there nor can they be made");
    stored_ring(engine).await?.ok_or_else(missing)
}

/// Writes the ring if it is still what was expected; `None` when it is not.
async fn write_ring(engine: &Engine, ring: &KeyRing, expected: Expected) -> Result<Option<Read>> {
    let value = stored::write_value(ring).map_err(|_| internal("the signing keys have no JSON form"))?;
    let put = SettingsOp::Put {
        key: names::KEYS.to_owned(),
        value: Some(value),
        expected,
        ttl: None,
    };
    match engine.store().setting(put).await? {
        SettingsReply::Found(setting) => learn(engine, setting).map(Some),
        _ => Ok(None),
    }
}

fn learn(engine: &Engine, setting: Setting) -> Result<Read> {
    // The text of a parse error may hold the secret.
    let ring = stored::read_value(setting.value).map_err(|_| internal("the stored signing keys are damaged"))?;
    let read = Read {
        ring: Arc::new(ring),
        revision: setting.revision,
        at: engine.host().elapsed(),
    };
    *engine.shared.directory.keys.ring() = Some(read.clone());
    Ok(read)
}
