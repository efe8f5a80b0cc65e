//! What the tests of the scheduler share: a store that counts its calls, fails when told to and lets a test act in between.
//!
//! A target that needs only part of it says so where it declares the module:
//! `#[expect(dead_code, reason = "this target needs only part of the builders")]`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use ff_backend::due::{Due, DuePage};
use ff_backend::frames::{Append, AppendError, Appended, FrameRange, Frames};
use ff_backend::layer::Layer;
use ff_backend::ledger::LedgerReply;
use ff_backend::limits::{self, Direct};
use ff_backend::load::{Load, Snapshot};
use ff_backend::memory::MemoryBackend;
use ff_backend::query::{Page, Query};
use ff_backend::reserve::{Reservation, Reserve};
use ff_backend::settings::{SettingsOp, SettingsReply};
use ff_backend::transaction::{CommitError, Committed, Tag, Transaction};
use ff_backend::{Backend, Error, Result};
use ff_core::capability::CapabilitySet;
use ff_core::command::budget::CreateBudget;
use ff_core::command::claim::{Claim, LaneOrder, Want};
use ff_core::command::quota::{CreateQuotaPolicy, QuotaPolicyView};
use ff_core::command::submit::CreateExecution;
use ff_core::id::{BudgetId, ExecutionId, QuotaPolicyId};
use ff_core::ledger::LedgerCall;
use ff_core::machine::submit::{self, Known};
use ff_core::machine::{Context, Decided, Draft};
use ff_core::name::{Dimension, ExecutionKind, LaneId, Namespace, WorkerId, WorkerInstanceId};
use ff_core::partition::{Partition, PartitionCounts};
use ff_core::payload::Payload;
use ff_core::record::{Execution, Limits, OnHardLimit, Record, RecordKey};
use ff_core::time::{Duration, Timestamp};
use futures::future::BoxFuture;
use uuid::Uuid;

/// The moment every store begins.
pub(crate) const START: Timestamp = Timestamp::from_millis(1_000_000);

type Act = Box<dyn FnOnce(Arc<MemoryBackend>) -> BoxFuture<'static, ()> + Send>;

/// A store in memory that counts how often it is called.
pub(crate) struct Store {
    pub(crate) inner: Arc<MemoryBackend>,
    calls: Mutex<BTreeMap<&'static str, usize>>,
    broken: Mutex<BTreeSet<&'static str>>,
    acts: Mutex<BTreeMap<&'static str, Act>>,
    minted: AtomicU64,
}

