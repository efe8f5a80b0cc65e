//! The one place where everything is looked at.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ff_backend::Backend;
use ff_backend::due::{Due, DuePage};
use ff_backend::frames::{Append, Appended};
use ff_backend::ledger::LedgerReply;
use ff_backend::limits::{self, Direct};
use ff_backend::load::{Load, Snapshot};
use ff_backend::memory::MemoryBackend;
use ff_backend::query::{Listing, Page, Query};
use ff_backend::reserve::Reservation;
use ff_backend::transaction::Transaction;
use ff_core::command::budget::BudgetView;
use ff_core::id::{BudgetId, ExecutionId, FlowId};
use ff_core::ledger::{AccountView, LedgerAnswer, LedgerCall, Meter, Read, ReadMeters};
use ff_core::machine::placement::{Placement, placement};
use ff_core::name::{Dimension, Namespace, WorkerInstanceId};
use ff_core::partition::PartitionCounts;
use ff_core::payload::Payload;
use ff_core::record::{AttemptKind, Cause, Execution, Fence, HistoryLine, OutcomeKind};
use ff_core::time::Timestamp;
use futures::FutureExt;

use super::feeds::{Feeds, Reading};
use super::fences::{Act, Told};
use super::leases::LeaseLog;
use super::losses::{GraphPromise, Promises};
use super::mirror::{Changes, Mirror};
use super::receipts::{Receipts, SentReport};
use super::slots::SlotKey;
use super::steps::{Asked, StepPromises};
use super::usage::{Deliveries, ReportKey};
use super::{
    Holds, Violation, counters, dependencies, endings, fences, gates, hold, indexes, liveness, requests, slots, steps,
    usage,
};

/// Rows asked for at once.
const PAGE: usize = 500;

/// Sees every write that lands, and what callers are told. The first thing that does not hold is kept.
pub struct Watch {
    store: Store,
    inner: Mutex<Inner>,
}

#[derive(Default)]
pub(super) struct Inner {
    pub(super) mirror: Mirror,
    leases: LeaseLog,
    deliveries: Deliveries,
    receipts: Receipts,
    feeds: Feeds,
    promises: Promises,
    /// What a failover made a quota or a budget forget.
    lost_slots: BTreeSet<SlotKey>,
    lost_reports: BTreeSet<ReportKey>,
    pub(super) asked: Asked,
    pub(super) step_promises: StepPromises,
    violation: Option<Violation>,
}

/// The store at a moment, as the watch saw it.
pub struct Mark(Mirror);

impl Watch {
    /// Watches `memory`, which is empty.
    pub fn new(memory: Arc<MemoryBackend>, counts: PartitionCounts) -> Self {
        Self {
            store: Store { memory, counts },
            inner: Mutex::default(),
        }
    }

    /// The first thing that did not hold.
    pub fn violation(&self) -> Option<Violation> {
        self.inner().violation.clone()
    }

    /// Something did not hold that only the caller could see.
    pub fn report(&self, violation: Violation) {
        self.inner().judge(Err(violation));
    }

    /// A transaction landed.
    pub(crate) fn landed(&self, transaction: Transaction, at: Timestamp) {
        let mut inner = self.inner();
        inner.judge(changes_something(&transaction));
        let changes = inner.mirror.apply(transaction, at);
        let holds = inner.check(&self.store, &changes);
        inner.judge(holds);
    }

    /// Executions were handed out.
    pub(crate) fn handed_out(&self, reservation: &Reservation) {
        let mut inner = self.inner();
        let mut changes = Changes {
            at: reservation.now,
            ..Changes::default()
        };
        for task in &reservation.tasks {
            inner.mirror.replace(task.execution.clone(), &mut changes);
        }
        let holds = inner.check(&self.store, &changes);
        inner.judge(holds);
    }

    /// An account answered.
    pub(crate) fn asked(&self, call: &LedgerCall, reply: &LedgerReply) {
        let mut inner = self.inner();
        let Inner {
            mirror,
            deliveries,
            receipts,
            ..
        } = &mut *inner;
        let (counted, holds) = receipts.asked((mirror, &self.store), call, reply.now);
        deliveries.asked(mirror, call, (&reply.answer, counted));
        slots::observe(mirror, call, &reply.answer);
        inner.judge(holds);
    }

    /// A frame was kept.
    pub(crate) fn appended(&self, append: &Append, appended: &Appended) {
        if appended.repeated {
            return;
        }
        let mut inner = self.inner();
        let holds = fences::frame_is_the_holders(&inner.mirror, append, appended.now);
        inner.judge(holds);
    }

    /// A caller was told that an execution is there.
    pub fn accepted(&self, id: ExecutionId) {
        let mut inner = self.inner();
        let Inner { mirror, promises, .. } = &mut *inner;
        let holds = promises.accept(mirror, id);
        inner.judge(holds);
    }

