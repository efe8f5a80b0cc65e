//! One execution that workers take, use, lose and give back, while operators and time interfere.

use std::collections::BTreeMap;

use ff_core::command::lease::{
    Complete, Completed, DelayUntil, Fail, Failed, LetGo, Release, Renew, Renewed, ReportUsage,
};
use ff_core::command::operator::{CancelExecution, HoldExecution, RevokeLease, Revoked};
use ff_core::command::submit::CreateExecution;
use ff_core::command::suspend::{Suspend, WaitpointChoice};
use ff_core::error::{Code, Rejection};
use ff_core::id::{BudgetId, EffectId, ExecutionId, FlowId, QuotaPolicyId};
use ff_core::machine::budget::Stop;
use ff_core::machine::claim::{self, Claimant, HandOut, HandedOut};
use ff_core::machine::lease::UsageRecorded;
use ff_core::machine::outbox::{self, Arrived};
use ff_core::machine::resume::resume_execution;
use ff_core::machine::suspend::{Early, suspend};
use ff_core::machine::{Context, Decided, Draft, fail, lease, operator, time};
use ff_core::name::{Category, Dimension, WaitpointKey};
use ff_core::policy::Policy;
use ff_core::record::{
    Attempt, Effect, EffectKind, Execution, Fence, Gate, GateState, HistoryLine, ReasonCode, Record, ResumeCondition,
};
use ff_core::state::{PublicState, public_state};
use ff_core::time::{Duration, Timestamp};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::{World, submission};

pub(crate) const SECOND: Duration = Duration::from_secs(1);
pub(crate) const MINUTE: Duration = Duration::from_secs(60);
pub(crate) const HOUR: Duration = Duration::from_hours(1);

pub(crate) const fn seconds(n: u64) -> Duration {
    Duration::from_secs(n)
}

/// The code a command was refused with.
pub(crate) fn code<O: std::fmt::Debug>(result: Result<O, Rejection>) -> Code {
    result.unwrap_err().code
}

pub(crate) fn policy(json: &Value) -> Policy {
    Policy::from_json(json).unwrap()
}

pub(crate) const fn budget_id(n: u128) -> BudgetId {
    BudgetId::from_uuid(Uuid::from_u128(n))
}

pub(crate) const fn quota_id() -> QuotaPolicyId {
    QuotaPolicyId::from_uuid(Uuid::from_u128(0xa))
}

/// Something that is done to a case.
pub(crate) type Move = fn(&mut Case);

/// An execution in a store of its own.
pub(crate) struct Case {
    pub(crate) store: World,
    pub(crate) id: ExecutionId,
    /// The luck of the next decisions.
    pub(crate) dice: u64,
    /// What the last accepted command wrote.
    pub(crate) draft: Draft,
    /// Everything that accepted commands noted.
    pub(crate) history: Vec<HistoryLine>,
}

impl Case {
    pub(crate) fn new() -> Self {
        Self::submitted(&submission().unwrap())
    }

    pub(crate) fn with_policy(json: &Value) -> Self {
        Self::submitted(&CreateExecution {
            policy: policy(json),
            ..submission().unwrap()
        })
    }

    /// One that a quota limits.
    pub(crate) fn with_quota() -> Self {
        Self::with_policy(&json!({"quota_policy_id": quota_id()}))
    }

    /// A member of an open flow.
    pub(crate) fn member() -> Self {
        Self::member_with_policy(&json!({}))
    }

    /// A member of an open flow, with a policy.
    pub(crate) fn member_with_policy(json: &Value) -> Self {
        let mut store = World::new();
        let flow_id = FlowId::from_uuid(store.mint());
        let state = GateState::Open;
        let mut draft = Draft::default();
        draft.create(Gate { flow_id, state });
        store.commit(draft).unwrap();
        let flow_id = Some(flow_id);
        Self::submitted_to(
            store,
            &CreateExecution {
                flow_id,
                policy: policy(json),
                ..submission().unwrap()
            },
        )
    }

    pub(crate) fn submitted(command: &CreateExecution) -> Self {
        Self::submitted_to(World::new(), command)
    }

    fn submitted_to(mut store: World, command: &CreateExecution) -> Self {
        let id = store.submit(command).unwrap();
        Self {
            store,
            id,
            dice: 0,
            draft: Draft::default(),
            history: Vec::new(),
        }
    }

    /// A worker has it and has renewed its lease to `LEASE_TTL`.
    pub(crate) fn leased(mut self) -> Self {
        self.lease();
        self
    }

    pub(crate) fn set_gate(&mut self, state: GateState) {
        let flow_id = self.execution().definition.flow.unwrap();
        let mut draft = Draft::default();
        draft.put(Gate { flow_id, state });
        self.store.commit(draft).unwrap();
    }

