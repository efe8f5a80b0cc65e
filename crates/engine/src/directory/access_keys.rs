//! Keys of callers. All of them are read at once, so that a key nobody knows costs no look of its own.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ff_backend::settings::{Expected, Setting, SettingsOp, SettingsReply};
use ff_backend::tries::Tries;
use ff_core::digest::Digest;
use ff_core::error::{Code, Rejection};
use ff_core::fabric::Result;
use ff_core::limits::KEYS_MAX;
use ff_core::name::Identity;
use ff_core::record::AccessKeyRecord;
use ff_core::record::stored;
use ff_core::time::{Duration as Millis, Timestamp};
use serde_json::Value;
use tokio::sync::Notify;
use tokio::sync::futures::OwnedNotified;

use super::{BELIEVED_FOR, names};
use crate::engine::Engine;
use crate::fault::internal;

/// How soon the keys are read again because somebody shows one that is not among them: it may have been made elsewhere.
const UNKNOWN_AFTER: Duration = Duration::from_secs(1);
/// How long passes between two notes of the same key's use.
const USE_NOTED_EVERY: Duration = Duration::from_secs(60);
/// How long the last use of a key is remembered.
const USE_KEPT_FOR: Millis = Millis::from_hours(400 * 24);

/// The keys as they were last read.
#[derive(Default)]
pub(crate) struct AccessKeys {
    read: Mutex<Option<Arc<Read>>>,
    /// One reads, the others wait for it.
    reading: tokio::sync::Mutex<()>,
    /// When the use of each key was last noted.
    noted: Mutex<HashMap<Identity, Duration>>,
    /// They may be others from now on.
    changed: Arc<Notify>,
}

struct Read {
    /// By the first bytes of their digests.
    keys: BTreeMap<String, AccessKeyRecord>,
    at: Duration,
}

/// Some keys, in the order of their names.
pub(crate) struct KeysPage {
    pub(crate) keys: Vec<(AccessKeyRecord, Option<Timestamp>)>,
    /// The name to go on after.
    pub(crate) next: Option<String>,
}

impl AccessKeys {
    /// Forgets the keys if `key` names the setting of one.
    pub(crate) fn forget(&self, key: &str) {
        if key.starts_with(names::ACCESS_KEYS) {
            self.forget_all();
        }
    }

    /// Forgets the keys.
    pub(crate) fn forget_all(&self) {
        *self.read() = None;
        self.changed.notify_waiters();
    }

    /// Completes at the next change that is heard of.
    pub(crate) fn changed(&self) -> OwnedNotified {
        Arc::clone(&self.changed).notified_owned()
    }

