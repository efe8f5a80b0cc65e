//! Claims refresh the registration of their worker. They are collected, and written together now and then.

use std::collections::BTreeMap;
use std::time::Duration;

use ff_backend::settings::{SettingsOp, SettingsReply};
use ff_core::capability::CapabilitySet;
use ff_core::command::worker::{RegisterWorker, WorkerLoad};
use ff_core::fabric::Result;
use ff_core::limits::LANES_PER_WORKER_MAX;
use ff_core::machine::Context;
use ff_core::machine::worker::register;
use ff_core::name::{LaneId, Namespace, WorkerId, WorkerInstanceId};
use ff_core::record::{Incarnation, Worker};

use super::{Registration, UNNAMED, expected, named, names, put, registration};
use crate::engine::Engine;

/// How long a registration that says the same is not written again.
const REWRITTEN_AFTER: Duration = Duration::from_secs(10);
/// How long a process is believed to have its instance to itself without looking: whoever claims often is written often, and
/// is never looked up besides.
const HOLDER_BELIEVED_FOR: Duration = Duration::from_secs(20);

/// A worker process that asked for work.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WorkerSeen {
    pub(crate) namespace: Namespace,
    pub(crate) worker: WorkerId,
    /// Which process slot.
    pub(crate) instance: WorkerInstanceId,
    /// Which start of the process, when the call said so.
    pub(crate) incarnation: Option<Incarnation>,
    /// Lanes it asked for.
    pub(crate) lanes: Vec<LaneId>,
    pub(crate) capabilities: CapabilitySet,
    /// What it said about itself.
    pub(crate) load: WorkerLoad,
}

pub(super) type Slot = (Namespace, WorkerInstanceId);

/// Workers seen since they were last written, and what was written lately.
#[derive(Default)]
pub(super) struct SeenWorkers {
    waiting: BTreeMap<Slot, WorkerSeen>,
    written: BTreeMap<Slot, (WorkerSeen, Duration)>,
    /// Which process was last known to have an instance to itself.
    holders: BTreeMap<Slot, (Incarnation, Duration)>,
}

impl SeenWorkers {
    /// The last word about a process slot counts, but for lanes: each claim names only some of them. One that names none
    /// only says that the process is there.
    fn add(&mut self, mut seen: WorkerSeen) {
        if let Some(before) = self.waiting.remove(&seen.slot()) {
            seen.incarnation = seen.incarnation.or(before.incarnation);
            if seen.lanes.is_empty() {
                seen.capabilities = before.capabilities;
            }
            seen.lanes = joined(&before.lanes, &seen.lanes);
            seen.load = seen.load.or(before.load);
        }
        self.waiting.insert(seen.slot(), seen);
    }

    /// Takes back something that could not be written, unless there is newer word.
    fn add_back(&mut self, seen: WorkerSeen) {
        self.waiting.entry(seen.slot()).or_insert(seen);
    }

    /// Takes what is to be written. What was written a moment ago waits for the next time.
    fn take_due(&mut self, now: Duration) -> Vec<WorkerSeen> {
        self.written
            .retain(|_, (_, at)| now.saturating_sub(*at) < REWRITTEN_AFTER);
        self.holders
            .retain(|_, (_, at)| now.saturating_sub(*at) < HOLDER_BELIEVED_FOR);
        let written = &self.written;
        let is_due = |slot: &Slot, seen: &mut WorkerSeen| written.get(slot).is_none_or(|(last, _)| !last.says(seen));
        self.waiting.extract_if(.., is_due).map(|(_, seen)| seen).collect()
    }

    fn wrote(&mut self, seen: WorkerSeen, now: Duration) {
        if let Some(incarnation) = seen.incarnation {
            self.note_holder(seen.slot(), incarnation, now);
        }
        self.written.insert(seen.slot(), (seen, now));
    }

    /// The process has its instance to itself.
    pub(super) fn note_holder(&mut self, slot: Slot, incarnation: Incarnation, now: Duration) {
        self.holders.insert(slot, (incarnation, now));
    }

    /// Whether a process is known to have its instance to itself.
    pub(super) fn is_holder(&self, slot: &Slot, incarnation: Incarnation, now: Duration) -> bool {
        let holder = self.holders.get(slot);
        holder.is_some_and(|(known, at)| *known == incarnation && now.saturating_sub(*at) < HOLDER_BELIEVED_FOR)
    }

    /// The worker has left: nothing seen before counts.
    pub(super) fn forget(&mut self, namespace: &Namespace, instance: &WorkerInstanceId) {
        let slot = (namespace.clone(), instance.clone());
        self.waiting.remove(&slot);
        self.written.remove(&slot);
        self.holders.remove(&slot);
    }
}

impl WorkerSeen {
    fn slot(&self) -> Slot {
        (self.namespace.clone(), self.instance.clone())
    }

