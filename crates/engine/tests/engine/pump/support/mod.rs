//! A store under a virtual clock that counts its calls and can be told to fail, and executions in every phase.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use async_trait::async_trait;
use ff_backend::due::{Due, DuePage};
use ff_backend::frames::{Append, AppendError, Appended, FrameRange, Frames};
use ff_backend::hint::{HintBoard, HintStream};
use ff_backend::layer::Layer;
use ff_backend::ledger::LedgerReply;
use ff_backend::limits::{self, Direct};
use ff_backend::load::{Load, Snapshot};
use ff_backend::memory::MemoryBackend;
use ff_backend::query::{Page, Query, Rows};
use ff_backend::reserve::Reserve;
use ff_backend::settings::{SettingsOp, SettingsReply};
use ff_backend::transaction::{CommitError, Committed, Tag, Transaction};
use ff_backend::{Backend, Error, Result};
use ff_core::capability::CapabilitySet;
use ff_core::command::budget::{CreateBudget, ResetBudget};
use ff_core::command::lease::ReportUsage;
use ff_core::command::quota::CreateQuotaPolicy;
use ff_core::command::submit::CreateExecution;
use ff_core::error::Rejection;
use ff_core::id::{AttemptId, BudgetId, EffectId, ExecutionId, GrantId, LeaseId, QuotaPolicyId};
use ff_core::ledger::LedgerCall;
use ff_core::machine::budget::UsageReport;
use ff_core::machine::claim::{Claimant, HandOut};
use ff_core::machine::quota::Admit;
use ff_core::machine::submit::{self, Known};
use ff_core::machine::{Context, Decided, lease};
use ff_core::name::{Dimension, ExecutionKind, LaneId, Namespace};
use ff_core::partition::{Partition, PartitionCounts};
use ff_core::payload::Payload;
use ff_core::policy::Policy;
use ff_core::record::{Cause, Execution, Fence, Limits, OnHardLimit, RecordKey};
use ff_core::state::{PublicState, public_state};
use ff_core::time::{Duration, Timestamp};
use ff_engine::{Config, Engine, Host, VirtualHost};
use tokio::sync::{Semaphore, SemaphorePermit};
use uuid::Uuid;

/// A store that counts and fails.
pub(crate) struct Watched {
    pub(crate) memory: Arc<MemoryBackend>,
    calls: Mutex<BTreeMap<&'static str, u64>>,
    /// Replies of quota and budget calls to lose.
    pub(crate) lose: AtomicUsize,
    /// Commits that write this execution fail.
    pub(crate) broken: Mutex<Option<ExecutionId>>,
    /// An audit shows this execution as due when it is not.
    pub(crate) drifted: Mutex<Option<ExecutionId>>,
    /// One call in so many fails, before or after it was done; 0: none does.
    pub(crate) one_fails_in: AtomicU64,
    luck: AtomicU64,
    /// The listings and questions for what is due that may go on at the same time; not set: any number.
    pub(crate) connections: OnceLock<Semaphore>,
    /// Nobody hears a hint.
    pub(crate) silent: AtomicBool,
    /// Where nobody hears one.
    nowhere: HintBoard,
}

impl Watched {
    fn count(&self, what: &'static str) {
        *self.calls.lock().unwrap().entry(what).or_default() += 1;
    }

    /// Calls since the last time this was asked, by method.
    pub(crate) fn take_calls(&self) -> BTreeMap<&'static str, u64> {
        std::mem::take(&mut *self.calls.lock().unwrap())
    }

    /// How many calls there were since the last time this was asked.
    pub(crate) fn take_count(&self) -> u64 {
        self.take_calls().values().sum()
    }

    fn loses(&self) -> bool {
        self.lose
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1))
            .is_ok()
    }

    /// Whether the next call fails.
    fn fails(&self) -> bool {
        let one_in = self.one_fails_in.load(Ordering::SeqCst);
        if one_in == 0 {
            return false;
        }
        let decided = |luck: u64| {
            luck.wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407)
        };
        let luck = decided(self.luck.load(Ordering::SeqCst));
        self.luck.store(luck, Ordering::SeqCst);
        (luck >> 33).is_multiple_of(one_in)
    }

    fn try_call(&self) -> Result<()> {
        if self.fails() {
            return Err(Error::Unavailable("the test failed it".to_owned()));
        }
        Ok(())
    }

    /// A connection, which is not used at once.
    async fn connection(&self) -> Option<SemaphorePermit<'_>> {
        let connection = self.connections.get()?.acquire().await.unwrap();
        tokio::task::yield_now().await;
        Some(connection)
    }

    fn is_broken(&self, transaction: &Transaction) -> bool {
        let broken = *self.broken.lock().unwrap();
        let key = broken.map(RecordKey::Execution);
        transaction.puts.iter().any(|put| Some(put.record.key()) == key)
    }
}

