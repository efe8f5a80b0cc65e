//! One execution and everything that happens to it.

use std::collections::{BTreeMap, BTreeSet};

use ff_core::capability::CapabilitySet;
use ff_core::command::lease::{Complete, DelayUntil, Fail, Release, Renew, ReportUsage, UpdateProgress};
use ff_core::command::operator::{CancelExecution, ChangePriority, HoldExecution, IssueReclaimGrant, RevokeLease};
use ff_core::command::signal::{DeliverSignal, ResumeExecution};
use ff_core::command::submit::CreateExecution;
use ff_core::command::suspend::{Suspend, WaitpointChoice};
use ff_core::error::Rejection;
use ff_core::id::{
    AttemptId, BudgetId, EffectId, ExecutionId, FlowId, GrantId, LeaseId, QuotaPolicyId, SignalId, WaitpointId,
};
use ff_core::machine::budget::Stop;
use ff_core::machine::claim::{self, Claimant, HandOut, HandedOut, Refusal, Surroundings};
use ff_core::machine::decided::{Decided, Write};
use ff_core::machine::index::entries;
use ff_core::machine::outbox::{self, Arrived};
use ff_core::machine::placement::{Placement, placement};
use ff_core::machine::{Context, fail, lease, operator, resume, signal, submit, suspend, time};
use ff_core::name::{
    Category, Dimension, ExecutionKind, Identity, SignalName, WaitpointKey, WorkerId, WorkerInstanceId,
};
use ff_core::payload::Payload;
use ff_core::policy::{Backoff, Policy, RetryPolicy, TimeoutPolicy};
use ff_core::record::{
    Cause, EffectKind, Execution, Fence, GateState, Matcher, ReasonCode, Record, ResumeCondition, TimeoutBehavior,
    Waitpoint,
};
use ff_core::time::{Duration, Timestamp};
use uuid::Uuid;

use crate::invariants::moves::{Move, Shape, Which, Work};

/// One execution, its waitpoints and fences, and the quota partition's view of its slots.
pub(crate) struct World {
    pub(crate) now: Timestamp,
    pub(crate) execution: Execution,
    pub(crate) gate: Option<GateState>,
    pub(crate) waitpoints: BTreeMap<WaitpointId, Waitpoint>,
    pub(crate) fences: Vec<Fence>,
    /// Quota slots as the quota partition knows them.
    pub(crate) slots: BTreeSet<GrantId>,
    pub(crate) archived: BTreeSet<u32>,
    minted: u128,
}

impl World {
    pub(crate) fn new(shape: Shape) -> Self {
        let mut command = CreateExecution::new(ExecutionKind::parse("k").unwrap(), Payload::binary("x"));
        command.policy = policy(shape);
        command.flow_id = shape.member.then(|| FlowId::from_uuid(Uuid::from_u128(7)));
        let now = Timestamp::from_millis(1_000_000);
        let id = ExecutionId::new(3, Uuid::from_u128(1));
        let decided = submit::create(&command, id, submit::Known::default(), &Context::engine(now)).unwrap();
        Self {
            now,
            execution: decided.draft.execution(id).unwrap().clone(),
            gate: shape.member.then_some(GateState::Open),
            waitpoints: BTreeMap::new(),
            fences: Vec::new(),
            slots: BTreeSet::new(),
            archived: BTreeSet::new(),
            minted: 100,
        }
    }

    fn mint(&mut self) -> Uuid {
        self.minted += 1;
        Uuid::from_u128(self.minted)
    }

    pub(crate) fn context(&self) -> Context {
        Context {
            gate: self.gate,
            dice: u64::try_from(self.minted).unwrap(),
            ..Context::engine(self.now)
        }
    }

