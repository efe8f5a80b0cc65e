//! Builders shared by the test targets: one flow partition in memory, under a virtual clock, with ids that are the same in
//! every run.
//!
//! A target that needs only part of it says so where it declares the module:
//! `#[expect(dead_code, reason = "this target needs only part of the builders")]`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

use ff_core::command::submit::{CreateExecution, Created};
use ff_core::error::{Code, Rejection};
use ff_core::id::{AttemptId, ExecutionId, FlowId, GrantId, LeaseId};
use ff_core::machine::claim::{self, Claimant, HandOut, HandedOut, Surroundings};
use ff_core::machine::decided::{Nudge, Write};
use ff_core::machine::placement::{Placement, placement};
use ff_core::machine::steps::Around;
use ff_core::machine::submit::{self, Known};
use ff_core::machine::{Context, Decided, Draft, Settings};
use ff_core::name::ExecutionKind;
use ff_core::payload::Payload;
use ff_core::record::{CounterKey, Edge, Execution, Flow, Gate, GateState, Record, RecordKey, Step};
use ff_core::time::{Duration, Timestamp};
use uuid::Uuid;

/// The moment every world begins.
pub(crate) const START: Timestamp = Timestamp::from_millis(1_000_000);
/// The partition every id is minted into.
pub(crate) const PARTITION: u16 = 7;
/// How long leases last between renewals.
pub(crate) const LEASE_TTL: Duration = Duration::from_secs(60);
/// How long grants last.
pub(crate) const GRANT_TTL: Duration = Duration::from_secs(5);

/// A flow partition: its records, its counters, its clock and its source of ids.
pub(crate) struct World {
    pub(crate) now: Timestamp,
    pub(crate) settings: Settings,
    records: BTreeMap<RecordKey, Record>,
    counters: BTreeMap<CounterKey, i64>,
    nudged: BTreeSet<RecordKey>,
    minted: u128,
}

impl World {
    pub(crate) fn new() -> Self {
        Self {
            now: START,
            settings: Settings::default(),
            records: BTreeMap::new(),
            counters: BTreeMap::new(),
            nudged: BTreeSet::new(),
            minted: 0,
        }
    }

    /// The next id.
    pub(crate) fn mint(&mut self) -> Uuid {
        self.minted += 1;
        Uuid::from_u128(self.minted)
    }

    pub(crate) fn mint_execution_id(&mut self) -> ExecutionId {
        ExecutionId::new(PARTITION, self.mint())
    }

    pub(crate) fn wait(&mut self, duration: Duration) {
        self.now += duration;
    }

    /// Waits until `moment`, if it has not come yet.
    pub(crate) fn wait_until(&mut self, moment: Timestamp) {
        self.now = self.now.max(moment);
    }

    pub(crate) fn record(&self, key: &RecordKey) -> Option<&Record> {
        self.records.get(key)
    }

    pub(crate) fn records(&self) -> impl Iterator<Item = &Record> {
        self.records.values()
    }

    pub(crate) fn counter(&self, key: CounterKey) -> u64 {
        let count = self.counters.get(&key).copied().unwrap_or(0);
        u64::try_from(count).unwrap_or(0)
    }

    /// The stored execution; one whose retention is over is stored for a while but answers as if it were gone.
    pub(crate) fn execution(&self, id: ExecutionId) -> Result<Execution, Rejection> {
        match self.record(&RecordKey::Execution(id)) {
            Some(Record::Execution(execution)) => Ok((**execution).clone()),
            _ => Err(Code::ExecutionNotFound.because(format!("execution {id} is not stored"))),
        }
    }

    pub(crate) fn executions(&self) -> Vec<Execution> {
        let execution = |record: &Record| match record {
            Record::Execution(execution) => Some((**execution).clone()),
            _ => None,
        };
        self.records().filter_map(execution).collect()
    }

    /// The steps of an execution in the order in which they were recorded.
    pub(crate) fn steps(&self, id: ExecutionId) -> Vec<Step> {
        let step = |record: &Record| match record {
            Record::Step(step) if step.execution_id == id => Some((**step).clone()),
            _ => None,
        };
        let mut steps: Vec<Step> = self.records().filter_map(step).collect();
        steps.sort_by_key(|step| step.seq);
        steps
    }

    pub(crate) fn edges(&self) -> Vec<Edge> {
        let edge = |record: &Record| match record {
            Record::Edge(edge) => Some((**edge).clone()),
            _ => None,
        };
        self.records().filter_map(edge).collect()
    }

    pub(crate) fn flow(&self, id: FlowId) -> Result<Flow, Rejection> {
        match self.record(&RecordKey::Flow(id)) {
            Some(Record::Flow(flow)) => Ok((**flow).clone()),
            _ => Err(Code::FlowNotFound.because(format!("flow {id} is not stored"))),
        }
    }

    pub(crate) fn gate(&self, flow: FlowId) -> Option<GateState> {
        match self.record(&RecordKey::Gate(flow)) {
            Some(Record::Gate(Gate { state, .. })) => Some(*state),
            _ => None,
        }
    }

    /// The circumstances of a decision about `execution`.
    pub(crate) fn context(&self, execution: &Execution) -> Context {
        Context {
            steps: Around {
                stored: self.steps(execution.id),
                ..Around::default()
            },
            ..self.context_of(execution.definition.flow)
        }
    }

    /// The circumstances of a decision about a flow, or about something that belongs to none.
    pub(crate) fn context_of(&self, flow: Option<FlowId>) -> Context {
        Context {
            gate: flow.and_then(|flow| self.gate(flow)),
            settings: self.settings,
            ..Context::engine(self.now)
        }
    }

