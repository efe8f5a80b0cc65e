//! An execution on its way into a situation, and the moves that take it there.

use ff_core::command::lease::{Fail, Release, Renew};
use ff_core::command::operator::HoldExecution;
use ff_core::command::signal::{DeliverSignal, Delivered};
use ff_core::command::submit::CreateExecution;
use ff_core::command::suspend::{Suspend, WaitpointChoice};
use ff_core::command::waitpoint::CreatePendingWaitpoint;
use ff_core::error::{Code, Rejection};
use ff_core::id::{AttemptId, EdgeId, ExecutionId, FlowId, GrantId, LeaseId, SignalId, WaitpointId};
use ff_core::keyring::{KeyRing, Secret};
use ff_core::machine::claim::{Claimant, HandOut, HandedOut};
use ff_core::machine::signal::Target;
use ff_core::machine::suspend::{Early, SuspendOutcome};
use ff_core::machine::{claim, fail, lease, operator, retention, signal, suspend, time, waitpoint};
use ff_core::name::{IdempotencyKey, SignalName};
use ff_core::payload::Payload;
use ff_core::record::{
    CounterKey, Execution, Fence, Matcher, ReasonCode, Record, RecordKey, ResumeCondition, Signal, Waitpoint,
    WaitpointRef,
};
use ff_core::time::Duration;
use ff_core::token::WaitpointToken;

use crate::render::{Answer, Reading};
use crate::support::World;

/// Time that passes between two steps, where nothing else is said.
pub(crate) const MOMENT: Duration = Duration::from_millis(1);

/// An execution in its partition, with what its worker and its callers remember.
pub(crate) struct Scene {
    pub(crate) world: World,
    pub(crate) id: ExecutionId,
    /// The flow it is a member of.
    pub(crate) flow: Option<FlowId>,
    /// The fence of its latest lease.
    pub(crate) fence: Option<Fence>,
    /// The fence of its first lease, where others followed.
    pub(crate) first_fence: Option<Fence>,
    /// Who reserved it last.
    pub(crate) claimant: Option<Claimant>,
    /// The waitpoint its suspension waits at.
    pub(crate) waitpoint: Option<WaitpointRef>,
    /// A waitpoint handed out before any suspension.
    pub(crate) pending: Option<WaitpointRef>,
    /// The edge that was staged for it.
    pub(crate) edge: Option<EdgeId>,
    ring: KeyRing,
}

impl Scene {
    /// A partition with one submitted execution.
    pub(crate) fn submitted(command: &CreateExecution) -> Result<Self, Rejection> {
        let mut world = World::new();
        let id = world.submit(command)?;
        Self::around(world, id)
    }

    /// A scene about an execution that is stored already.
    pub(crate) fn around(mut world: World, id: ExecutionId) -> Result<Self, Rejection> {
        world.wait(MOMENT);
        Ok(Self {
            flow: world.execution(id)?.definition.flow,
            world,
            id,
            fence: None,
            first_fence: None,
            claimant: None,
            waitpoint: None,
            pending: None,
            edge: None,
            ring: KeyRing::first("kid".parse()?, Secret::parse_hex(&"5a".repeat(32))?),
        })
    }

    pub(crate) fn execution(&self) -> Result<Execution, Rejection> {
        self.world.execution(self.id)
    }

    /// How the execution reads now.
    pub(crate) fn reading(&self) -> Reading {
        Reading::of(self.execution().ok().as_ref())
    }

    /// An accepted operation, and how the execution reads after it.
    pub(crate) fn accepted(&self, outcome: &str) -> Answer {
        Answer::accepted(outcome, self.reading())
    }

    /// The fence of the latest lease, or a made-up one.
    pub(crate) fn own_fence(&mut self) -> Fence {
        match self.fence {
            Some(fence) => fence,
            None => self.random_fence(),
        }
    }

    pub(crate) fn random_fence(&mut self) -> Fence {
        Fence {
            lease_id: LeaseId::from_uuid(self.world.mint()),
            lease_epoch: 1,
            attempt_id: AttemptId::from_uuid(self.world.mint()),
        }
    }

    // --- handing out ---------------------------------------------------------------------------------------------

    /// Reserves the execution as `mode` says.
    pub(crate) fn reserve(&mut self, mode: HandOut) -> Result<Option<HandedOut>, Rejection> {
        let claimant = self.world.claimant()?;
        let handed_out = self.world.reserve(self.id, &claimant, mode);
        if handed_out.is_some() {
            self.claimant = Some(claimant);
            self.remember_fence()?;
        }
        Ok(handed_out)
    }

    /// Promises the execution to a worker.
    pub(crate) fn grant(&mut self) -> Result<GrantId, Rejection> {
        self.reserve(HandOut::Grant)?;
        let execution = self.execution()?;
        let grant = execution.grant().ok_or_else(|| unexpected("was not granted"))?;
        Ok(grant.id)
    }

    /// Hands the execution to a worker; whoever needs admission is admitted.
    pub(crate) fn claim(&mut self) -> Result<(), Rejection> {
        match self.reserve(HandOut::Lease)? {
            Some(HandedOut::Leased) => {}
            Some(HandedOut::Granted) => self.exchange_grant()?,
            None => return Err(unexpected("stands in no queue")),
        }
        self.world.wait(MOMENT);
        Ok(())
    }

