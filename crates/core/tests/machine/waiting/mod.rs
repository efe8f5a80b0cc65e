//! One execution that suspends, with its waitpoints and signals.

use ff_core::command::lease::{Release, Renew};
use ff_core::command::operator::CancelExecution;
use ff_core::command::signal::{Decide, DeliverSignal, Delivered, ResumeExecution, ResumeOutcome, Verdict};
use ff_core::command::submit::CreateExecution;
use ff_core::command::suspend::{Suspend, WaitpointChoice};
use ff_core::command::waitpoint::{CreatePendingWaitpoint, WaitpointState};
use ff_core::error::{Code, Rejection};
use ff_core::id::{ExecutionId, FlowId, SignalId, WaitpointId};
use ff_core::machine::approval::decide;
use ff_core::machine::claim::HandOut;
use ff_core::machine::resume::resume_execution;
use ff_core::machine::signal::{Target, deliver};
use ff_core::machine::suspend::{Early, SuspendOutcome, suspend};
use ff_core::machine::waitpoint::{create_pending, expire, waitpoint_state};
use ff_core::machine::{Context, Decided, Draft, lease, operator, time};
use ff_core::name::{IdempotencyKey, Identity, RequestId, SignalName, WaitpointKey};
use ff_core::payload::Payload;
use ff_core::policy::Policy;
use ff_core::record::{
    Actor, CounterKey, Execution, Fence, Gate, GateState, Matcher, PendingWaitpoint, ReasonCode, Record, RecordKey,
    ResumeCondition, Signal, Suspension, Waitpoint,
};
use ff_core::state::{PublicState, public_state};
use ff_core::time::{Duration, Timestamp};
use uuid::Uuid;

use crate::support::{World, submission};

pub(crate) const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_hours(1);

pub(crate) fn key(text: &str) -> WaitpointKey {
    WaitpointKey::parse(text).unwrap()
}

pub(crate) fn name(text: &str) -> SignalName {
    SignalName::parse(text).unwrap()
}

pub(crate) fn idempotency_key(text: &str) -> Option<IdempotencyKey> {
    Some(IdempotencyKey::parse(text).unwrap())
}

pub(crate) fn request(text: &str) -> Option<RequestId> {
    Some(RequestId::parse(text).unwrap())
}

/// One signal named `go` at `waitpoint`.
pub(crate) fn single(waitpoint: &str) -> ResumeCondition {
    ResumeCondition::Single {
        waitpoint_key: key(waitpoint),
        matcher: Matcher::ByName(name("go")),
    }
}

/// The code a command was refused with.
pub(crate) fn code<O: std::fmt::Debug>(result: Result<O, Rejection>) -> Code {
    result.unwrap_err().code
}

/// An execution in a store of its own.
pub(crate) struct Case {
    pub(crate) store: World,
    /// The execution as it is stored.
    pub(crate) execution: Execution,
    /// Who asks.
    pub(crate) actor: Actor,
    /// What the last accepted command wrote.
    pub(crate) draft: Draft,
}

impl Case {
    /// A worker has the execution for an hour.
    pub(crate) fn leased() -> Self {
        Self::with_policy(Policy::default())
    }

    pub(crate) fn with_policy(policy: Policy) -> Self {
        let mut store = World::new();
        let command = CreateExecution {
            policy,
            ..submission().unwrap()
        };
        let id = store.submit(&command).unwrap();
        Self::of(store, id)
    }

    /// A worker has a member of an open flow.
    pub(crate) fn member() -> Self {
        let mut store = World::new();
        let flow_id = FlowId::from_uuid(store.mint());
        let gate = Gate {
            flow_id,
            state: GateState::Open,
        };
        let mut draft = Draft::default();
        draft.create(gate);
        store.commit(draft).unwrap();
        let command = CreateExecution {
            flow_id: Some(flow_id),
            ..submission().unwrap()
        };
        let id = store.submit(&command).unwrap();
        Self::of(store, id)
    }

    fn of(store: World, id: ExecutionId) -> Self {
        let mut case = Self {
            execution: store.execution(id).unwrap(),
            store,
            actor: Actor::Client(Identity::parse("alice").unwrap()),
            draft: Draft::default(),
        };
        case.lease();
        case
    }

    /// Suspended on a signal `go` at a fresh waitpoint `k`.
    pub(crate) fn suspended() -> Self {
        Self::suspended_with(|command| command)
    }

    pub(crate) fn suspended_with(change: impl FnOnce(Suspend) -> Suspend) -> Self {
        let mut case = Self::leased();
        let command = change(case.suspend_command(&["k"], single("k")));
        case.suspend(&command).unwrap();
        case
    }