fn lost<T>(_: T) -> Result<T> {
    Err(Error::Unknown("the test lost it".to_owned()))
}

#[async_trait]
impl Layer for Watched {
    fn inner(&self) -> &dyn Backend {
        &*self.memory
    }

    async fn load(&self, loads: Vec<Load>) -> Result<Vec<Snapshot>> {
        self.count("load");
        self.try_call()?;
        self.memory.load(loads).await
    }

    async fn commit(&self, batch: Vec<Transaction>) -> Vec<std::result::Result<Committed, CommitError>> {
        self.count("commit");
        let mut answers = Vec::new();
        for transaction in batch {
            if self.is_broken(&transaction) {
                answers.push(Err(CommitError::Store(Error::Corrupt("the test broke it".to_owned()))));
            } else if self.fails() {
                answers.push(Err(CommitError::Store(Error::Unavailable(
                    "the test failed it".to_owned(),
                ))));
            } else {
                let answer = self.memory.commit(vec![transaction]).await.remove(0);
                let lost = Err(CommitError::Store(Error::Unknown("the test lost it".to_owned())));
                answers.push(if self.fails() { lost } else { answer });
            }
        }
        answers
    }

    async fn due(&self, ask: Due) -> Result<DuePage> {
        self.count("due");
        let _connection = self.connection().await;
        self.try_call()?;
        self.memory.due(ask).await
    }

    async fn list(&self, query: Query) -> Result<Page> {
        self.count("list");
        let _connection = self.connection().await;
        self.try_call()?;
        let mut page = self.memory.list(query).await?;
        let drifted = self.drifted.lock().unwrap().map(RecordKey::Execution);
        if let Rows::Audit(rows) = &mut page.rows {
            for row in rows.iter_mut().filter(|row| Some(row.record.key()) == drifted) {
                row.due_at = Some(Timestamp::from_millis(1));
            }
        }
        Ok(page)
    }

    async fn ledger(&self, calls: Vec<LedgerCall>) -> Vec<Result<LedgerReply>> {
        self.count("ledger");
        let replies = self.memory.ledger(calls).await;
        if self.loses() || self.fails() {
            return replies.into_iter().map(|reply| lost(reply).flatten()).collect();
        }
        replies
    }

    async fn append(&self, batch: Vec<Append>) -> Vec<std::result::Result<Appended, AppendError>> {
        self.count("append");
        self.memory.append(batch).await
    }

    async fn read(&self, range: FrameRange) -> Result<Frames> {
        self.count("read");
        self.memory.read(range).await
    }

    async fn settings(&self, ops: Vec<SettingsOp>) -> Result<Vec<SettingsReply>> {
        self.count("settings");
        self.try_call()?;
        self.memory.settings(ops).await
    }

    fn hints(&self) -> HintStream {
        if self.silent.load(Ordering::SeqCst) {
            return self.nowhere.subscribe();
        }
        self.memory.hints()
    }

    async fn ping(&self) -> Result<Timestamp> {
        self.count("ping");
        self.memory.ping().await
    }
}

/// A store, a host and an engine.
pub(crate) struct World {
    pub(crate) store: Arc<Watched>,
    pub(crate) host: Arc<VirtualHost>,
    pub(crate) engine: Engine,
    minted: AtomicU64,
}