    fn claimant(&mut self, grant_id: Option<GrantId>) -> Claimant {
        Claimant {
            worker: WorkerId::parse("w").unwrap(),
            instance: WorkerInstanceId::parse("w-1").unwrap(),
            grant_id: grant_id.unwrap_or(GrantId::from_uuid(Uuid::from_u128(self.minted + 1))),
            lease_id: LeaseId::from_uuid(self.mint()),
            attempt_id: AttemptId::from_uuid(self.mint()),
            lease_ttl: Duration::from_secs(30),
            grant_ttl: Duration::from_secs(5),
        }
    }

    /// Commits an accepted step and remembers the fence of a new lease.
    fn commit<O>(&mut self, decided: Decided<O>) -> O {
        let writes_something = !decided.draft.writes.is_empty();
        assert!(
            decided.draft.increments.is_empty() || writes_something,
            "an increment stands beside a write"
        );
        for write in &decided.draft.writes {
            match write {
                Write::Put(Record::Execution(after)) => self.replace(after),
                Write::Put(Record::Waitpoint(waitpoint))
                | Write::Create {
                    record: Record::Waitpoint(waitpoint),
                    ..
                } => {
                    self.waitpoints.insert(waitpoint.id, (**waitpoint).clone());
                }
                Write::Create {
                    record: Record::Attempt(_, attempt),
                    ..
                } => {
                    assert!(
                        self.archived.insert(attempt.index),
                        "attempt {} is archived once",
                        attempt.index
                    );
                    assert!(attempt.end.is_some(), "only an ended attempt is archived");
                }
                _ => {}
            }
        }
        decided.outcome
    }

    fn replace(&mut self, after: &Execution) {
        let before = std::mem::replace(&mut self.execution, after.clone());
        let after = &self.execution;
        assert!(after.lease_epoch >= before.lease_epoch, "epochs only grow");
        assert!(
            after.updated_at >= before.updated_at,
            "a record is never older than the one before"
        );
        assert_eq!(after.definition, before.definition, "what was submitted is frozen");
        let index = |execution: &Execution| execution.attempt.as_ref().map(|attempt| attempt.index);
        assert!(index(after) >= index(&before), "attempts are numbered upwards");
        if let (Some(lease), Some(attempt)) = (after.lease(), &after.attempt) {
            let taken = before.lease().is_none_or(|old| old.id != lease.id);
            if taken {
                assert!(after.lease_epoch > before.lease_epoch, "every acquire raises the epoch");
                assert_ne!(
                    self.gate,
                    Some(GateState::Cancelled),
                    "nothing is claimed after its flow's cancel"
                );
                self.fences.push(lease.fence(attempt.id));
            }
        }
    }

    fn fence(&self, which: Which) -> Option<Fence> {
        match which {
            Which::None => None,
            Which::Latest => self.fences.last().copied(),
            Which::Older(back) => self.fences.iter().rev().nth(back + 1).copied(),
        }
    }
}

fn policy(shape: Shape) -> Policy {
    Policy {
        retry_policy: shape.retried.then(|| RetryPolicy {
            max_retries: 2,
            backoff: Backoff::default(),
            retryable_categories: None,
        }),
        timeout_policy: shape.timed.then(|| TimeoutPolicy {
            attempt_timeout: Some(Duration::from_secs(45)),
            execution_deadline: Some(Duration::from_secs(240)),
        }),
        max_reclaim_count: Some(3),
        quota_policy_id: shape.limited.then(|| QuotaPolicyId::from_uuid(Uuid::from_u128(9))),
        ..Policy::default()
    }
}

impl World {
    pub(crate) fn play(&mut self, next: &Move) {
        match next {
            Move::Wait(millis) => self.now += Duration::from_millis(*millis),
            Move::Reserve(grant) => self.reserve(*grant),
            Move::Admit => self.admit(),
            Move::Lease => self.lease(),
            Move::Redeem(own) => self.redeem(*own),
            Move::Block => self.block(),
            Move::Fenced(which, work) => self.work(self.fence(*which), work),
            Move::Signal(matching) => self.signal(*matching),
            Move::ClearOutbox => self.clear_outbox(),
            Move::CancelFlow => {
                self.gate = self.gate.map(|_| GateState::Cancelled);
            }
            _ => self.operate(next),
        }
    }