    /// A caller asks for an execution to be deleted before its time.
    pub fn ask_to_delete(&self, id: ExecutionId) {
        self.inner().promises.ask_to_delete(id);
    }

    /// A caller was told that a flow is there.
    pub fn accepted_flow(&self, id: FlowId) {
        let mut inner = self.inner();
        let Inner { mirror, promises, .. } = &mut *inner;
        let holds = promises.accept_flow(mirror, id);
        inner.judge(holds);
    }

    /// A caller was told that a part of a graph is there.
    pub fn accepted_graph(&self, promise: &GraphPromise) {
        let mut inner = self.inner();
        let holds = inner.promises.accept_graph(&inner.mirror, promise);
        inner.judge(holds);
    }

    /// A caller was told that a flow is cancelled with its members.
    pub fn cancelled_flow(&self, id: FlowId) {
        let mut inner = self.inner();
        let holds = gates::cancelled_gate_is_closed(&inner.mirror, id);
        inner.judge(holds);
    }

    /// A worker instance was told what it did under a lease.
    pub fn told(&self, id: ExecutionId, fence: Fence, act: Act, instance: Option<&WorkerInstanceId>) {
        let mut inner = self.inner();
        let told = Told {
            id,
            fence,
            act,
            instance,
        };
        let holds = fences::told_the_truth(&inner.leases, &told);
        inner.judge(holds);
    }

    /// Somebody is about to send a usage report.
    pub fn reports(&self, report: SentReport) {
        self.inner().receipts.sent(report);
    }

    /// Whoever sent a usage report was told that it counts.
    pub fn reported(&self, report: SentReport) {
        let mut inner = self.inner();
        let holds = inner.receipts.told((&inner.mirror, &self.store), report);
        inner.judge(holds);
    }

    /// A worker was told that its execution was completed with this result.
    pub fn completed(&self, id: ExecutionId, fence: Fence, result: Option<Payload>) {
        self.inner().promises.complete(id, fence.lease_id, result);
    }

    /// Somebody begins to read events.
    pub fn begin_reading(&self) -> Reading {
        self.inner().feeds.begin()
    }

    /// A reader saw an event.
    pub fn saw(&self, reading: &mut Reading, line: &HistoryLine) {
        let mut inner = self.inner();
        let holds = inner.feeds.saw(reading, self.store.counts, line);
        inner.judge(holds);
    }

    /// A reader was told that there are no more events.
    pub fn saw_everything(&self, reading: &Reading) {
        let mut inner = self.inner();
        let holds = inner.feeds.saw_everything(reading);
        inner.judge(holds);
    }

    /// Looks at the whole store.
    pub fn check_all(&self) {
        let mut inner = self.inner();
        let holds = inner.check_all(&self.store);
        inner.judge(holds);
    }

    /// Looks at a store that has come to rest.
    pub fn check_at_rest(&self) {
        let mut inner = self.inner();
        let holds = inner.check_at_rest(&self.store);
        inner.judge(holds);
    }

    /// Looks at a store in which every retention is over.
    pub fn check_deleted(&self) {
        let mut inner = self.inner();
        let holds = liveness::everything_is_deleted(&inner.mirror);
        inner.judge(holds);
    }

    /// All limits have been open for a while.
    pub fn check_unblocked(&self) {
        let mut inner = self.inner();
        let holds = liveness::nothing_is_blocked(&inner.mirror, &self.store);
        inner.judge(holds);
    }

    /// Everything should have ended by now.
    pub fn check_ended(&self) {
        let mut inner = self.inner();
        let holds = liveness::everything_ended(&inner.mirror);
        inner.judge(holds);
    }

    /// Executions that have not ended.
    pub fn open_executions(&self) -> Vec<Arc<Execution>> {
        let inner = self.inner();
        let open = inner
            .mirror
            .executions
            .values()
            .filter(|execution| !execution.is_terminal());
        open.cloned().collect()
    }

    /// Executions that lost their worker and wait for another one.
    pub fn reclaimable(&self) -> Vec<ExecutionId> {
        let (inner, now) = (self.inner(), self.now());
        let is_lost = |execution: &&Arc<Execution>| {
            let pending = execution
                .runnable()
                .is_some_and(|runnable| runnable.next_claim.kind == AttemptKind::Reclaim);
            pending || execution.lease().is_some_and(|lease| lease.expires_at.has_come(now))
        };
        inner
            .mirror
            .executions
            .values()
            .filter(is_lost)
            .map(|execution| execution.id)
            .collect()
    }

    /// Whether an execution waits for nothing but a worker.
    pub fn is_eligible(&self, id: ExecutionId) -> bool {
        let inner = self.inner();
        let execution = inner.mirror.executions.get(&id);
        execution.is_some_and(|execution| matches!(placement(execution), Placement::Eligible { .. }))
    }