    fn read(&self) -> MutexGuard<'_, Option<Arc<Read>>> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn noted(&self) -> MutexGuard<'_, HashMap<Identity, Duration>> {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the use of a key is to be noted now.
    fn is_to_be_noted(&self, name: &Identity, now: Duration) -> bool {
        let mut noted = self.noted();
        let lately = noted
            .get(name)
            .is_some_and(|at| now.saturating_sub(*at) < USE_NOTED_EVERY);
        if !lately {
            noted.insert(name.clone(), now);
        }
        !lately
    }
}

impl Read {
    fn find(&self, digest: &Digest) -> Option<AccessKeyRecord> {
        self.keys
            .get(&digest.key())
            .filter(|key| key.digest == *digest)
            .cloned()
    }
}

/// The key with this digest, at most two seconds old.
pub(crate) async fn find(engine: &Engine, digest: &Digest) -> Result<Option<AccessKeyRecord>> {
    match read_within(engine, BELIEVED_FOR).await?.find(digest) {
        Some(key) => Ok(Some(key)),
        None => Ok(read_within(engine, UNKNOWN_AFTER).await?.find(digest)),
    }
}

/// How many keys there are, as of at most two seconds ago.
pub(crate) async fn count(engine: &Engine) -> Result<usize> {
    Ok(read_within(engine, BELIEVED_FOR).await?.keys.len())
}

/// Notes that a key was shown, beside what the caller waits for, and not every time.
pub(crate) fn note_use(engine: &Engine, name: &Identity) {
    let now = engine.host().elapsed();
    if !engine.shared.directory.access_keys.is_to_be_noted(name, now) {
        return;
    }
    let (engine, key) = (engine.clone(), names::access_key_use(name));
    let shared = Arc::clone(&engine.shared);
    shared.host.spawn(Box::pin(async move {
        // The store says when it was written, which is all there is to know.
        let put = SettingsOp::Put {
            key,
            value: Some(Value::Object(Default::default())),
            expected: Expected::Anything,
            ttl: Some(USE_KEPT_FOR),
        };
        if let Err(refusal) = engine.store().setting(put).await {
            tracing::debug!(%refusal, "the last use of a key was not noted");
        }
    }));
}

/// Writes a new key, if its name is free.
pub(crate) async fn add(engine: &Engine, key: &AccessKeyRecord) -> Result<()> {
    let value = stored::write_value(key).map_err(|_| internal("a key has no JSON form"))?;
    let unused = SettingsOp::delete(names::access_key_use(&key.name), Expected::Anything);
    let put = SettingsOp::Put {
        key: names::access_key(&key.name),
        value: Some(value),
        expected: Expected::Absent,
        ttl: None,
    };
    let written = engine.store().setting(put).await?;
    engine.shared.directory.access_keys.forget_all();
    match written {
        SettingsReply::Found(_) => {
            // An earlier key of this name may have left a late note.
            engine.store().setting(unused).await?;
            Ok(())
        }
        _ => Err(Code::AlreadyExists.because(format!("there is a key named {} already; revoke it first", key.name))),
    }
}

/// Deletes the key of this name, if there is one that `may` lets the caller delete.
pub(crate) async fn remove(
    engine: &Engine,
    name: &Identity,
    may: impl Fn(&AccessKeyRecord) -> bool + Send,
) -> Result<()> {
    let key = names::access_key(name);
    let mut tries = Tries::default();
    loop {
        let found = engine.store().setting(SettingsOp::Get { key: key.clone() }).await?;
        let SettingsReply::Found(setting) = found else {
            return Err(no_key(name));
        };
        if !parse(&setting).is_none_or(|key| may(&key)) {
            return Err(no_key(name));
        }
        let delete = SettingsOp::delete(key.clone(), Expected::Revision(setting.revision));
        let deleted = engine.store().setting(delete).await?;
        engine.shared.directory.access_keys.forget_all();
        if let SettingsReply::Absent = deleted {
            let forget_use = SettingsOp::delete(names::access_key_use(name), Expected::Anything);
            engine.store().setting(forget_use).await?;
            return Ok(());
        }
        tries.again(engine.store()).await?;
    }
}

/// Keys after a name, with their last use.
pub(crate) async fn page(engine: &Engine, after: Option<String>, limit: usize) -> Result<KeysPage> {
    // One more tells whether there is another page.
    let mut settings = list(engine, after, limit + 1).await?;
    let more = settings.len() > limit;
    settings.truncate(limit);
    let next = settings.last().filter(|_| more).map(|last| last.key.clone());
    let keys: Vec<AccessKeyRecord> = settings.iter().filter_map(parse).collect();
    let uses = keys.iter().map(|key| SettingsOp::Get {
        key: names::access_key_use(&key.name),
    });
    let uses = engine.store().settings(uses.collect()).await?;
    let used_at = |reply| match reply {
        SettingsReply::Found(setting) => Some(setting.updated_at),
        _ => None,
    };
    Ok(KeysPage {
        keys: keys.into_iter().zip(uses.into_iter().map(used_at)).collect(),
        next,
    })
}

/// All keys, at most this old.
async fn read_within(engine: &Engine, age: Duration) -> Result<Arc<Read>> {
    let known = &engine.shared.directory.access_keys;
    let fresh = |read: &Arc<Read>| engine.host().elapsed().saturating_sub(read.at) < age;
    if let Some(read) = known.read().clone().filter(fresh) {
        return Ok(read);
    }
    let _reading = known.reading.lock().await;
    if let Some(read) = known.read().clone().filter(fresh) {
        return Ok(read);
    }
    let at = engine.host().elapsed();
    let settings = list(engine, None, KEYS_MAX).await?;
    let keys: BTreeMap<_, _> = settings
        .iter()
        .filter_map(parse)
        .map(|key| (key.digest.key(), key))
        .collect();
    let names: HashSet<&Identity> = keys.values().map(|key| &key.name).collect();
    known.noted().retain(|name, _| names.contains(name));
    let read = Arc::new(Read { keys, at });
    *known.read() = Some(Arc::clone(&read));
    Ok(read)
}

async fn list(engine: &Engine, after: Option<String>, limit: usize) -> Result<Vec<Setting>> {
    let list = SettingsOp::List {
        prefix: names::ACCESS_KEYS.to_owned(),
        after,
        limit,
    };
    match engine.store().setting(list).await? {
        SettingsReply::Page(keys) => Ok(keys),
        _ => Err(internal("a list of settings was answered with something else")),
    }
}

/// The key of a setting. One that cannot be read opens nothing, and must not shut out all the others.
fn parse(setting: &Setting) -> Option<AccessKeyRecord> {
    let key = stored::read_value(setting.value.clone());
    if key.is_err() {
        tracing::warn!(
            setting = setting.key,
            "a stored key is damaged; revoke it and make another"
        );
    }
    key.ok()
}

fn no_key(name: &Identity) -> Rejection {
    Code::KeyNotFound.because(format!("there is no key named {name}"))
}