    /// What `reserve` does: only what stands in a queue is handed out.
    fn reserve(&mut self, grant: bool) {
        if !matches!(placement(&self.execution), Placement::Eligible { .. }) {
            return;
        }
        let mode = if grant { HandOut::Grant } else { HandOut::Lease };
        let claimant = self.claimant(None);
        let surroundings = Surroundings {
            now: self.now,
            gate: self.gate,
        };
        let reserved = claim::hand_out(&self.execution, &claimant, mode, surroundings);
        // A store that hands work out has no list to leave or to enter.
        let lists = |execution: &Execution| entries(&Record::from(execution.clone()));
        assert_eq!(lists(&reserved.execution), lists(&self.execution));
        if reserved.handed_out == HandedOut::Leased {
            assert!(
                !grant && !claim::needs_admission(&self.execution),
                "limited work is admitted first"
            );
        }
        self.replace(&reserved.execution);
    }

    pub(crate) fn grant_id(&self) -> Option<GrantId> {
        self.execution.grant().map(|grant| grant.id)
    }

    /// The quota admits before the commit; if the commit is refused, the slot is given back at once.
    fn with_slot(&mut self, run: impl FnOnce(&mut Self, GrantId) -> bool) {
        let Some(grant_id) = self.grant_id() else { return };
        let limited = self.execution.definition.policy.quota_policy_id.is_some();
        if limited {
            self.slots.insert(grant_id);
        }
        if !run(self, grant_id) {
            self.slots.remove(&grant_id);
        }
    }

    fn admit(&mut self) {
        self.with_slot(|world, grant_id| {
            let decided = claim::admit(&world.execution, grant_id, &world.context());
            decided.map(|decided| world.commit(decided)).is_ok()
        });
    }

    fn lease(&mut self) {
        self.with_slot(|world, grant_id| {
            let claimant = world.claimant(Some(grant_id));
            let decided = claim::lease(&world.execution, &claimant, &world.context());
            decided.map(|decided| world.commit(decided)).is_ok()
        });
    }

    fn redeem(&mut self, own: bool) {
        let Some(grant) = self.execution.grant().cloned() else {
            return;
        };
        let mut claimant = self.claimant(Some(grant.id));
        if !own {
            claimant.instance = WorkerInstanceId::parse("thief").unwrap();
        }
        let decided = claim::claim_from_grant(&self.execution, &claimant, &self.context());
        assert!(own || decided.is_err(), "a grant is redeemed by its own instance only");
        assert!(
            grant.admitted || decided.is_err(),
            "a grant that was not admitted promises nothing"
        );
        if let Ok(decided) = decided {
            self.commit(decided);
        }
    }

    fn block(&mut self) {
        let Some(grant_id) = self.grant_id() else { return };
        let refusal = Refusal {
            cause: Cause::Quota(QuotaPolicyId::from_uuid(Uuid::from_u128(9))),
            detail: "full".to_owned(),
            generation: 1,
        };
        if let Ok(decided) = claim::block(&self.execution, grant_id, &refusal, &self.context()) {
            self.commit(decided);
        }
    }

