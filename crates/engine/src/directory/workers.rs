//! Worker processes that are there, as they registered or claimed.
//!
//! A registration is a setting with a time to live: the store forgets a worker that was not heard of.

mod seen;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ff_backend::settings::{Expected, Setting, SettingsOp, SettingsReply};
use ff_backend::tries::Tries;
use ff_core::command::claim::Claim;
use ff_core::fabric::Result;
use ff_core::limits::PAGE_MAX;
use ff_core::machine::{Context, worker};
use ff_core::name::{Namespace, WorkerInstanceId};
use ff_core::record::stored;
use ff_core::record::{Drain, Incarnation, Worker};
use uuid::Uuid;

use self::seen::{SeenWorkers, Slot};
pub(crate) use self::seen::{WorkerSeen, worker_seen, write_seen_workers};
use super::{BELIEVED_FOR, names};
use crate::engine::Engine;
use crate::fault::internal;

/// The incarnation of a registration that only claims made: which start of the process they came from is not known.
const UNNAMED: Incarnation = Incarnation(Uuid::nil());

/// Workers by namespace, with the time they were read at.
type Read = BTreeMap<Namespace, (Arc<[Worker]>, Duration)>;

/// Workers as they were last read, and as their claims were seen.
#[derive(Default)]
pub(crate) struct Roster {
    read: Mutex<Read>,
    seen: Mutex<SeenWorkers>,
    /// Those that are to finish what they have, as their registrations said when they were last read or written: at the latest
    /// when their next claims were.
    drained: Mutex<BTreeMap<Slot, Drain>>,
}

/// Some registrations, in the order of their names.
pub(crate) struct RosterPage {
    /// Also workers that are no longer live.
    pub(crate) workers: Vec<Worker>,
    /// The name to go on after.
    pub(crate) next: Option<String>,
}

/// A registration in the store.
struct Registration {
    worker: Worker,
    revision: u64,
}

impl Roster {
    /// Forgets the workers if `key` names one.
    pub(crate) fn forget(&self, key: &str) {
        if key.starts_with("worker/") {
            self.forget_all();
        }
    }

    /// Forgets the workers.
    pub(crate) fn forget_all(&self) {
        self.read().clear();
    }

    /// Why a worker process is handed nothing; `None`: it may have work.
    pub(crate) fn drain_of(&self, namespace: &Namespace, instance: &WorkerInstanceId) -> Option<Drain> {
        let drained = self.drained.lock().unwrap_or_else(PoisonError::into_inner);
        if drained.is_empty() {
            return None;
        }
        drained.get(&(namespace.clone(), instance.clone())).cloned()
    }

    /// The registration of a slot was read or written.
    fn note_drain(&self, worker: Option<&Worker>, slot: Slot) {
        let mut drained = self.drained.lock().unwrap_or_else(PoisonError::into_inner);
        match worker.and_then(|worker| worker.drain.clone()) {
            Some(drain) => _ = drained.insert(slot, drain),
            None => _ = drained.remove(&slot),
        }
    }