    /// Decides about a stored execution and commits what was decided.
    pub(crate) fn decide<O>(
        &mut self,
        id: ExecutionId,
        rule: impl FnOnce(&Execution, &Context) -> Result<Decided<O>, Rejection>,
    ) -> Result<O, Rejection> {
        let execution = self.execution(id)?;
        let context = self.context(&execution);
        self.land(rule(&execution, &context)?)
    }

    /// Commits what was decided and answers its outcome.
    pub(crate) fn land<O>(&mut self, decided: Decided<O>) -> Result<O, Rejection> {
        self.commit(decided.draft)?;
        Ok(decided.outcome)
    }

    /// Commits a draft as a store would: all of it or, with the reason as an internal error, nothing.
    pub(crate) fn commit(&mut self, draft: Draft) -> Result<(), Rejection> {
        self.check(&draft)?;
        for write in draft.writes {
            match write {
                Write::Put(record) | Write::Again(record) | Write::Create { record, .. } => {
                    self.records.insert(record.key(), record);
                }
                Write::Delete(key) => {
                    self.records.remove(&key);
                }
                Write::DeleteRemains(id) => self.counters.retain(|counter, _| !belongs_to(counter, id)),
            }
        }
        for (counter, by) in draft.increments {
            *self.counters.entry(counter).or_default() += by;
        }
        let heard = |nudge: &Nudge| nudge.only_at_zero.is_none_or(|counter| self.counter(counter) == 0);
        let heard: Vec<_> = draft.nudges.into_iter().filter(heard).collect();
        self.nudged.extend(heard.into_iter().map(|nudge| nudge.key));
        Ok(())
    }

    /// The records to be evaluated since the last call.
    pub(crate) fn take_nudged(&mut self) -> BTreeSet<RecordKey> {
        std::mem::take(&mut self.nudged)
    }

    /// What every store checks. Versions need none: nobody else writes here.
    fn check(&self, draft: &Draft) -> Result<(), Rejection> {
        let refuse = |what: &str, which: &dyn Debug| Err(Code::Internal.because(format!("{what}: {which:?}")));
        if let Some(moment) = draft.not_after.filter(|moment| moment.has_come(self.now)) {
            return refuse("committed too late", &moment);
        }
        if draft.writes.is_empty() && !draft.increments.is_empty() {
            return refuse("counters move beside no write", &draft.increments);
        }
        if let Some(guard) = draft.guards.iter().find(|key| !self.records.contains_key(key)) {
            return refuse("guards on what is not there", guard);
        }
        let mut written = Vec::new();
        for write in &draft.writes {
            let (key, must_exist) = match write {
                Write::Put(record) | Write::Again(record) => (record.key(), true),
                Write::Create { record, .. } => (record.key(), false),
                Write::Delete(key) => (key.clone(), true),
                Write::DeleteRemains(_) => continue,
            };
            if written.contains(&key) {
                return refuse("written twice", &key);
            }
            if self.records.contains_key(&key) != must_exist {
                return refuse(if must_exist { "not there" } else { "there already" }, &key);
            }
            written.push(key);
        }
        Ok(())
    }

    /// Submits a solo execution.
    pub(crate) fn submit(&mut self, command: &CreateExecution) -> Result<ExecutionId, Rejection> {
        let id = self.mint_execution_id();
        self.submit_as(id, command)?;
        Ok(id)
    }

    /// Submits a solo execution under a given id.
    pub(crate) fn submit_as(&mut self, id: ExecutionId, command: &CreateExecution) -> Result<Created, Rejection> {
        let decided = submit::create(command, id, Known::default(), &self.context_of(None))?;
        self.land(decided)
    }

    /// Somebody who asks for work, with fresh ids.
    pub(crate) fn claimant(&mut self) -> Result<Claimant, Rejection> {
        Ok(Claimant {
            worker: "worker".parse()?,
            instance: "worker-1".parse()?,
            grant_id: GrantId::from_uuid(self.mint()),
            lease_id: LeaseId::from_uuid(self.mint()),
            attempt_id: AttemptId::from_uuid(self.mint()),
            lease_ttl: LEASE_TTL,
            grant_ttl: GRANT_TTL,
        })
    }

    /// Reserves an execution if it stands in a queue; nothing else is found by a worker.
    pub(crate) fn reserve(&mut self, id: ExecutionId, claimant: &Claimant, mode: HandOut) -> Option<HandedOut> {
        let execution = self.execution(id).ok()?;
        let Placement::Eligible { .. } = placement(&execution) else {
            return None;
        };
        let flow = execution.definition.flow;
        let surroundings = Surroundings {
            now: self.now,
            gate: flow.and_then(|flow| self.gate(flow)),
        };
        let reserved = claim::hand_out(&execution, claimant, mode, surroundings);
        self.records
            .insert(RecordKey::Execution(id), Record::from(reserved.execution));
        for (counter, by) in reserved.increments {
            *self.counters.entry(counter).or_default() += by;
        }
        Some(reserved.handed_out)
    }
}

fn belongs_to(counter: &CounterKey, id: ExecutionId) -> bool {
    match counter {
        CounterKey::Group(owner, _) | CounterKey::BufferedSignals(owner) => *owner == id,
        CounterKey::Flow(..) => false,
    }
}

/// A submission of nothing in particular.
pub(crate) fn submission() -> Result<CreateExecution, Rejection> {
    Ok(CreateExecution::new(
        ExecutionKind::parse("kind")?,
        Payload::binary("input"),
    ))
}