    pub(crate) fn execution(&self) -> Execution {
        self.store.execution(self.id).unwrap()
    }

    pub(crate) fn attempt(&self) -> Attempt {
        self.execution().attempt.unwrap()
    }

    pub(crate) fn lease_record(&self) -> ff_core::record::Lease {
        self.execution().lease().cloned().unwrap()
    }

    pub(crate) fn state(&self) -> PublicState {
        public_state(&self.execution())
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.store.now
    }

    pub(crate) fn context(&self) -> Context {
        Context {
            dice: self.dice,
            ..self.store.context(&self.execution())
        }
    }

    /// Decides and commits; a decision that changes nothing leaves an empty draft.
    pub(crate) fn act<O>(
        &mut self,
        rule: impl FnOnce(&Execution, &Context) -> Result<Decided<O>, Rejection>,
    ) -> Result<O, Rejection> {
        let decided = rule(&self.execution(), &self.context())?;
        self.draft = decided.draft.clone();
        self.history.extend(self.draft.history.clone());
        self.store.land(decided)
    }

    pub(crate) fn pass(&mut self, time: Duration) {
        self.store.wait(time);
    }

    /// The pump looks after everything that is due.
    pub(crate) fn pump(&mut self) {
        self.act(|execution, context| Ok(time::advance(execution, context)))
            .unwrap();
    }

    pub(crate) fn pass_and_pump(&mut self, time: Duration) {
        self.pass(time);
        self.pump();
    }

    /// A worker takes it and is not heard of yet.
    pub(crate) fn claim(&mut self) -> Claimant {
        let claimant = self.store.claimant().unwrap();
        self.claim_as(&claimant);
        claimant
    }

    pub(crate) fn claim_as(&mut self, claimant: &Claimant) {
        let handed_out = self.store.reserve(self.id, claimant, HandOut::Lease).unwrap();
        if handed_out == HandedOut::Granted {
            self.act(|execution, context| claim::lease(execution, claimant, context))
                .unwrap();
        }
    }

    /// A worker takes it and says so.
    pub(crate) fn lease(&mut self) {
        self.claim();
        self.renew().unwrap();
    }

    /// It is promised to a worker.
    pub(crate) fn grant(&mut self) -> Claimant {
        let claimant = self.store.claimant().unwrap();
        self.store.reserve(self.id, &claimant, HandOut::Grant).unwrap();
        claimant
    }

    /// The fence of the live lease.
    pub(crate) fn fence(&self) -> Fence {
        self.lease_record().fence(self.attempt().id)
    }

    /// What `due_at` says about it now.
    pub(crate) fn due_at(&self) -> Option<Timestamp> {
        time::due_at(&self.execution())
    }

    /// Attempts that stand as records of their own, by index.
    pub(crate) fn archived(&self) -> Vec<Attempt> {
        let attempt = |record: &Record| match record {
            Record::Attempt(_, attempt) => Some((**attempt).clone()),
            _ => None,
        };
        self.store.records().filter_map(attempt).collect()
    }

    /// Effects that give a quota slot back.
    pub(crate) fn releases(&self) -> Vec<Effect> {
        let mut outbox = self.execution().outbox;
        outbox.retain(|effect| matches!(effect.kind, EffectKind::ReleaseSlot { .. }));
        outbox
    }

    /// What the history says happened, by name.
    pub(crate) fn happened(&self) -> Vec<&'static str> {
        self.history.iter().map(|line| line.what.as_str()).collect()
    }
}

/// What the lease holder asks for.
impl Case {
    pub(crate) fn renew(&mut self) -> Result<Renewed, Rejection> {
        self.renew_for(None)
    }

    pub(crate) fn renew_for(&mut self, ttl: Option<Duration>) -> Result<Renewed, Rejection> {
        let fence = Some(self.fence());
        self.act(|execution, context| {
            lease::renew(
                execution,
                &Renew {
                    fence,
                    ttl,
                    ..Renew::default()
                },
                context,
            )
        })
    }

    pub(crate) fn release(&mut self) -> Result<LetGo, Rejection> {
        let fence = Some(self.fence());
        self.act(|execution, context| {
            lease::release(
                execution,
                &Release {
                    fence,
                    ..Release::default()
                },
                context,
            )
        })
    }

    pub(crate) fn delay(&mut self, until: Timestamp) -> Result<LetGo, Rejection> {
        let fence = Some(self.fence());
        self.act(|execution, context| {
            lease::delay(
                execution,
                &DelayUntil {
                    fence,
                    until,
                    step: None,
                    steps: Vec::new(),
                },
                context,
            )
        })
    }