    fn read(&self) -> MutexGuard<'_, Read> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn seen(&self) -> MutexGuard<'_, SeenWorkers> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Workers of a namespace, at most two seconds old. Whether one is still live says [`Worker::is_live`].
pub(crate) async fn all(engine: &Engine, namespace: &Namespace) -> Result<Arc<[Worker]>> {
    let now = engine.host().elapsed();
    let is_fresh = |at: Duration| now.saturating_sub(at) < BELIEVED_FOR;
    let remembered = engine.shared.directory.roster.read().get(namespace).cloned();
    if let Some((workers, _)) = remembered.filter(|(_, at)| is_fresh(*at)) {
        return Ok(workers);
    }
    let workers = read_workers(engine, namespace).await?;
    let mut read = engine.shared.directory.roster.read();
    read.retain(|_, (_, at)| is_fresh(*at));
    read.insert(namespace.clone(), (Arc::clone(&workers), now));
    Ok(workers)
}

/// Registrations of a namespace after a name, in order.
pub(crate) async fn page(
    engine: &Engine,
    namespace: &Namespace,
    after: Option<String>,
    limit: usize,
) -> Result<RosterPage> {
    let list = SettingsOp::List {
        prefix: names::workers(namespace),
        after,
        // One more tells whether there is another page.
        limit: limit + 1,
    };
    let SettingsReply::Page(mut settings) = engine.store().setting(list).await? else {
        return Err(internal("a list of settings was answered with something else"));
    };
    let more = settings.len() > limit;
    settings.truncate(limit);
    let next = settings.last().filter(|_| more).map(|last| last.key.clone());
    let workers = settings.iter().map(parse).collect::<Result<_>>()?;
    Ok(RosterPage { workers, next })
}

/// Decides and writes one registration, again if somebody else was faster.
pub(crate) async fn change(
    engine: &Engine,
    namespace: &Namespace,
    instance: &WorkerInstanceId,
    rule: impl Fn(Option<&Worker>, &Context) -> Result<Worker> + Send + Sync,
) -> Result<Worker> {
    let key = names::worker(namespace, instance);
    let mut tries = Tries::default();
    loop {
        let found = read_registration(engine, key.clone()).await?;
        let worker = rule(worker_in(found.as_ref()), &engine.context(engine.store_time().await?))?;
        let put = put(key.clone(), &worker, expected(found.as_ref()))?;
        if let SettingsReply::Found(_) = engine.store().setting(put).await? {
            let roster = &engine.shared.directory.roster;
            roster.read().remove(namespace);
            roster.note_drain(Some(&worker), (namespace.clone(), instance.clone()));
            return Ok(worker);
        }
        tries.again(engine.store()).await?;
    }
}

/// Deletes a registration if `rule` agrees.
pub(crate) async fn remove(
    engine: &Engine,
    namespace: &Namespace,
    instance: &WorkerInstanceId,
    rule: impl Fn(Option<&Worker>) -> Result<()> + Send + Sync,
) -> Result<()> {
    let key = names::worker(namespace, instance);
    let mut tries = Tries::default();
    loop {
        let found = read_registration(engine, key.clone()).await?;
        rule(worker_in(found.as_ref()))?;
        let delete = SettingsOp::delete(key.clone(), expected(found.as_ref()));
        if let SettingsReply::Absent = engine.store().setting(delete).await? {
            let roster = &engine.shared.directory.roster;
            roster.read().remove(namespace);
            roster.seen().forget(namespace, instance);
            roster.note_drain(None, (namespace.clone(), instance.clone()));
            return Ok(());
        }
        tries.again(engine.store()).await?;
    }
}

async fn read_workers(engine: &Engine, namespace: &Namespace) -> Result<Arc<[Worker]>> {
    let (mut workers, mut after) = (Vec::new(), None);
    loop {
        let page = page(engine, namespace, after, PAGE_MAX).await?;
        workers.extend(page.workers);
        after = page.next;
        if after.is_none() {
            return Ok(workers.into());
        }
    }
}

/// Refuses a claim of a process whose instance is another's. A claim that names no process is nobody's.
pub(crate) async fn check_claimant(engine: &Engine, claim: &Claim) -> Result<()> {
    let Some(incarnation) = claim.incarnation else {
        return Ok(());
    };
    let (namespace, instance) = (&claim.namespace, &claim.instance);
    let slot = (namespace.clone(), instance.clone());
    let roster = &engine.shared.directory.roster;
    if roster.seen().is_holder(&slot, incarnation, engine.host().elapsed()) {
        return Ok(());
    }
    let found = read_registration(engine, names::worker(namespace, instance)).await?;
    let context = engine.context(engine.store_time().await?);
    worker::check_incarnation(named(worker_in(found.as_ref())), incarnation, &context)?;
    roster.note_drain(worker_in(found.as_ref()), slot.clone());
    roster.seen().note_holder(slot, incarnation, engine.host().elapsed());
    Ok(())
}

async fn read_registration(engine: &Engine, key: String) -> Result<Option<Registration>> {
    registration(engine.store().setting(SettingsOp::Get { key }).await?)
}

fn registration(reply: SettingsReply) -> Result<Option<Registration>> {
    match reply {
        SettingsReply::Found(setting) => Ok(Some(Registration {
            worker: parse(&setting)?,
            revision: setting.revision,
        })),
        _ => Ok(None),
    }
}

fn worker_in(found: Option<&Registration>) -> Option<&Worker> {
    found.map(|found| &found.worker)
}

/// The worker that registered itself. A registration that only claims made knows no process and stands in nobody's way.
pub(crate) fn named(found: Option<&Worker>) -> Option<&Worker> {
    found.filter(|worker| worker.incarnation != UNNAMED)
}

fn expected(found: Option<&Registration>) -> Expected {
    found.map_or(Expected::Absent, |found| Expected::Revision(found.revision))
}

fn parse(setting: &Setting) -> Result<Worker> {
    stored::read_value(setting.value.clone()).map_err(|error| internal(&format!("{}: {error}", setting.key)))
}

fn put(key: String, worker: &Worker, expected: Expected) -> Result<SettingsOp> {
    let value = stored::write_value(worker).map_err(|error| internal(&error.to_string()))?;
    Ok(SettingsOp::Put {
        key,
        value: Some(value),
        expected,
        // Whether a worker is live is read off its registration; the store only has to forget it some time after that.
        ttl: Some(worker.ttl + worker.ttl),
    })
}
