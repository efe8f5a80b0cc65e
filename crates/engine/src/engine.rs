//! The engine: one handle per caller on what the process shares.

use std::sync::Arc;

use ff_backend::Backend;
use ff_backend::load::{Load, Snapshot};
use ff_core::command::stream::AttemptRef;
use ff_core::error::{Code, Rejection};
use ff_core::fabric::Result;
use ff_core::id::ExecutionId;
use ff_core::limits::WAIT_MAX;
use ff_core::machine::steps::Around;
use ff_core::machine::{Context, Decided, Settings};
use ff_core::name::Namespace;
use ff_core::partition::{Family, Partition};
use ff_core::record::{Actor, Execution, RecordKey};
use ff_core::time::{Duration, Timestamp};
use uuid::Uuid;

use crate::config::Config;
use crate::directory::Directory;
use crate::due_soon::DueSoon;
use crate::ends::Ends;
use crate::flow_cache::FlowCache;
use crate::host::Host;
use crate::lease_cache::LeaseCache;
use crate::lifecycle::Lifecycle;
use crate::lost_hints::LastMarks;
use crate::metrics::Metrics;
use crate::mint;
use crate::ops::work::Held;
use crate::ops::{FeedHub, NamesSeen, Pictures, Throughput, WaitingReads};
use crate::overview::Overviews;
use crate::pump::Pump;
use crate::pump::follow_up::Walks;
use crate::record_locks::RecordLocks;
use crate::scheduler::{Causes, ClaimQueues, Refusals};
use crate::series::Minutes;
use crate::stops::Stops;
use crate::store::Store;
use crate::transact::Decision;
use crate::waiters::Waiters;
use ff_core::caller::Caller;

/// Everything FlowFabric does, over one store. Cheap to clone; every clone speaks for one caller.
#[derive(Clone)]
pub struct Engine {
    pub(crate) shared: Arc<Shared>,
    pub(crate) caller: Caller,
    /// How long a read may wait.
    pub(crate) wait_max: Duration,
}

/// What all handles of a process share.
pub(crate) struct Shared {
    pub(crate) config: Config,
    pub(crate) host: Arc<dyn Host>,
    pub(crate) store: Store,
    /// Time-ordered ids.
    pub(crate) ids: mint::Ordered,
    pub(crate) record_locks: RecordLocks,
    pub(crate) leases: LeaseCache,
    pub(crate) flows: FlowCache,
    pub(crate) due_soon: DueSoon,
    pub(crate) directory: Directory,
    /// Woken when a stream grew or ended.
    pub(crate) streams: Waiters<AttemptRef>,
    /// Told what this process ended.
    pub(crate) ends: Ends,
    /// Whose exchange is told of stops.
    pub(crate) stops: Stops,
    /// Woken when the feed of a partition grew.
    pub(crate) feeds: Waiters<Partition>,
    /// Tells which of these missed a hint.
    pub(crate) last_marks: LastMarks,
    /// Reads the feeds for whoever waits for events.
    pub(crate) feed_hub: FeedHub,
    /// Claims that wait for work.
    pub(crate) claim_queues: ClaimQueues,
    /// Budgets and quotas known to be closed.
    pub(crate) causes: Causes,
    /// What the pump remembers.
    pub(crate) pump: Pump,
    /// Where follow-up work of this process goes on.
    pub(crate) walks: Walks,
    /// Reads that wait for something to happen.
    pub(crate) waiting_reads: WaitingReads,
    /// What ended lately.
    pub(crate) throughput: Throughput,
    /// What happened, minute by minute.
    pub(crate) minutes: Minutes,
    /// Namespaces at a glance.
    pub(crate) overviews: Overviews,
    /// Names to choose from.
    pub(crate) names_seen: NamesSeen,
    /// Graphs of flows that were shown lately.
    pub(crate) pictures: Pictures,
    /// What quota policies refused lately.
    pub(crate) refusals: Refusals,
    /// What was counted.
    pub(crate) metrics: Metrics,
    /// What runs in the background.
    pub(crate) lifecycle: Lifecycle,
}

impl Engine {
    /// The same engine on behalf of another caller.
    #[must_use]
    pub fn acting_as(&self, caller: Caller) -> Engine {
        Engine {
            shared: Arc::clone(&self.shared),
            caller,
            wait_max: self.wait_max,
        }
    }