    pub(crate) fn complete(&mut self) -> Result<Completed, Rejection> {
        let command = Complete {
            fence: Some(self.fence()),
            result: None,
            ..Complete::default()
        };
        self.act(|execution, context| lease::complete(execution, &command, context))
    }

    pub(crate) fn fail(&mut self, category: &str) -> Result<Failed, Rejection> {
        let command = Fail {
            fence: Some(self.fence()),
            reason: "it broke".to_owned(),
            category: Category::parse(category)?,
            retry_after: None,
            steps: Vec::new(),
        };
        self.act(|execution, context| fail::fail(execution, &command, context))
    }

    /// Waits for an operator.
    pub(crate) fn suspend(&mut self) {
        let waitpoint = WaitpointChoice::Fresh {
            waitpoint_key: WaitpointKey::parse("k").unwrap(),
            waitpoint_id: None,
        };
        let command = Suspend {
            fence: Some(self.fence()),
            waitpoints: vec![waitpoint],
            resume_condition: ResumeCondition::OperatorOnly,
            reason_code: ReasonCode::WaitingForSignal,
            timeout_at: None,
            timeout_behavior: None,
            resume_delay: Duration::ZERO,
            idempotency_key: None,
            suspension_id: None,
            step: None,
            steps: Vec::new(),
        };
        self.act(|execution, context| suspend(execution, &command, Early::default(), context))
            .unwrap();
    }

    /// 5 tokens spent of budget 1.
    pub(crate) fn usage(&mut self) -> ReportUsage {
        ReportUsage {
            fence: Some(self.fence()),
            budget_id: budget_id(1),
            deltas: BTreeMap::from([(Dimension::parse("tokens").unwrap(), 5)]),
            dedup_key: None,
            request_id: None,
        }
    }

    pub(crate) fn report(&mut self, command: &ReportUsage) -> Result<UsageRecorded, Rejection> {
        let effect_id = EffectId::from_uuid(self.store.mint());
        self.act(|execution, context| lease::report_usage(execution, command, effect_id, context))
    }

    /// Tokens of budget 1 that stand on the attempt.
    pub(crate) fn tokens(&self) -> u64 {
        self.attempt().usage[&budget_id(1)][&Dimension::parse("tokens").unwrap()]
    }
}

/// What operators and the engine ask for.
impl Case {
    pub(crate) fn cancel(&mut self, fence: Option<Fence>) -> Result<ff_core::command::operator::Cancelled, Rejection> {
        let command = CancelExecution {
            reason: "no more".to_owned(),
            fence,
        };
        self.act(|execution, context| operator::cancel(execution, &command, context))
    }

    pub(crate) fn revoke(&mut self, expected_lease_epoch: Option<u64>) -> Result<Revoked, Rejection> {
        let command = RevokeLease {
            reason: None,
            expected_lease_epoch,
            request_id: None,
        };
        self.act(|execution, context| operator::revoke_lease(execution, &command, context))
    }

    pub(crate) fn hold(&mut self) {
        let command = HoldExecution {
            reason: Some("look first".to_owned()),
        };
        self.act(|execution, context| operator::hold(execution, &command, context))
            .unwrap();
    }

    pub(crate) fn resume(&mut self) {
        let command = ff_core::command::signal::ResumeExecution {
            reason: None,
            request_id: None,
        };
        self.act(|execution, context| resume_execution(execution, &command, context))
            .unwrap();
    }

    pub(crate) fn request_stop(&mut self) -> bool {
        self.stop_by(1, 1)
    }

    /// A budget asks by the order of this generation.
    pub(crate) fn stop_by(&mut self, budget: u128, generation: u64) -> bool {
        let stop = Stop {
            budget_id: budget_id(budget),
            generation,
            reason: "budget is spent".to_owned(),
        };
        self.act(|execution, context| lease::request_stop(execution, &stop, context))
            .unwrap()
    }

    /// A budget takes back what it asked up to this generation.
    pub(crate) fn withdraw_stop(&mut self, budget: u128, generation: u64) -> bool {
        let budget_id = budget_id(budget);
        self.act(|execution, context| lease::withdraw_stop(execution, budget_id, generation, context))
            .unwrap()
    }

    /// The effects have arrived.
    pub(crate) fn clear_outbox(&mut self) {
        let outbox = self.execution().outbox;
        let arrived: Vec<_> = outbox.iter().map(|effect| Arrived::silently(effect.id)).collect();
        self.act(|execution, context| Ok(outbox::arrived(execution, &arrived, &[], context)))
            .unwrap();
    }
}