impl Store {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            inner: Arc::new(MemoryBackend::new(START, counts())),
            calls: Mutex::default(),
            broken: Mutex::default(),
            acts: Mutex::default(),
            minted: AtomicU64::new(0),
        })
    }

    /// Calls so far.
    pub(crate) fn calls(&self) -> usize {
        self.calls.lock().expect("nobody panicked").values().sum()
    }

    /// Calls of one kind so far.
    pub(crate) fn calls_of(&self, what: &str) -> usize {
        self.calls
            .lock()
            .expect("nobody panicked")
            .get(what)
            .copied()
            .unwrap_or(0)
    }

    /// From now on calls of this kind fail, or no longer.
    pub(crate) fn set_broken(&self, what: &'static str, broken: bool) {
        let mut all = self.broken.lock().expect("nobody panicked");
        if broken {
            all.insert(what);
        } else {
            all.remove(what);
        }
    }

    /// Acts right before the next call of this kind.
    pub(crate) fn before_next(&self, what: &'static str, act: Act) {
        self.acts.lock().expect("nobody panicked").insert(what, act);
    }

    async fn enter(&self, what: &'static str) -> Result<()> {
        *self.calls.lock().expect("nobody panicked").entry(what).or_default() += 1;
        let act = self.acts.lock().expect("nobody panicked").remove(what);
        if let Some(act) = act {
            act(Arc::clone(&self.inner)).await;
        }
        if self.broken.lock().expect("nobody panicked").contains(what) {
            return Err(Error::Unavailable(format!("{what} is broken")));
        }
        Ok(())
    }

    pub(crate) fn mint(&self) -> Uuid {
        Uuid::from_u128(u128::from(self.minted.fetch_add(1, Ordering::SeqCst)) + 1)
    }

    /// Submits an execution, uncounted.
    pub(crate) async fn submit(&self, command: CreateExecution) -> ExecutionId {
        let uuid = self.mint();
        let id = ExecutionId::new(counts().of_execution_uuid(uuid).index, uuid);
        self.submit_as(id, command).await
    }

    /// Submits an execution under an id, uncounted.
    pub(crate) async fn submit_as(&self, id: ExecutionId, command: CreateExecution) -> ExecutionId {
        let context = Context::engine(self.inner.now());
        let decided = submit::create(&command, id, Known::default(), &context).expect("a valid submission");
        self.write(id.partition(), decided.draft).await;
        id
    }

    /// Commits a draft whose records are all new, uncounted.
    pub(crate) async fn write(&self, partition: Partition, draft: Draft) {
        commit(
            &self.inner,
            draft,
            &Snapshot::empty(partition, self.inner.now()),
            self.mint(),
        )
        .await;
    }

    /// Decides about a stored execution and commits it, uncounted.
    pub(crate) async fn decide<O>(
        &self,
        id: ExecutionId,
        rule: impl FnOnce(&Execution, &Context) -> std::result::Result<Decided<O>, ff_core::error::Rejection>,
    ) -> O {
        decide(&self.inner, id, self.mint(), rule).await
    }

    /// An execution as it is stored, uncounted.
    pub(crate) async fn execution(&self, id: ExecutionId) -> Execution {
        let snapshot = read(&self.inner, id).await;
        snapshot
            .execution(&RecordKey::Execution(id))
            .expect("a stored execution")
            .clone()
    }

    /// A budget of which `hard` may be spent, of which `spent` is.
    pub(crate) async fn budget(&self, hard: u64, spent: u64) -> BudgetId {
        let budget_id = BudgetId::from_uuid(self.mint());
        let dimension = Dimension::parse("tokens").expect("a name");
        let limits = Limits {
            soft: None,
            hard: Some(hard),
        };
        let command = CreateBudget {
            budget_id: Some(budget_id),
            namespace: Namespace::default_namespace(),
            scope: "test".to_owned(),
            dimensions: BTreeMap::from([(dimension.clone(), limits)]),
            reset_interval: None,
            on_hard_limit: OnHardLimit::Block,
        };
        let report = ff_core::machine::budget::UsageReport {
            deltas: BTreeMap::from([(dimension, spent)]),
            identity: None,
            dedup_window: Duration::from_secs(60),
            effect_id: None,
        };
        let direct = self.direct();
        limits::budgets::create(&direct, budget_id, &command)
            .await
            .expect("an answer");
        let charged = limits::budgets::report(&direct, budget_id, &[report], false).await;
        charged.expect("an answer");
        budget_id
    }

    /// A quota policy.
    pub(crate) async fn quota(&self, max_concurrent: Option<u64>, rate: Option<u64>) -> QuotaPolicyId {
        let quota_policy_id = QuotaPolicyId::from_uuid(self.mint());
        let command = CreateQuotaPolicy {
            quota_policy_id: Some(quota_policy_id),
            namespace: Namespace::default_namespace(),
            window: Duration::from_secs(60),
            max_requests_per_window: rate,
            max_concurrent,
            jitter: Duration::ZERO,
        };
        let created = limits::quotas::create(&self.direct(), quota_policy_id, &command).await;
        created.expect("an answer");
        quota_policy_id
    }

    /// A quota policy as it stands.
    pub(crate) async fn quota_view(&self, id: QuotaPolicyId) -> QuotaPolicyView {
        let view = limits::quotas::find(&self.direct(), id).await.expect("an answer");
        view.expect("a policy")
    }

    /// The accounts of the store, as somebody else asks them.
    pub(crate) fn direct(&self) -> Direct {
        Direct::new(self.inner.clone())
    }
}

/// Few partitions, so that executions share them.
pub(crate) fn counts() -> PartitionCounts {
    PartitionCounts::new(8, 2, 2).expect("valid counts")
}

/// A submission to the default lane.
pub(crate) fn command() -> CreateExecution {
    CreateExecution::new(ExecutionKind::parse("test").expect("a name"), Payload::binary("input"))
}

/// A claim of the default lane by worker number `number`, for one task, without waiting.
pub(crate) fn claim(number: usize) -> Claim {
    Claim {
        namespace: Namespace::default_namespace(),
        worker: WorkerId::parse("worker").expect("a name"),
        instance: WorkerInstanceId::parse(format!("worker-{number}")).expect("a name"),
        incarnation: None,
        want: want(1),
        wait: Duration::ZERO,
    }
}