    /// Admission passed: the reservation becomes a lease.
    pub(crate) fn exchange_grant(&mut self) -> Result<(), Rejection> {
        let claimant = self.claimant.clone().ok_or_else(|| unexpected("nobody reserved it"))?;
        self.world.decide(self.id, |execution, context| {
            claim::lease(execution, &claimant, context)
        })?;
        self.remember_fence()
    }

    pub(crate) fn remember_fence(&mut self) -> Result<(), Rejection> {
        let execution = self.execution()?;
        if let (Some(lease), Some(attempt)) = (execution.lease(), &execution.attempt) {
            self.first_fence = self.first_fence.or(self.fence);
            self.fence = Some(lease.fence(attempt.id));
        }
        Ok(())
    }

    /// Uses the lease for the first time.
    pub(crate) fn renew(&mut self) -> Result<(), Rejection> {
        let command = Renew {
            fence: self.fence,
            ttl: None,
            doing: Vec::new(),
        };
        self.apply(|execution, context| lease::renew(execution, &command, context))?;
        Ok(())
    }

    // --- leaving the lease ---------------------------------------------------------------------------------------

    pub(crate) fn release(&mut self) -> Result<(), Rejection> {
        let command = Release {
            fence: self.fence,
            ..Release::default()
        };
        self.apply(|execution, context| lease::release(execution, &command, context))?;
        Ok(())
    }

    pub(crate) fn fail(&mut self) -> Result<(), Rejection> {
        let command = Fail {
            fence: self.fence,
            reason: "broken".to_owned(),
            category: "transient".parse()?,
            retry_after: None,
            steps: Vec::new(),
        };
        self.apply(|execution, context| fail::fail(execution, &command, context))?;
        Ok(())
    }

    /// The command that suspends at a fresh waitpoint "k" until it is signalled "go".
    pub(crate) fn suspend_command(&mut self, fence: Option<Fence>) -> Result<Suspend, Rejection> {
        Ok(Suspend {
            fence,
            waitpoints: vec![WaitpointChoice::Fresh {
                waitpoint_key: "k".parse()?,
                waitpoint_id: None,
            }],
            resume_condition: ResumeCondition::Single {
                waitpoint_key: "k".parse()?,
                matcher: Matcher::ByName("go".parse()?),
            },
            reason_code: ReasonCode::WaitingForSignal,
            timeout_at: None,
            timeout_behavior: None,
            resume_delay: Duration::ZERO,
            idempotency_key: None,
            suspension_id: None,
            step: None,
            steps: Vec::new(),
        })
    }

    /// Suspends, with the pending waitpoints and early signals that the command uses.
    pub(crate) fn suspend(&mut self, command: &Suspend) -> Result<SuspendOutcome, Rejection> {
        let waitpoints: Vec<Waitpoint> = command
            .waitpoints
            .iter()
            .filter_map(|choice| self.used(choice))
            .collect();
        let signals: Vec<Signal> = self.signals();
        let outcome = self.apply(|execution, context| {
            let early = Early {
                waitpoints: &waitpoints,
                signals: &signals,
            };
            suspend::suspend(execution, command, early, context)
        })?;
        if let SuspendOutcome::Suspended { waitpoints, .. } = &outcome {
            self.waitpoint = waitpoints.first().cloned();
        }
        Ok(outcome)
    }

    fn used(&self, choice: &WaitpointChoice) -> Option<Waitpoint> {
        match choice {
            WaitpointChoice::UsePending { waitpoint_id } => self.stored_waitpoint(*waitpoint_id),
            WaitpointChoice::Fresh { .. } => None,
        }
    }

    fn stored_waitpoint(&self, id: WaitpointId) -> Option<Waitpoint> {
        match self.world.record(&RecordKey::Waitpoint(self.id, id)) {
            Some(Record::Waitpoint(waitpoint)) => Some((**waitpoint).clone()),
            _ => None,
        }
    }

    fn signals(&self) -> Vec<Signal> {
        let signal = |record: &Record| match record {
            Record::Signal(signal) => Some((**signal).clone()),
            _ => None,
        };
        self.world.records().filter_map(signal).collect()
    }

    // --- waitpoints and signals ----------------------------------------------------------------------------------

    /// Hands a waitpoint out before any suspension.
    pub(crate) fn hand_out_waitpoint(&mut self, expires_in: Duration) -> Result<(), Rejection> {
        let command = CreatePendingWaitpoint {
            fence: self.fence,
            waitpoint_key: "early".parse()?,
            expires_in,
            request_id: None,
            waitpoint_id: None,
        };
        let waitpoint_id = WaitpointId::from_uuid(self.world.mint());
        let pending =
            self.apply(|execution, context| waitpoint::create_pending(execution, &command, waitpoint_id, context))?;
        self.pending = Some(pending.waitpoint);
        Ok(())
    }