    /// Executions that wait for signals.
    pub fn suspended_executions(&self) -> Vec<ExecutionId> {
        self.ids_of(|execution| execution.suspension().is_some())
    }

    /// Executions that somebody has.
    pub fn leased_executions(&self) -> Vec<ExecutionId> {
        self.ids_of(|execution| execution.lease().is_some())
    }

    pub(super) fn ids_of(&self, which: impl Fn(&Execution) -> bool) -> Vec<ExecutionId> {
        let inner = self.inner();
        let executions = inner.mirror.executions.values();
        executions
            .filter(|execution| which(execution))
            .map(|execution| execution.id)
            .collect()
    }

    /// Executions of no flow that run or ran, with their namespaces.
    pub fn solo_executions_that_ran(&self) -> Vec<(ExecutionId, Namespace)> {
        let inner = self.inner();
        let executions = inner.mirror.executions.values();
        executions
            .filter(|execution| execution.definition.flow.is_none() && execution.has_run())
            .map(|execution| (execution.id, execution.definition.namespace.clone()))
            .collect()
    }

    /// Whether an execution waits for dependencies that nothing but a person can bring about.
    pub fn waits_for_a_person(&self, id: ExecutionId) -> bool {
        let inner = self.inner();
        let execution = inner.mirror.executions.get(&id);
        execution.is_some_and(|execution| dependencies::wait_for_a_person(&inner.mirror, execution))
    }

    /// The budget or quota policy an execution is blocked by, when a failover lost it.
    pub fn lost_cause(&self, execution: &Execution) -> Option<Cause> {
        let inner = self.inner();
        liveness::blocked_by(execution).filter(|cause| !liveness::exists(&inner.mirror, &self.store, *cause))
    }

    /// How often the store has forgotten its last writes.
    pub fn failovers(&self) -> u64 {
        self.inner().mirror.failovers
    }

    /// Executions that were completed.
    pub fn completed_executions(&self) -> Vec<ExecutionId> {
        let inner = self.inner();
        let completed = |execution: &&Arc<Execution>| {
            let kind = execution.outcome().map(|outcome| outcome.kind);
            kind == Some(OutcomeKind::Success)
        };
        let completed = inner.mirror.executions.values().filter(completed);
        completed.map(|execution| execution.id).collect()
    }

    /// The fence of the live lease of an execution.
    pub fn live_fence(&self, id: ExecutionId) -> Option<Fence> {
        let inner = self.inner();
        let execution = inner.mirror.executions.get(&id)?;
        Some(execution.lease()?.fence(execution.attempt.as_ref()?.id))
    }

    /// The store's time.
    pub fn now(&self) -> Timestamp {
        self.store.memory.now()
    }

    /// Flows that were never opened.
    pub fn assembling_flows(&self) -> Vec<FlowId> {
        let inner = self.inner();
        let assembling = |flow: &&Arc<ff_core::record::Flow>| flow.opened_at.is_none() && !flow.deleting;
        inner
            .mirror
            .flows
            .values()
            .filter(assembling)
            .map(|flow| flow.id)
            .collect()
    }

    /// The store as it is now.
    pub fn mark(&self) -> Mark {
        Mark(self.inner().mirror.clone())
    }

    /// A failover put the store back to `mark`: what the invariants say holds from there on.
    pub fn go_back(&self, mark: &Mark) {
        let mut inner = self.inner();
        let before = std::mem::replace(&mut inner.mirror, mark.0.clone());
        inner.mirror.failovers = before.failovers + 1;
        let Inner {
            mirror,
            promises,
            leases,
            feeds,
            step_promises,
            ..
        } = &mut *inner;
        mirror.deleted_policies.extend(&before.deleted_policies);
        promises.lose(&before, mirror);
        step_promises.lose(mirror);
        feeds.go_back(mirror);
        leases.go_back(mirror);
        let slots: Vec<SlotKey> = slots::lost(&before, mirror).collect();
        let reports: Vec<ReportKey> = before.counted.difference(&mirror.counted).cloned().collect();
        inner.lost_slots.extend(slots);
        inner.lost_reports.extend(reports);
    }

    pub(super) fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    pub(super) fn judge(&mut self, holds: Holds) {
        if let Err(violation) = holds {
            self.violation.get_or_insert(violation);
        }
    }