/// Up to `max` tasks of the default lane.
pub(crate) fn want(max: usize) -> Want {
    Want {
        lanes: vec![LaneId::default_lane()],
        lane_order: LaneOrder::RoundRobin,
        capabilities: CapabilitySet::default(),
        max,
        lease_ttl: None,
    }
}

pub(crate) fn lane(name: &str) -> LaneId {
    LaneId::parse(name).expect("a name")
}

/// Lets everything run that can.
pub(crate) async fn settle() {
    for _ in 0..200 {
        tokio::task::yield_now().await;
    }
}

/// Reads an execution with its gate.
pub(crate) async fn read(store: &MemoryBackend, id: ExecutionId) -> Snapshot {
    let load = Load::records(id.partition(), [RecordKey::Execution(id)]).with_gates();
    store.load(vec![load]).await.expect("an answer").remove(0)
}

/// Decides about a stored execution and commits it.
pub(crate) async fn decide<O>(
    store: &MemoryBackend,
    id: ExecutionId,
    tag: Uuid,
    rule: impl FnOnce(&Execution, &Context) -> std::result::Result<Decided<O>, ff_core::error::Rejection>,
) -> O {
    let snapshot = read(store, id).await;
    let execution = snapshot.execution(&RecordKey::Execution(id)).expect("an execution");
    let gate = execution
        .definition
        .flow
        .and_then(|flow| Some(snapshot.gate(&RecordKey::Gate(flow))?.state));
    let context = Context {
        gate,
        ..Context::engine(store.now())
    };
    let decided = rule(execution, &context).expect("an accepted command");
    commit(store, decided.draft, &snapshot, tag).await;
    decided.outcome
}

async fn commit(store: &MemoryBackend, draft: Draft, snapshot: &Snapshot, tag: Uuid) {
    let tag = Tag(u64::try_from(tag.as_u128()).expect("a small number"));
    let transaction = Transaction::bind(draft, snapshot, tag);
    store
        .commit(vec![transaction])
        .await
        .remove(0)
        .expect("a commit that lands");
}

/// A draft that creates records.
pub(crate) fn creating(records: impl IntoIterator<Item = Record>) -> Draft {
    let mut draft = Draft::default();
    records.into_iter().for_each(|record| draft.create(record));
    draft
}

#[async_trait]
impl Layer for Store {
    fn inner(&self) -> &dyn Backend {
        &*self.inner
    }

    async fn load(&self, loads: Vec<Load>) -> Result<Vec<Snapshot>> {
        self.enter("load").await?;
        self.inner.load(loads).await
    }

    async fn commit(&self, batch: Vec<Transaction>) -> Vec<std::result::Result<Committed, CommitError>> {
        if let Err(error) = self.enter("commit").await {
            return batch.iter().map(|_| Err(CommitError::Store(error.clone()))).collect();
        }
        self.inner.commit(batch).await
    }

    async fn reserve(&self, ask: Reserve) -> Result<Reservation> {
        self.enter("reserve").await?;
        self.inner.reserve(ask).await
    }

    async fn due(&self, ask: Due) -> Result<DuePage> {
        self.enter("due").await?;
        self.inner.due(ask).await
    }

    async fn list(&self, query: Query) -> Result<Page> {
        self.enter("list").await?;
        self.inner.list(query).await
    }

    async fn ledger(&self, calls: Vec<LedgerCall>) -> Vec<Result<LedgerReply>> {
        if let Err(error) = self.enter("ledger").await {
            return vec![Err(error); calls.len()];
        }
        self.inner.ledger(calls).await
    }

    async fn append(&self, batch: Vec<Append>) -> Vec<std::result::Result<Appended, AppendError>> {
        if let Err(error) = self.enter("append").await {
            return batch.iter().map(|_| Err(AppendError::Store(error.clone()))).collect();
        }
        self.inner.append(batch).await
    }

    async fn read(&self, range: FrameRange) -> Result<Frames> {
        self.enter("read").await?;
        self.inner.read(range).await
    }

    async fn settings(&self, ops: Vec<SettingsOp>) -> Result<Vec<SettingsReply>> {
        self.enter("settings").await?;
        self.inner.settings(ops).await
    }

    async fn ping(&self) -> Result<Timestamp> {
        self.enter("ping").await?;
        self.inner.ping().await
    }
}