    fn operate(&mut self, next: &Move) {
        let context = self.context();
        let execution = self.execution.clone();
        let grant_id = GrantId::from_uuid(self.mint());
        match next {
            Move::Unblock => {
                let cause = Cause::Quota(QuotaPolicyId::from_uuid(Uuid::from_u128(9)));
                self.accept(claim::unblock(&execution, cause, &context));
            }
            Move::Cancel => {
                let command = CancelExecution {
                    reason: "enough".to_owned(),
                    fence: None,
                };
                self.accept(operator::cancel(&execution, &command, &context));
            }
            Move::Hold => self.accept(operator::hold(&execution, &HoldExecution { reason: None }, &context)),
            Move::Unhold => self.accept(operator::unhold(&execution, &context)),
            Move::Priority(priority) => {
                let command = ChangePriority { priority: *priority };
                self.accept(operator::change_priority(&execution, &command, &context));
            }
            Move::Revoke => {
                let command = RevokeLease {
                    reason: None,
                    expected_lease_epoch: None,
                    request_id: None,
                };
                self.accept(operator::revoke_lease(&execution, &command, &context));
            }
            Move::ReclaimGrant => {
                let command = IssueReclaimGrant {
                    worker: WorkerId::parse("w").unwrap(),
                    instance: WorkerInstanceId::parse("w-1").unwrap(),
                    capabilities: CapabilitySet::default(),
                    grant_ttl: None,
                };
                self.accept(operator::issue_reclaim_grant(&execution, &command, grant_id, &context));
            }
            Move::Resume => {
                let command = ResumeExecution {
                    reason: None,
                    request_id: None,
                };
                self.accept(resume::resume_execution(&execution, &command, &context));
            }
            Move::RequestStop => self.accept(lease::request_stop(&execution, &stop(), &context)),
            Move::Advance => {
                self.commit(time::advance(&execution, &context));
            }
            other => unreachable!("{other:?} is played elsewhere"),
        }
    }

    fn accept<O>(&mut self, decided: Result<Decided<O>, Rejection>) {
        if let Ok(decided) = decided {
            self.commit(decided);
        }
    }

    /// A fenced operation. Whoever shows anything but the live lease changes nothing but what time brings.
    fn work(&mut self, fence: Option<Fence>, work: &Work) {
        let context = self.context();
        let settled = settled(&self.execution, &context);
        let live = settled
            .lease()
            .zip(settled.attempt.as_ref())
            .map(|(lease, attempt)| lease.fence(attempt.id));
        let is_live = fence.is_some() && fence == live;
        let execution = self.execution.clone();
        let drafts = self.send(&execution, fence, work, &context);
        if let Ok(decided) = drafts {
            let after = decided.draft.execution(execution.id).cloned().unwrap_or(execution);
            if !is_live {
                let unchanged = Execution {
                    updated_at: settled.updated_at,
                    ..after
                };
                assert_eq!(
                    unchanged, settled,
                    "a fenced write by an old lease never lands: {work:?}"
                );
            }
            self.commit(decided);
        }
    }

    fn send(
        &mut self,
        execution: &Execution,
        fence: Option<Fence>,
        work: &Work,
        context: &Context,
    ) -> Result<Decided<()>, Rejection> {
        let none = |_| ();
        Ok(match work {
            Work::Renew => lease::renew(
                execution,
                &Renew {
                    fence,
                    ..Renew::default()
                },
                context,
            )?
            .map(|_| ()),
            Work::Release => lease::release(
                execution,
                &Release {
                    fence,
                    ..Release::default()
                },
                context,
            )?
            .map(|_| ()),
            Work::Progress => {
                let command = UpdateProgress {
                    fence,
                    progress: ff_core::command::steps::ProgressNote {
                        pct: Some(50),
                        message: None,
                    },
                };
                lease::update_progress(execution, &command, context)?.map(none)
            }
            Work::Complete => lease::complete(
                execution,
                &Complete {
                    fence,
                    result: None,
                    ..Complete::default()
                },
                context,
            )?
            .map(|_| ()),
            Work::Fail(category) => {
                let category = Category::parse(category).unwrap();
                let command = Fail {
                    fence,
                    reason: "broken".to_owned(),
                    category,
                    retry_after: None,
                    steps: Vec::new(),
                };
                fail::fail(execution, &command, context)?.map(|_| ())
            }
            Work::Delay(millis) => {
                let until = self.now + Duration::from_millis(*millis);
                lease::delay(
                    execution,
                    &DelayUntil {
                        fence,
                        until,
                        step: None,
                        steps: Vec::new(),
                    },
                    context,
                )?
                .map(|_| ())
            }
            Work::Usage => {
                let command = ReportUsage {
                    fence,
                    budget_id: BudgetId::from_uuid(Uuid::from_u128(5)),
                    deltas: [(Dimension::parse("tokens").unwrap(), 3)].into(),
                    dedup_key: None,
                    request_id: None,
                };
                let effect_id = EffectId::from_uuid(self.mint());
                lease::report_usage(execution, &command, effect_id, context)?.map(|_| ())
            }
            Work::Suspend { times_out, delayed } => {
                let command = self.suspend(fence, *times_out, *delayed);
                suspend::suspend(execution, &command, suspend::Early::default(), context)?.map(|_| ())
            }
            Work::Cancel => {
                // Without a fence this would be an operator's cancel, which is another move.
                let command = CancelExecution {
                    reason: "mine".to_owned(),
                    fence: Some(fence.unwrap_or(nobody())),
                };
                operator::cancel(execution, &command, context)?.map(|_| ())
            }
        })
    }