    /// Looks at what changed.
    fn check(&mut self, store: &Store, changes: &Changes) -> Holds {
        fences::writes_are_in_time(changes)?;
        self.leases.observe(changes)?;
        endings::check(changes)?;
        gates::check(&self.mirror, changes)?;
        gates::nobody_goes_on_behind_a_cancelled_one(&self.mirror, changes)?;
        dependencies::check(&self.mirror, changes)?;
        slots::check(&self.mirror, changes, &self.lost_slots)?;
        if self.mirror.failovers == 0 {
            // A failover brings slots back whose release was seen to arrive: those are the slot check's.
            slots::what_is_let_go_is_owed(&self.mirror, changes)?;
        }
        self.deliveries.check(&mut self.mirror, changes)?;
        self.feeds.observe(&mut self.mirror, store.counts, changes);
        self.promises.observe(&self.mirror, changes)?;
        requests::observe(&mut self.mirror, changes)?;
        self.step_promises.observe(changes);
        steps::check(&mut self.mirror, changes, &self.asked)?;
        counters::check(&self.mirror, store, changes)
    }

    fn check_all(&self, store: &Store) -> Holds {
        indexes::check_all(&self.mirror, store)?;
        counters::check_all(&self.mirror, store)?;
        slots::check_all(&self.mirror, &self.lost_slots)?;
        steps::check_all(&self.mirror, store)?;
        self.step_promises.check_all(&self.mirror)?;
        self.promises.check_all(&self.mirror)
    }

    fn check_at_rest(&self, store: &Store) -> Holds {
        self.check_all(store)?;
        liveness::nothing_is_left_to_do(&self.mirror, store)?;
        slots::none_is_forgotten(&self.mirror)?;
        usage::everything_counts(&self.mirror, store, &self.lost_reports)?;
        self.step_promises.outputs_are_there(&self.mirror, store)?;
        self.promises.results_are_there(&self.mirror, store)
    }
}

/// The store below all faults, to look things up at this very moment.
pub(crate) struct Store {
    memory: Arc<MemoryBackend>,
    pub(crate) counts: PartitionCounts,
}

impl Store {
    pub(crate) fn load(&self, load: Load) -> Snapshot {
        let loaded = at_once(self.memory.load(vec![load]));
        loaded.expect("memory answers").pop().expect("a load is answered")
    }

    /// All rows of a listing.
    pub(crate) fn list<R>(&self, of: &Listing, rows: impl Fn(Page) -> Vec<R>) -> Vec<R> {
        let mut found = Vec::new();
        let mut after = None;
        loop {
            let query = Query {
                of: of.clone(),
                after,
                limit: PAGE,
            };
            let page = at_once(self.memory.list(query)).expect("memory answers");
            after = page.next.clone();
            found.extend(rows(page));
            if after.is_none() {
                return found;
            }
        }
    }

    pub(crate) fn due(&self, ask: Due) -> DuePage {
        at_once(self.memory.due(ask)).expect("memory answers")
    }

    /// Whether a budget or quota policy was created and is not forgotten.
    pub(crate) fn has(&self, cause: Cause) -> bool {
        self.account(cause, ReadMeters::Only(Vec::new())).is_some()
    }

    /// What was spent of a budget in one dimension.
    pub(crate) fn spent(&self, id: BudgetId, dimension: &Dimension) -> u64 {
        let meter = Meter::Spent(dimension.clone());
        let view = self.account(Cause::Budget(id), ReadMeters::Only(vec![meter.clone()]));
        view.map_or(0, |view| view.meters[&meter].used.cast_unsigned())
    }

    fn account(&self, account: Cause, meters: ReadMeters) -> Option<AccountView> {
        let read = LedgerCall::Read(Read {
            account,
            meters,
            places: Vec::new(),
        });
        let replies = at_once(self.memory.ledger(vec![read]));
        let answers = replies.into_iter().flatten().map(|reply| reply.answer);
        answers.into_iter().find_map(|answer| match answer {
            LedgerAnswer::Account(view) => Some(*view),
            _ => None,
        })
    }

    /// Every budget of the namespaces the simulation uses.
    pub(crate) fn budgets(&self) -> Vec<BudgetView> {
        let memory: Arc<MemoryBackend> = Arc::clone(&self.memory);
        let direct = Direct::new(memory);
        let namespaces = crate::world::NAMESPACES.map(|name| Namespace::parse(name).expect("a good name"));
        let budgets_of = |namespace| at_once(limits::budgets::list(&direct, namespace, None, PAGE));
        let pages = namespaces.map(budgets_of).into_iter().flatten();
        pages.flat_map(|(budgets, _)| budgets).collect()
    }
}

/// The store in memory never waits.
fn at_once<T>(call: impl Future<Output = T>) -> T {
    call.now_or_never().expect("the store in memory never waits")
}

/// Without a change no version is compared: the answer would be taken from whatever its process remembers.
fn changes_something(transaction: &Transaction) -> Holds {
    let nothing = Transaction {
        generation: transaction.generation,
        guards: transaction.guards.clone(),
        not_after: transaction.not_after,
        limits_queues: transaction.limits_queues,
        ..Transaction::new(transaction.partition, transaction.tag)
    };
    hold(*transaction != nothing, "what changes nothing is not committed", || {
        format!("{transaction:?}")
    })
}