    /// A worker takes the execution and renews its lease once.
    pub(crate) fn lease(&mut self) {
        let mut claimant = self.store.claimant().unwrap();
        claimant.lease_ttl = HOUR;
        self.store
            .reserve(self.execution.id, &claimant, HandOut::Lease)
            .unwrap();
        self.reload();
        let command = Renew {
            fence: Some(self.fence()),
            ttl: None,
            doing: Vec::new(),
        };
        self.keep(lease::renew(&self.execution, &command, &self.context()))
            .unwrap();
    }

    pub(crate) fn release(&mut self) {
        let command = Release {
            fence: Some(self.fence()),
            ..Release::default()
        };
        self.keep(lease::release(&self.execution, &command, &self.context()))
            .unwrap();
    }

    pub(crate) fn cancel(&mut self) {
        let command = CancelExecution {
            reason: "no more".to_owned(),
            fence: None,
        };
        self.keep(operator::cancel(&self.execution, &command, &self.context()))
            .unwrap();
    }

    /// The execution's flow reaches this gate state.
    pub(crate) fn set_gate(&mut self, state: GateState) {
        let flow_id = self.execution.definition.flow.unwrap();
        let mut draft = Draft::default();
        draft.put(Gate { flow_id, state });
        self.store.commit(draft).unwrap();
    }

    pub(crate) fn gate(&self) -> RecordKey {
        RecordKey::Gate(self.execution.definition.flow.unwrap())
    }

    /// The fence of the live lease.
    pub(crate) fn fence(&self) -> Fence {
        let attempt = self.execution.attempt.as_ref().unwrap();
        self.execution.lease().unwrap().fence(attempt.id)
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.store.now
    }

    pub(crate) fn fresh(&mut self) -> Uuid {
        self.store.mint()
    }

    pub(crate) fn state(&self) -> PublicState {
        public_state(&self.execution)
    }

    pub(crate) fn suspension(&self) -> &Suspension {
        self.execution.suspension().unwrap()
    }

    /// The signals that ended the last suspension.
    pub(crate) fn resumed_by(&self) -> Vec<SignalId> {
        self.execution.resumed.as_ref().unwrap().signals.clone()
    }

    pub(crate) fn waitpoints(&self) -> Vec<Waitpoint> {
        let waitpoint = |record: &Record| match record {
            Record::Waitpoint(waitpoint) => Some((**waitpoint).clone()),
            _ => None,
        };
        self.store.records().filter_map(waitpoint).collect()
    }

    pub(crate) fn waitpoint(&self, key: &str) -> Waitpoint {
        let mut waitpoints = self.waitpoints();
        waitpoints.retain(|waitpoint| waitpoint.key.as_str() == key);
        waitpoints.pop().unwrap()
    }

    pub(crate) fn waitpoint_state(&self, key: &str) -> WaitpointState {
        waitpoint_state(&self.waitpoint(key), &self.execution, self.now())
    }

    pub(crate) fn signals(&self) -> Vec<Signal> {
        let signal = |record: &Record| match record {
            Record::Signal(signal) => Some((**signal).clone()),
            _ => None,
        };
        self.store.records().filter_map(signal).collect()
    }

    fn signal_with_id(&self, id: SignalId) -> Option<Signal> {
        self.signals().into_iter().find(|signal| signal.id == id)
    }

    /// Time passes, and nobody looks.
    pub(crate) fn pass(&mut self, time: Duration) {
        self.store.wait(time);
    }

    /// The pump looks after everything that is due.
    pub(crate) fn pump(&mut self) {
        self.keep(Ok(time::advance(&self.execution, &self.context()))).unwrap();
        for waitpoint in self.waitpoints() {
            let decided = expire(&waitpoint, &self.execution, &self.context());
            if !decided.draft.is_empty() {
                self.keep(Ok(decided)).unwrap();
            }
        }
    }

    fn context(&self) -> Context {
        Context {
            actor: self.actor.clone(),
            ..self.store.context(&self.execution)
        }
    }

    /// Commits what was decided and hands on its outcome.
    fn keep<O>(&mut self, decided: Result<Decided<O>, Rejection>) -> Result<O, Rejection> {
        let decided = decided?;
        self.draft = decided.draft.clone();
        let outcome = self.store.land(decided)?;
        self.reload();
        Ok(outcome)
    }

    fn reload(&mut self) {
        self.execution = self.store.execution(self.execution.id).unwrap();
    }

    /// A suspend under the live lease with fresh waitpoints.
    pub(crate) fn suspend_command(&mut self, waitpoints: &[&str], condition: ResumeCondition) -> Suspend {
        let fence = self.execution.lease().map(|_| self.fence());
        let fresh = |waitpoint: &&str| WaitpointChoice::Fresh {
            waitpoint_key: key(waitpoint),
            waitpoint_id: None,
        };
        Suspend {
            fence,
            waitpoints: waitpoints.iter().map(fresh).collect(),
            resume_condition: condition,
            reason_code: ReasonCode::WaitingForSignal,
            timeout_at: None,
            timeout_behavior: None,
            resume_delay: Duration::ZERO,
            idempotency_key: None,
            suspension_id: None,
            step: None,
            steps: Vec::new(),
        }
    }