    fn suspend(&mut self, fence: Option<Fence>, times_out: bool, delayed: bool) -> Suspend {
        let waitpoint_key = WaitpointKey::parse("k").unwrap();
        Suspend {
            fence,
            waitpoints: vec![WaitpointChoice::Fresh {
                waitpoint_key: waitpoint_key.clone(),
                waitpoint_id: None,
            }],
            resume_condition: ResumeCondition::Single {
                waitpoint_key,
                matcher: Matcher::ByName(SignalName::parse("go").unwrap()),
            },
            reason_code: ReasonCode::WaitingForSignal,
            timeout_at: times_out.then(|| self.now + Duration::from_secs(20)),
            timeout_behavior: times_out.then_some(TimeoutBehavior::AutoResumeWithTimeoutSignal),
            resume_delay: if delayed {
                Duration::from_secs(3)
            } else {
                Duration::ZERO
            },
            idempotency_key: None,
            suspension_id: None,
            step: None,
            steps: Vec::new(),
        }
    }

    fn signal(&mut self, matching: bool) {
        let Some(waitpoint) = self.waitpoints.values().next_back().cloned() else {
            return;
        };
        let command = DeliverSignal {
            waitpoint_id: waitpoint.id,
            signal_id: None,
            signal_name: SignalName::parse(if matching { "go" } else { "other" }).unwrap(),
            category: "event".to_owned(),
            source_type: "test".to_owned(),
            source_identity: Identity::parse("tester").unwrap(),
            payload: Payload::default(),
            idempotency_key: None,
            correlation_id: None,
        };
        let execution = self.execution.clone();
        let target = signal::Target {
            execution: &execution,
            waitpoint: &waitpoint,
            signal_id: SignalId::from_uuid(self.mint()),
            same_id: None,
            same_key: None,
            buffered_signals: 0,
        };
        self.accept(signal::deliver(target, &command, &self.context()));
    }

    fn clear_outbox(&mut self) {
        let outbox = self.execution.outbox.iter();
        let arrived: Vec<_> = outbox.map(|effect| Arrived::silently(effect.id)).collect();
        for effect in &self.execution.outbox {
            if let EffectKind::ReleaseSlot { grant_id, .. } = effect.kind {
                self.slots.remove(&grant_id);
            }
        }
        let decided = outbox::arrived(&self.execution, &arrived, &[], &self.context());
        self.commit(decided);
    }
}

fn stop() -> Stop {
    Stop {
        budget_id: BudgetId::from_uuid(Uuid::from_u128(1)),
        generation: 1,
        reason: "over budget".to_owned(),
    }
}

fn nobody() -> Fence {
    Fence {
        lease_id: LeaseId::from_uuid(Uuid::from_u128(u128::MAX)),
        lease_epoch: 0,
        attempt_id: AttemptId::from_uuid(Uuid::nil()),
    }
}

pub(crate) fn settled(execution: &Execution, context: &Context) -> Execution {
    let decided = time::advance(execution, context);
    decided
        .draft
        .execution(execution.id)
        .cloned()
        .unwrap_or_else(|| execution.clone())
}