    /// The same engine, whose reads may wait longer than those of a request do: for whoever follows something while a
    /// connection lasts, and would only ask again.
    #[must_use]
    pub fn waiting_up_to(mut self, wait_max: Duration) -> Engine {
        self.wait_max = wait_max;
        self
    }

    /// The settings that rules depend on.
    pub fn rules(&self) -> Settings {
        self.shared.config.rules
    }

    pub(crate) fn store(&self) -> &Store {
        &self.shared.store
    }

    pub(crate) fn host(&self) -> &dyn Host {
        &*self.shared.host
    }

    /// A fresh id, after all that were minted before it.
    pub(crate) fn mint(&self, now: Timestamp) -> Uuid {
        self.shared.ids.next(self.host(), now)
    }

    /// The circumstances of a decision about a record of the snapshot.
    pub(crate) fn context(&self, now: Timestamp) -> Context {
        Context {
            now,
            dice: mint::dice(self.host()),
            actor: self.caller.actor.clone(),
            gate: None,
            trace: self.caller.trace.clone(),
            steps: Around::default(),
            settings: self.shared.config.rules,
        }
    }

    /// The circumstances of a decision about an execution: with the gate of its flow as the snapshot holds it.
    pub(crate) fn context_of(&self, snapshot: &Snapshot, execution: &Execution) -> Context {
        let flow = execution.definition.flow;
        Context {
            gate: flow.and_then(|flow| Some(snapshot.gate(&RecordKey::Gate(flow))?.state)),
            ..self.context(snapshot.now)
        }
    }

    /// The execution of a snapshot, if the caller may see it. One whose retention is over, or of another namespace than the
    /// caller's, is answered exactly as one that never was.
    pub(crate) fn visible<'s>(&self, snapshot: &'s Snapshot, id: ExecutionId) -> Result<&'s Execution> {
        let found = snapshot.execution(&RecordKey::Execution(id));
        found
            .filter(|execution| self.sees(execution))
            .ok_or_else(|| no_execution(id))
    }

    /// Whether an execution is there for the caller.
    pub(crate) fn sees(&self, execution: &Execution) -> bool {
        self.caller.sees(&execution.definition.namespace) && !execution.is_deleting()
    }

    /// The namespace to act in, if the caller may see it.
    pub(crate) fn check_namespace(&self, namespace: &Namespace) -> Result<()> {
        if self.caller.sees(namespace) {
            return Ok(());
        }
        Err(Code::Forbidden.because(format!("this key does not reach namespace {namespace}")))
    }

    /// The namespace a listing is about; `None`: every one, for a caller who may see them all.
    pub(crate) fn namespace_to_read(&self, asked: Option<Namespace>) -> Result<Option<Namespace>> {
        match asked {
            Some(namespace) => {
                self.check_namespace(&namespace)?;
                Ok(Some(namespace))
            }
            None => Ok(self.caller.namespace.clone()),
        }
    }

    /// Refuses an id of a partition this store does not have.
    pub(crate) fn check_id(&self, id: ExecutionId) -> Result<()> {
        self.shared.config.counts.check(id)
    }

    /// What is needed to decide about one execution: the record and the gate of its flow.
    pub(crate) fn load_of(id: ExecutionId) -> Load {
        Load::records(id.partition(), [RecordKey::Execution(id)]).with_gates()
    }

    /// Reads one execution.
    pub(crate) async fn read_execution(&self, id: ExecutionId) -> Result<Snapshot> {
        self.check_id(id)?;
        self.store().load(Self::load_of(id)).await
    }

    /// Decides and commits a change of one execution. The holder of a lease this process has seen needs no read.
    pub(crate) async fn change<O: Send>(
        &self,
        id: ExecutionId,
        rule: impl Fn(&Execution, &Context) -> Result<Decided<O>> + Send + Sync,
    ) -> Result<O> {
        let context = |snapshot: &Snapshot, execution: &Execution| self.context_of(snapshot, execution);
        self.change_with(id, Self::load_of(id), context, rule).await
    }

    /// The same for what a lease holder does: histories name its worker, and steps may come along.
    pub(crate) async fn change_held<O: Send>(
        &self,
        held: impl Into<Held>,
        rule: impl Fn(&Execution, &Context) -> Result<Decided<O>> + Send + Sync,
    ) -> Result<O> {
        let held = held.into();
        let context = |snapshot: &Snapshot, execution: &Execution| held.context(self, snapshot, execution);
        self.change_with(held.id, held.load(), context, rule).await
    }

    async fn change_with<O: Send>(
        &self,
        id: ExecutionId,
        load: Load,
        context: impl Fn(&Snapshot, &Execution) -> Context + Send + Sync,
        rule: impl Fn(&Execution, &Context) -> Result<Decided<O>> + Send + Sync,
    ) -> Result<O> {
        self.check_id(id)?;
        let locked = self.lock_remembered(id).await;
        let decide = || async {
            let snapshot = locked.look(load.clone()).await?;
            let execution = self.visible(&snapshot, id)?;
            let decided = rule(execution, &context(&snapshot, execution))?;
            Ok(Decision::Commit(snapshot, decided))
        };
        locked.transact(decide).await
    }

    /// An execution whose lease this process has seen, at the store's time as far as it is known.
    pub(crate) fn cached(&self, id: ExecutionId) -> Option<Snapshot> {
        let now = self.now_in(id.partition())?;
        Some(self.shared.leases.get(id)?.snapshot(now))
    }

    /// The time of a partition as far as it is known without asking.
    pub(crate) fn now_in(&self, partition: Partition) -> Option<Timestamp> {
        self.store().now(partition)
    }

    /// The store's time, as far as it is known without asking.
    pub async fn store_time(&self) -> Result<Timestamp> {
        match self.store().latest() {
            Some(now) => Ok(now),
            None => self.store().ping().await,
        }
    }

    /// Every partition there is.
    pub(crate) fn all_partitions(&self) -> Vec<Partition> {
        let counts = self.shared.config.counts;
        Family::ALL.into_iter().flat_map(|family| counts.all(family)).collect()
    }

    /// Every partition that holds executions.
    pub(crate) fn flow_partitions(&self) -> Vec<Partition> {
        self.shared.config.counts.all(Family::Flow).collect()
    }
}