    /// The pump finds the pending waitpoint past its expiry.
    pub(crate) fn expire_waitpoint(&mut self) -> Result<(), Rejection> {
        let pending = self
            .pending
            .clone()
            .ok_or_else(|| unexpected("no waitpoint was handed out"))?;
        let stored = self
            .stored_waitpoint(pending.id)
            .ok_or_else(|| unexpected("the waitpoint is not stored"))?;
        let execution = self.execution()?;
        let decided = waitpoint::expire(&stored, &execution, &self.world.context(&execution));
        self.world.land(decided)
    }

    /// A waitpoint nobody ever made.
    pub(crate) fn made_up_waitpoint(&mut self) -> Result<WaitpointRef, Rejection> {
        Ok(WaitpointRef {
            id: WaitpointId::from_uuid(self.world.mint()),
            key: "made-up".parse()?,
            created_at: self.world.now,
        })
    }

    /// A signal to `waitpoint`, with the token of that waitpoint.
    pub(crate) fn signal(&mut self, waitpoint: &WaitpointRef, post: &Post) -> Result<Delivered, Rejection> {
        let execution = self.execution()?;
        if execution.is_deleting() {
            return Err(Code::ExecutionNotFound.because("what is being deleted is not loaded for a caller"));
        }
        let stored = self.stored_waitpoint(waitpoint.id);
        let token = WaitpointToken::mint(&self.ring, &waitpoint::claims(self.id, waitpoint));
        let stored = signal::authenticate(stored.as_ref(), &token, &self.ring, self.world.now)?;
        let signal_id = post.id.unwrap_or_else(|| SignalId::from_uuid(self.world.mint()));
        let command = DeliverSignal {
            waitpoint_id: waitpoint.id,
            signal_id: post.id,
            signal_name: post.name.clone(),
            category: String::new(),
            source_type: "test".to_owned(),
            source_identity: "sender".parse()?,
            payload: Payload::default(),
            idempotency_key: post.key.clone(),
            correlation_id: None,
        };
        let same_id = self.world.record(&RecordKey::Signal(self.id, signal_id));
        let same_key = post.key.as_ref().map(|key| RecordKey::SignalKey(self.id, key.clone()));
        let target = Target {
            execution: &execution,
            waitpoint: stored,
            signal_id,
            same_id: same_id.and_then(|record| match record {
                Record::Signal(signal) => Some(&**signal),
                _ => None,
            }),
            same_key: same_key
                .and_then(|key| self.world.record(&key))
                .and_then(|record| match record {
                    Record::SignalKey(key) => Some(key),
                    _ => None,
                }),
            buffered_signals: self.world.counter(CounterKey::BufferedSignals(self.id)),
        };
        let decided = signal::deliver(target, &command, &self.world.context(&execution))?;
        self.world.land(decided)
    }

    // --- operators and time --------------------------------------------------------------------------------------

    pub(crate) fn hold(&mut self) -> Result<(), Rejection> {
        let command = HoldExecution { reason: None };
        self.apply(|execution, context| operator::hold(execution, &command, context))?;
        Ok(())
    }

    /// The pump applies what is due.
    pub(crate) fn advance(&mut self) -> Result<(), Rejection> {
        self.apply(|execution, context| Ok(time::advance(execution, context)))
    }

    /// The pump deletes an execution whose retention is over, its parts first.
    pub(crate) fn delete(&mut self) -> Result<(), Rejection> {
        let execution = self.execution()?;
        let parts: Vec<_> = self
            .world
            .records()
            .map(Record::key)
            .filter(|key| self.is_part(key))
            .collect();
        self.world.commit(retention::delete_execution(&execution, &parts, true))
    }

    fn is_part(&self, key: &RecordKey) -> bool {
        match key {
            RecordKey::Attempt(owner, _) | RecordKey::Waitpoint(owner, _) | RecordKey::Signal(owner, _) => {
                *owner == self.id
            }
            _ => false,
        }
    }

    /// Waits until the lease runs out.
    pub(crate) fn outwait_lease(&mut self) -> Result<(), Rejection> {
        let execution = self.execution()?;
        let lease = execution.lease().ok_or_else(|| unexpected("has no lease"))?;
        self.world.wait_until(lease.expires_at);
        Ok(())
    }

    /// Decides, commits, and lets a moment pass.
    pub(crate) fn apply<O>(
        &mut self,
        rule: impl FnOnce(&Execution, &ff_core::machine::Context) -> Result<ff_core::machine::Decided<O>, Rejection>,
    ) -> Result<O, Rejection> {
        let outcome = self.world.decide(self.id, rule)?;
        self.world.wait(MOMENT);
        Ok(outcome)
    }
}

/// What a sender says about its signal.
pub(crate) struct Post {
    pub(crate) name: SignalName,
    pub(crate) id: Option<SignalId>,
    pub(crate) key: Option<IdempotencyKey>,
}

impl Post {
    pub(crate) fn named(name: &str) -> Result<Self, Rejection> {
        Ok(Self {
            name: name.parse()?,
            id: None,
            key: None,
        })
    }
}

/// A situation cannot be reached because the machine did something else.
pub(crate) fn unexpected(what: &str) -> Rejection {
    Code::Internal.because(format!("the execution {what}"))
}