    /// Whether another one says the same. How many tasks run changes all the time, and is written with what else is.
    fn says(&self, other: &WorkerSeen) -> bool {
        let but_running = |seen: &WorkerSeen| WorkerSeen {
            load: WorkerLoad {
                running: None,
                ..seen.load.clone()
            },
            ..seen.clone()
        };
        but_running(self) == but_running(other)
    }

    /// The registration after this claim. It keeps the incarnation of the one there was when the claim named none, and
    /// its lanes: a claim that asks for some of them does not give up the others.
    fn register(&self, found: Option<&Registration>, context: &Context) -> Result<Worker> {
        let before = found.map(|found| &found.worker);
        let live = before.filter(|worker| worker.is_live(context.now));
        let command = RegisterWorker {
            namespace: self.namespace.clone(),
            worker: self.worker.clone(),
            instance: self.instance.clone(),
            incarnation: self
                .incarnation
                .or(live.map(|worker| worker.incarnation))
                .unwrap_or(UNNAMED),
            lanes: live.map_or_else(|| self.lanes.clone(), |worker| joined(&worker.lanes, &self.lanes)),
            capabilities: match live {
                Some(worker) if self.lanes.is_empty() => worker.capabilities.clone(),
                _ => self.capabilities.clone(),
            },
            ttl: live.map(|worker| worker.ttl),
            load: self.load.clone(),
        };
        let existing = if command.incarnation == UNNAMED {
            before
        } else {
            named(before)
        };
        let drain = live.and_then(|worker| worker.drain.clone());
        register(existing, &command, context).map(|worker| Worker { drain, ..worker })
    }
}

/// A worker asked for work; its registration is refreshed the next time they are written.
pub(crate) fn worker_seen(engine: &Engine, seen: WorkerSeen) {
    engine.shared.directory.roster.seen().add(seen);
}

/// Writes the registrations of all workers seen since the last time: one call to read them, one to write them.
pub(crate) async fn write_seen_workers(engine: &Engine) -> Result<()> {
    let due = engine.shared.directory.roster.seen().take_due(engine.host().elapsed());
    if due.is_empty() {
        return Ok(());
    }
    let written = write_registrations(engine, &due).await;
    if written.is_err() {
        let mut seen_workers = engine.shared.directory.roster.seen();
        due.into_iter().for_each(|seen| seen_workers.add_back(seen));
    }
    written
}

async fn write_registrations(engine: &Engine, due: &[WorkerSeen]) -> Result<()> {
    let key = |seen: &WorkerSeen| names::worker(&seen.namespace, &seen.instance);
    let gets = due.iter().map(|seen| SettingsOp::Get { key: key(seen) }).collect();
    let found = engine.store().settings(gets).await?;
    let context = engine.context(engine.store_time().await?);
    let (mut puts, mut whose) = (Vec::new(), Vec::new());
    for (seen, reply) in due.iter().zip(found) {
        let found = registration(reply)?;
        let roster = &engine.shared.directory.roster;
        roster.note_drain(found.as_ref().map(|found| &found.worker), seen.slot());
        match seen.register(found.as_ref(), &context) {
            Ok(worker) => {
                puts.push(put(key(seen), &worker, expected(found.as_ref()))?);
                whose.push(seen);
            }
            // Nobody waits for an answer: what the claim refreshes became another process's meanwhile. Its next claim is
            // refused.
            Err(refused) => {
                engine.shared.directory.roster.seen().holders.remove(&seen.slot());
                tracing::debug!(instance = %seen.instance, %refused, "a claim refreshes no registration");
            }
        }
    }
    let replies = engine.store().settings(puts).await?;
    note_written(engine, whose, &replies);
    Ok(())
}

fn note_written(engine: &Engine, whose: Vec<&WorkerSeen>, replies: &[SettingsReply]) {
    let now = engine.host().elapsed();
    let roster = &engine.shared.directory.roster;
    let (mut seen_workers, mut read) = (roster.seen(), roster.read());
    for (seen, reply) in whose.into_iter().zip(replies) {
        match reply {
            SettingsReply::Found(_) => seen_workers.wrote(seen.clone(), now),
            // Somebody else was faster; the next time decides again.
            _ => seen_workers.add_back(seen.clone()),
        }
        read.remove(&seen.namespace);
    }
}