/// Fewer partitions than the default make fewer surprises in a listing, and enough for sixteen ranges.
pub(crate) fn counts() -> PartitionCounts {
    PartitionCounts::new(32, 4, 4).unwrap()
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with(Config::new(counts()))
    }

    pub(crate) fn with(mut config: Config) -> Self {
        crate::support::turn_off(&mut config);
        let store = Arc::new(Watched {
            memory: Arc::new(MemoryBackend::new(Timestamp::from_millis(1_000_000), config.counts)),
            calls: Mutex::default(),
            lose: AtomicUsize::new(0),
            broken: Mutex::new(None),
            drifted: Mutex::new(None),
            one_fails_in: AtomicU64::new(0),
            luck: AtomicU64::new(1),
            connections: OnceLock::new(),
            silent: AtomicBool::new(false),
            nowhere: HintBoard::default(),
        });
        let host = Arc::new(VirtualHost::new(7));
        let engine = Engine::new(
            Arc::clone(&store) as Arc<dyn Backend>,
            Arc::clone(&host) as Arc<dyn Host>,
            config,
        );
        Self {
            store,
            host,
            engine,
            minted: AtomicU64::new(0),
        }
    }

    pub(crate) fn mint(&self) -> Uuid {
        let count = self.minted.fetch_add(1, Ordering::SeqCst) + 1;
        Uuid::from_u128(u128::from(count) << 64 | u128::from(count))
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.store.memory.now()
    }

    /// Lets time pass, for the store and for the host.
    pub(crate) fn pass(&self, duration: Duration) {
        self.store.memory.advance(duration);
        self.host
            .advance(std::time::Duration::from_millis(duration.as_millis()));
    }

    /// Lets whatever runs in the background do all it can do now.
    pub(crate) async fn settle(&self) {
        for _ in 0..2_000 {
            tokio::task::yield_now().await;
        }
    }

    /// Pumps until nothing is left to do.
    pub(crate) async fn pump(&self) {
        for _ in 0..1_000 {
            if self.engine.pump_pass().await.unwrap() == 0 {
                return;
            }
        }
        panic!("the pump finds no end");
    }

    pub(crate) async fn submit(&self, shape: impl FnOnce(&mut CreateExecution)) -> ExecutionId {
        let uuid = self.mint();
        let id = ExecutionId::new(counts().of_execution_uuid(uuid).index, uuid);
        let mut command = CreateExecution::new(ExecutionKind::parse("kind").unwrap(), Payload::binary("input"));
        shape(&mut command);
        let decided = submit::create(&command, id, Known::default(), &Context::engine(self.now())).unwrap();
        self.commit(&Snapshot::empty(id.partition(), self.now()), decided).await;
        id
    }

    pub(crate) async fn submit_with(&self, policy: Policy) -> ExecutionId {
        self.submit(|command| command.policy = policy).await
    }

    async fn commit<O>(&self, snapshot: &Snapshot, decided: Decided<O>) -> O {
        let tag = Tag(self.minted.fetch_add(1, Ordering::SeqCst) + 1);
        let transaction = Transaction::bind(decided.draft, snapshot, tag);
        self.store.memory.commit(vec![transaction]).await.remove(0).unwrap();
        decided.outcome
    }

    /// Decides about an execution behind the engine's back, as another process would.
    pub(crate) async fn decide<O>(
        &self,
        id: ExecutionId,
        rule: impl FnOnce(&Execution, &Context) -> std::result::Result<Decided<O>, Rejection>,
    ) -> O {
        let snapshot = self.load(id).await;
        let execution = snapshot.execution(&RecordKey::Execution(id)).unwrap();
        let decided = rule(execution, &Context::engine(self.now())).unwrap();
        self.commit(&snapshot, decided).await
    }

    /// Usage that waits in the outbox for the pump.
    pub(crate) async fn report_usage(&self, id: ExecutionId, command: &ReportUsage) {
        let effect_id = EffectId::from_uuid(self.mint());
        self.decide(id, |it, context| lease::report_usage(it, command, effect_id, context))
            .await;
    }

    pub(crate) async fn load(&self, id: ExecutionId) -> Snapshot {
        let load = Load::records(id.partition(), [RecordKey::Execution(id)]);
        self.store.memory.load(vec![load]).await.unwrap().remove(0)
    }

    pub(crate) async fn find(&self, id: ExecutionId) -> Option<Execution> {
        self.load(id).await.execution(&RecordKey::Execution(id)).cloned()
    }

    pub(crate) async fn execution(&self, id: ExecutionId) -> Execution {
        self.find(id).await.unwrap()
    }

    pub(crate) async fn state(&self, id: ExecutionId) -> PublicState {
        public_state(&self.execution(id).await)
    }

    pub(crate) fn claimant(&self) -> Claimant {
        Claimant {
            worker: "worker".parse().unwrap(),
            instance: "worker-1".parse().unwrap(),
            grant_id: GrantId::from_uuid(self.mint()),
            lease_id: LeaseId::from_uuid(self.mint()),
            attempt_id: AttemptId::from_uuid(self.mint()),
            lease_ttl: Duration::from_secs(30),
            grant_ttl: Duration::from_secs(5),
        }
    }

    /// Reserves one execution as a worker would, leased or promised.
    pub(crate) async fn reserve(&self, mode: HandOut) -> Execution {
        let ask = Reserve {
            namespace: Namespace::default_namespace(),
            lanes: vec![LaneId::default_lane()],
            capabilities: CapabilitySet::default(),
            closed: Vec::new(),
            mode,
            claimants: vec![self.claimant()],
            tag: Tag(self.minted.fetch_add(1, Ordering::SeqCst) + 1),
        };
        let mut reservation = self.store.memory.reserve(ask).await.unwrap();
        reservation.tasks.remove(0).execution
    }

    /// Leases one execution whatever its budgets and quota say, and answers its fence.
    pub(crate) async fn lease(&self, id: ExecutionId) -> Fence {
        let reserved = self.reserve(HandOut::Grant).await;
        assert_eq!(reserved.id, id);
        let claimant = Claimant {
            grant_id: reserved.grant().unwrap().id,
            ..self.claimant()
        };
        self.decide(id, |execution, context| {
            ff_core::machine::claim::lease(execution, &claimant, context)
        })
        .await;
        self.fence(id).await
    }

    pub(crate) async fn fence(&self, id: ExecutionId) -> Fence {
        let execution = self.execution(id).await;
        execution.lease().unwrap().fence(execution.attempt.as_ref().unwrap().id)
    }

    pub(crate) async fn budget(&self, shape: impl FnOnce(&mut CreateBudget)) -> BudgetId {
        let budget_id = BudgetId::from_uuid(self.mint());
        let limits = Limits {
            soft: None,
            hard: Some(10),
        };
        let mut command = CreateBudget {
            budget_id: Some(budget_id),
            namespace: Namespace::default_namespace(),
            scope: "tests".to_owned(),
            dimensions: BTreeMap::from([(tokens(), limits)]),
            reset_interval: None,
            on_hard_limit: OnHardLimit::Block,
        };
        shape(&mut command);
        let created = limits::budgets::create(&self.direct(), budget_id, &command).await;
        created.unwrap();
        budget_id
    }

    /// The accounts of the store, as somebody else asks them.
    pub(crate) fn direct(&self) -> Direct {
        Direct::new(self.store.memory.clone())
    }

    pub(crate) async fn reset(&self, budget_id: BudgetId) {
        let reset = limits::budgets::reset(&self.direct(), budget_id, &ResetBudget::default()).await;
        reset.unwrap();
    }

    pub(crate) async fn mark(&self, cause: Cause, partition: Partition, continues: bool) {
        limits::mark(&self.direct(), cause, [(partition, continues)])
            .await
            .unwrap();
    }

    pub(crate) async fn admit(&self, quota_policy_id: QuotaPolicyId, ask: &Admit) {
        limits::quotas::admit(&self.direct(), quota_policy_id, ask)
            .await
            .unwrap();
    }

    pub(crate) async fn spend(&self, budget_id: BudgetId, amount: u64) {
        let report = UsageReport::new(BTreeMap::from([(tokens(), amount)]));
        self.report(budget_id, report).await;
    }

    pub(crate) async fn report(&self, budget_id: BudgetId, report: UsageReport) {
        let charged = limits::budgets::report(&self.direct(), budget_id, &[report], false).await;
        charged.unwrap();
    }

    pub(crate) async fn spent(&self, budget_id: BudgetId) -> u64 {
        let view = limits::budgets::find(&self.direct(), budget_id).await.unwrap();
        view.unwrap().dimensions[&tokens()].usage
    }

    pub(crate) async fn quota(&self, shape: impl FnOnce(&mut CreateQuotaPolicy)) -> QuotaPolicyId {
        let quota_policy_id = QuotaPolicyId::from_uuid(self.mint());
        let mut command = CreateQuotaPolicy {
            quota_policy_id: Some(quota_policy_id),
            namespace: Namespace::default_namespace(),
            window: Duration::from_secs(60),
            max_requests_per_window: None,
            max_concurrent: None,
            jitter: Duration::ZERO,
        };
        shape(&mut command);
        let created = limits::quotas::create(&self.direct(), quota_policy_id, &command).await;
        created.unwrap();
        quota_policy_id
    }
}

pub(crate) fn tokens() -> Dimension {
    Dimension::parse("tokens").unwrap()
}

pub(crate) fn under_budget(budget_id: BudgetId) -> Policy {
    Policy {
        budget_ids: [budget_id].into(),
        ..Policy::default()
    }
}

pub(crate) fn under_quota(quota_policy_id: QuotaPolicyId) -> Policy {
    Policy {
        quota_policy_id: Some(quota_policy_id),
        ..Policy::default()
    }
}