/// The answer for an execution that is not there, or not for this caller.
pub(crate) fn no_execution(id: ExecutionId) -> Rejection {
    Code::ExecutionNotFound.because(format!("execution {id} does not exist"))
}

/// The same circumstances, with the worker that runs the execution as the one who acts.
pub(crate) fn as_worker(execution: &Execution, mut context: Context) -> Context {
    if let Some(attempt) = &execution.attempt {
        context.actor = Actor::Worker(attempt.instance.clone());
    }
    context
}

impl Engine {
    /// An engine over `backend`. Nothing runs in the background before [`Engine::start`].
    pub fn new(backend: Arc<dyn Backend>, host: Arc<dyn Host>, config: Config) -> Engine {
        let metrics = Metrics::default();
        let calls = Arc::clone(&metrics.calls);
        Engine {
            shared: Arc::new(Shared {
                store: Store::new(backend, Arc::clone(&host), config.counts, calls),
                config,
                stops: Stops::new(Arc::clone(&host)),
                host,
                ids: mint::Ordered::default(),
                record_locks: RecordLocks::default(),
                leases: LeaseCache::default(),
                flows: FlowCache::default(),
                due_soon: DueSoon::default(),
                directory: Directory::default(),
                streams: Waiters::default(),
                ends: Ends::default(),
                feeds: Waiters::default(),
                last_marks: LastMarks::default(),
                feed_hub: FeedHub::default(),
                claim_queues: ClaimQueues::default(),
                causes: Causes::default(),
                pump: Pump::default(),
                walks: Walks::default(),
                waiting_reads: WaitingReads::default(),
                throughput: Throughput::default(),
                minutes: Minutes::default(),
                overviews: Overviews::default(),
                names_seen: NamesSeen::default(),
                pictures: Pictures::default(),
                refusals: Refusals::default(),
                metrics,
                lifecycle: Lifecycle::default(),
            }),
            caller: Caller::local(),
            wait_max: WAIT_MAX,
        }
    }
}