    /// A suspend under the live lease that uses the pending waitpoint `pending`.
    pub(crate) fn suspend_on(&mut self, pending: &str, condition: ResumeCondition) -> Suspend {
        let waitpoint_id = self.waitpoint(pending).id;
        Suspend {
            waitpoints: vec![WaitpointChoice::UsePending { waitpoint_id }],
            ..self.suspend_command(&[], condition)
        }
    }

    pub(crate) fn suspend(&mut self, command: &Suspend) -> Result<SuspendOutcome, Rejection> {
        self.suspend_with(command, &self.waitpoints())
    }

    /// A suspend for which these waitpoints were loaded.
    pub(crate) fn suspend_with(
        &mut self,
        command: &Suspend,
        waitpoints: &[Waitpoint],
    ) -> Result<SuspendOutcome, Rejection> {
        let early = Early {
            waitpoints,
            signals: &self.signals(),
        };
        self.keep(suspend(&self.execution, command, early, &self.context()))
    }

    pub(crate) fn create_pending(&mut self, waitpoint: &str) -> Result<PendingWaitpoint, Rejection> {
        let command = self.create_pending_command(waitpoint);
        self.create_pending_with(&command)
    }

    /// A pending waitpoint for a minute.
    pub(crate) fn create_pending_command(&mut self, waitpoint: &str) -> CreatePendingWaitpoint {
        CreatePendingWaitpoint {
            fence: Some(self.fence()),
            waitpoint_key: key(waitpoint),
            expires_in: MINUTE,
            request_id: None,
            waitpoint_id: None,
        }
    }

    pub(crate) fn create_pending_with(
        &mut self,
        command: &CreatePendingWaitpoint,
    ) -> Result<PendingWaitpoint, Rejection> {
        let fresh = WaitpointId::from_uuid(self.fresh());
        let waitpoint_id = command.waitpoint_id().unwrap_or(fresh);
        self.keep(create_pending(&self.execution, command, waitpoint_id, &self.context()))
    }

    pub(crate) fn signal_command(&mut self, waitpoint: &str, signal: &str) -> DeliverSignal {
        DeliverSignal {
            waitpoint_id: self.waitpoint(waitpoint).id,
            signal_id: Some(SignalId::from_uuid(self.fresh())),
            signal_name: name(signal),
            category: "event".to_owned(),
            source_type: "test".to_owned(),
            source_identity: Identity::parse("bob").unwrap(),
            payload: Payload::binary(&b"hello"[..]),
            idempotency_key: None,
            correlation_id: None,
        }
    }

    /// Delivers a signal of this name.
    pub(crate) fn signal(&mut self, waitpoint: &str, signal: &str) -> Result<Delivered, Rejection> {
        let command = self.signal_command(waitpoint, signal);
        self.deliver(&command)
    }

    pub(crate) fn deliver(&mut self, command: &DeliverSignal) -> Result<Delivered, Rejection> {
        self.at_target(command, |target, context| deliver(target, command, context))
    }

    pub(crate) fn decide(&mut self, waitpoint: &str, verdict: Verdict) -> Result<Delivered, Rejection> {
        let like = self.signal_command(waitpoint, "ignored");
        let command = Decide {
            waitpoint_id: like.waitpoint_id,
            payload: Payload::default(),
            idempotency_key: None,
        };
        self.at_target(&like, |target, context| decide(target, verdict, &command, context))
    }

    fn at_target(
        &mut self,
        command: &DeliverSignal,
        rule: impl FnOnce(Target<'_>, &Context) -> Result<Decided<Delivered>, Rejection>,
    ) -> Result<Delivered, Rejection> {
        let id = self.execution.id;
        let signal_id = command.signal_id.unwrap();
        let same_id = self.signal_with_id(signal_id);
        let same_key = command.idempotency_key.clone();
        let same_key = same_key.and_then(|key| self.store.record(&RecordKey::SignalKey(id, key)));
        let Some(Record::Waitpoint(waitpoint)) = self.store.record(&RecordKey::Waitpoint(id, command.waitpoint_id))
        else {
            panic!("no such waitpoint: {command:?}")
        };
        let target = Target {
            execution: &self.execution,
            waitpoint,
            signal_id,
            same_id: same_id.as_ref(),
            same_key: same_key.map(|record| match record {
                Record::SignalKey(key) => key,
                other => panic!("{other:?}"),
            }),
            buffered_signals: self.store.counter(CounterKey::BufferedSignals(id)),
        };
        self.keep(rule(target, &self.context()))
    }

    pub(crate) fn resume(&mut self, request_id: Option<RequestId>) -> Result<ResumeOutcome, Rejection> {
        let command = ResumeExecution {
            reason: None,
            request_id,
        };
        self.keep(resume_execution(&self.execution, &command, &self.context()))
    }
}