/// Both, each lane once; only the later ones when together they are too many for one worker.
fn joined(before: &[LaneId], later: &[LaneId]) -> Vec<LaneId> {
    let mut lanes = before.to_vec();
    lanes.extend(later.iter().filter(|lane| !before.contains(lane)).cloned());
    if lanes.len() > LANES_PER_WORKER_MAX {
        return later.to_vec();
    }
    lanes
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ff_backend::memory::MemoryBackend;
    use ff_core::fabric::Fabric;
    use ff_core::partition::PartitionCounts;
    use ff_core::time::{Duration as Millis, Timestamp};
    use uuid::Uuid;

    use super::*;
    use crate::{Config, VirtualHost};

    struct Stage {
        backend: Arc<MemoryBackend>,
        host: Arc<VirtualHost>,
        engine: Engine,
    }

    impl Stage {
        fn new() -> Self {
            let counts = PartitionCounts::new(2, 1, 1).unwrap();
            let backend = Arc::new(MemoryBackend::new(Timestamp::from_millis(1_000_000), counts));
            let host = Arc::new(VirtualHost::new(1));
            let engine = Engine::new(Arc::clone(&backend) as _, Arc::clone(&host) as _, Config::new(counts));
            Self { backend, host, engine }
        }

        fn advance(&self, by: Millis) {
            self.backend.advance(by);
            self.host.advance(Duration::from_millis(by.as_millis()));
        }

        async fn workers(&self) -> Vec<Worker> {
            let read = crate::directory::workers::all(&self.engine, &Namespace::default_namespace()).await;
            read.unwrap().to_vec()
        }
    }

    fn seen(incarnation: Option<u128>, lanes: &[&str]) -> WorkerSeen {
        WorkerSeen {
            namespace: Namespace::default_namespace(),
            worker: "worker".parse().unwrap(),
            instance: "worker-1".parse().unwrap(),
            incarnation: incarnation.map(|number| Incarnation(Uuid::from_u128(number))),
            lanes: lanes.iter().map(|lane| lane.parse().unwrap()).collect(),
            capabilities: CapabilitySet::default(),
            load: WorkerLoad::default(),
        }
    }

    fn registration(incarnation: u128) -> RegisterWorker {
        let WorkerSeen {
            namespace,
            worker,
            instance,
            lanes,
            capabilities,
            ..
        } = seen(None, &["own"]);
        RegisterWorker {
            namespace,
            worker,
            instance,
            incarnation: Incarnation(Uuid::from_u128(incarnation)),
            lanes,
            capabilities,
            ttl: Some(Millis::from_secs(120)),
            load: WorkerLoad::default(),
        }
    }

    #[tokio::test]
    async fn claims_make_a_registration_that_stands_in_nobodys_way() {
        let stage = Stage::new();
        worker_seen(&stage.engine, seen(None, &["a"]));
        worker_seen(&stage.engine, seen(None, &["b"]));
        assert!(stage.workers().await.is_empty());
        write_seen_workers(&stage.engine).await.unwrap();
        let workers = stage.workers().await;
        assert_eq!(workers[0].lanes, ["a", "b"].map(|lane| lane.parse().unwrap()));
        let registered = stage.engine.register_worker(registration(7)).await.unwrap();
        assert_eq!(stage.workers().await, [registered]);
    }

    #[tokio::test]
    async fn a_claim_without_incarnation_refreshes_whoever_is_registered() {
        let stage = Stage::new();
        let registered = stage.engine.register_worker(registration(7)).await.unwrap();
        stage.advance(Millis::from_secs(100));
        worker_seen(&stage.engine, seen(None, &["more"]));
        write_seen_workers(&stage.engine).await.unwrap();
        let refreshed = &stage.workers().await[0];
        assert_eq!(refreshed.incarnation, registered.incarnation);
        assert_eq!(refreshed.registered_at, registered.registered_at);
        assert_eq!(refreshed.seen_at, registered.seen_at + Millis::from_secs(100));
        assert_eq!(refreshed.ttl, registered.ttl);
        assert_eq!(refreshed.lanes.len(), 2);
        stage.advance(Millis::from_secs(60));
        assert_eq!(stage.workers().await.len(), 1);
    }

    #[tokio::test]
    async fn a_claim_never_takes_over_from_another_live_process() {
        let stage = Stage::new();
        let registered = stage.engine.register_worker(registration(7)).await.unwrap();
        worker_seen(&stage.engine, seen(Some(8), &["a"]));
        write_seen_workers(&stage.engine).await.unwrap();
        assert_eq!(stage.workers().await, [registered]);
    }

    #[tokio::test]
    async fn what_was_written_a_moment_ago_is_written_again_only_when_it_says_something_else() {
        let stage = Stage::new();
        let revision = async || {
            let get = SettingsOp::Get {
                key: names::worker(&Namespace::default_namespace(), &"worker-1".parse().unwrap()),
            };
            let found = registration_of(stage.engine.store().setting(get).await.unwrap());
            found.revision
        };
        worker_seen(&stage.engine, seen(Some(1), &["a"]));
        write_seen_workers(&stage.engine).await.unwrap();
        let first = revision().await;
        worker_seen(&stage.engine, seen(Some(1), &["a"]));
        write_seen_workers(&stage.engine).await.unwrap();
        assert_eq!(revision().await, first);
        stage.advance(Millis::from_secs(10));
        write_seen_workers(&stage.engine).await.unwrap();
        let second = revision().await;
        assert_ne!(second, first);
        worker_seen(&stage.engine, seen(Some(1), &["b"]));
        write_seen_workers(&stage.engine).await.unwrap();
        assert_ne!(revision().await, second);
    }

    fn registration_of(reply: SettingsReply) -> Registration {
        super::registration(reply).unwrap().unwrap()
    }
}
