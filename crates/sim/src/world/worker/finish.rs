//! What ends a lease.

use ff_core::command::flow::{CancelFlow, WaitChildren, WaitedChildren};
use ff_core::command::lease::{Complete, DelayUntil, Fail, Holder, Release};
use ff_core::command::operator::{CancelExecution, RevokeLease};
use ff_core::command::steps::StepReport;
use ff_core::command::suspend::{Suspend, WaitpointChoice};
use ff_core::command::waitpoint::SuspendedTask;
use ff_core::fabric::On;
use ff_core::id::{ExecutionId, FlowId, SuspensionId, WaitpointId};
use ff_core::record::{CancelFlowPolicy, Distinct, LeaseOperation, Matcher, ReasonCode, ResumeCondition, StepKind};
use ff_core::time::Duration;

use super::work::keeps;
use super::{Held, Worker};
use crate::invariants::{Act, SentSteps};
use crate::luck::Luck;
use crate::world::actor::{Heard, call, call_once};
use crate::world::board::Door;
use crate::world::client::dependency_kind;
use crate::world::{names, policies};

impl Worker {
    /// Lets the task go in some way; `true` when the worker still has it.
    pub(super) async fn finish(&mut self, held: &Held) -> bool {
        if let Some(flow) = held.flow
            && self.actor.luck.one_in(20)
        {
            self.leave_flow(held, flow).await;
        }
        match self.actor.luck.below(20) {
            0..=6 => self.complete(held).await,
            7..=9 => self.fail(held).await,
            10 => self.release(held).await,
            11 | 12 => self.delay(held).await,
            13 | 14 => self.wait_children(held).await,
            15 => self.give_up(held).await,
            _ => self.suspend(held).await,
        }
    }

    /// Does much that leaves its traces on the record, and then suspends, perhaps once more.
    pub(super) async fn go_on_at_length(&self, held: &Held) -> bool {
        let keeps = self.report_much(held).await;
        if keeps && self.actor.luck.flip() {
            return self.suspend(held).await;
        }
        keeps
    }

    /// The flow of the task is cancelled, but for those who run: whoever leaves its lease without ending is cancelled.
    async fn leave_flow(&self, held: &Held, flow: FlowId) {
        self.cancel_pending(flow).await;
        match self.actor.luck.below(6) {
            0 => drop(self.release(held).await),
            1 => drop(self.delay(held).await),
            2 => drop(self.fail(held).await),
            3 => drop(self.wait_children(held).await),
            4 => {
                let command = RevokeLease {
                    reason: None,
                    expected_lease_epoch: None,
                    request_id: None,
                };
                call!(self.actor, revoke_lease, On::new(held.id, command)).await;
            }
            _ => {}
        }
    }

    async fn cancel_pending(&self, flow: FlowId) {
        let command = CancelFlow {
            reason: "the worker says so".to_owned(),
            policy: CancelFlowPolicy::CancelPending,
            wait: Duration::ZERO,
        };
        call!(self.actor, cancel_flow, On::new(flow, command)).await;
    }

    pub(super) async fn complete(&self, held: &Held) -> bool {
        let (result, sent) = (held.result(), self.last_steps(held));
        let command = Complete {
            fence: self.shown(held),
            result: result.clone(),
            steps: sent.steps.clone(),
        };
        let heard = call_once!(self.actor, complete, On::new(held.id, command)).await;
        if let Heard::Told(_) = &heard {
            self.actor.stage.watch.completed(held.id, held.fence, result);
        }
        self.ended(held, (&heard, &sent), LeaseOperation::Complete)
    }

    async fn fail(&self, held: &Held) -> bool {
        let sent = self.last_steps(held);
        let command = Fail {
            fence: self.shown(held),
            reason: "it broke".to_owned(),
            category: names::some_category(&self.actor.luck),
            retry_after: self
                .actor
                .luck
                .one_in(4)
                .then(|| policies::seconds(&self.actor.luck, 0, 30)),
            steps: sent.steps.clone(),
        };
        let heard = call_once!(self.actor, fail, On::new(held.id, command)).await;
        self.ended(held, (&heard, &sent), LeaseOperation::Fail)
    }

    async fn release(&self, held: &Held) -> bool {
        let sent = self.last_steps(held);
        let command = Release {
            fence: self.shown(held),
            steps: sent.steps.clone(),
        };
        let heard = call_once!(self.actor, release, On::new(held.id, command)).await;
        self.ended(held, (&heard, &sent), LeaseOperation::Release)
    }

    async fn delay(&self, held: &Held) -> bool {
        let (sent, sleep) = (self.last_steps(held), self.some_sleep());
        let command = DelayUntil {
            fence: self.shown(held),
            until: self.actor.stage.watch.now() + policies::seconds(&self.actor.luck, 0, 20),
            step: sleep.clone(),
            steps: sent.steps.clone(),
        };
        let heard = call_once!(self.actor, delay, On::new(held.id, command)).await;
        if let Heard::Told(_) = &heard {
            let slept = sleep.as_ref().map(|key| (key, StepKind::Sleep));
            self.actor.stage.watch.ended_with_steps(&sent, slept);
        }
        self.ended(held, (&heard, &sent), LeaseOperation::Delay)
    }

    async fn wait_children(&self, held: &Held) -> bool {
        let sent = self.last_steps(held);
        let command = WaitChildren {
            fence: self.shown(held),
            steps: sent.steps.clone(),
        };
        let heard = call_once!(self.actor, wait_children, On::new(held.id, command)).await;
        if let Heard::Told(WaitedChildren::AlreadySatisfied) = &heard {
            self.told(held, Act::Used);
            self.actor.stage.watch.ended_with_steps(&sent, None);
            return true;
        }
        self.ended(held, (&heard, &sent), LeaseOperation::WaitChildren)
    }

    /// The worker cancels its own execution.
    async fn give_up(&self, held: &Held) -> bool {
        let command = CancelExecution {
            reason: "pointless".to_owned(),
            fence: self.shown(held),
        };
        let heard = call_once!(self.actor, cancel_execution, On::new(held.id, command)).await;
        // An execution that was cancelled by somebody else answers the same.
        unsure(&heard)
    }

    /// A worker was told that this ended its lease; `true` when it does not know.
    fn ended<T>(&self, held: &Held, (heard, sent): (&Heard<T>, &SentSteps), operation: LeaseOperation) -> bool {
        if let Heard::Told(_) = heard {
            self.told(held, Act::Ended(operation));
            self.actor.stage.watch.ended_with_steps(sent, None);
        }
        unsure(heard)
    }

    async fn suspend(&self, held: &Held) -> bool {
        let sent = self.last_steps(held);
        let command = self.suspension(held, sent.steps.clone());
        let wait = command.step.clone();
        let heard = call_once!(self.actor, suspend, On::new(held.id, command)).await;
        match &heard {
            Heard::Told(SuspendedTask::Suspended { waitpoints, .. }) => {
                self.ended(held, (&heard, &sent), LeaseOperation::Suspend);
                let doors = waitpoints.iter().map(|issued| Door {
                    execution_id: held.id,
                    waitpoint_id: issued.waitpoint_id,
                    token: issued.token.clone(),
                });
                self.actor.board.known().doors.extend(doors);
                false
            }
            Heard::Told(SuspendedTask::AlreadySatisfied { .. }) => {
                self.told(held, Act::Used);
                let waited = wait.as_ref().map(|key| (key, StepKind::Wait));
                self.actor.stage.watch.ended_with_steps(&sent, waited);
                true
            }
            Heard::Told(SuspendedTask::Cancelled) => self.ended(held, (&heard, &sent), LeaseOperation::Suspend),
            _ => unsure(&heard),
        }
    }

    pub(super) fn suspension(&self, held: &Held, steps: Vec<StepReport>) -> Suspend {
        let luck = &self.actor.luck;
        let pending = held.pending.last().filter(|_| luck.flip());
        let mut waitpoints = vec![WaitpointChoice::Fresh {
            waitpoint_key: names::waitpoint_key("a"),
            waitpoint_id: luck.one_in(3).then(|| WaitpointId::from_uuid(luck.uuid())),
        }];
        waitpoints.extend(pending.map(|waitpoint_id| WaitpointChoice::UsePending {
            waitpoint_id: *waitpoint_id,
        }));
        let resume_condition = condition(luck, pending.is_some());
        let needs_timeout = resume_condition == ResumeCondition::TimeoutOnly;
        let timeout = (needs_timeout || luck.flip()).then(|| policies::seconds(luck, 1, 40));
        Suspend {
            fence: self.shown(held),
            waitpoints,
            resume_condition,
            reason_code: reason(luck),
            timeout_at: timeout.map(|timeout| self.actor.stage.watch.now() + timeout),
            timeout_behavior: luck.flip().then(|| policies::timeout_behavior(luck)),
            resume_delay: Duration::from_millis(luck.choose([0, 0, 2_000])),
            idempotency_key: luck.flip().then(|| names::fresh_key(luck)),
            suspension_id: luck.one_in(3).then(|| SuspensionId::from_uuid(luck.uuid())),
            step: self.some_wait(),
            steps,
        }
    }

    /// Submits another member into the flow of its own execution.
    pub(super) async fn spawn_child(&self, held: &Held) -> bool {
        let Some(flow) = held.flow else { return true };
        let mut command = self.actor.submission(self.namespace.clone());
        command.flow_id = Some(flow);
        command.execution_id = None;
        command.parent_fence = Some(Holder {
            execution_id: held.id,
            fence: held.fence,
        });
        let child = self.actor.create(command).await;
        self.actor
            .board
            .known()
            .children
            .extend(child.map(|child| (held.id, child)));
        true
    }

    /// Makes its own execution depend on a child it submitted, so that it can wait for it.
    pub(super) async fn depend_on_child(&self, held: &Held) -> bool {
        let child = self.child_of(held.id);
        let (Some(flow), Some(child)) = (held.flow, child) else {
            return true;
        };
        let command = ff_core::command::flow::StageDependencyEdge {
            edge_id: None,
            upstream: child,
            downstream: held.id,
            dependency_kind: dependency_kind(&self.actor.luck),
            data_passing_ref: None,
            expected_graph_revision: None,
            apply: true,
        };
        let heard = call_once!(self.actor, stage_dependency_edge, On::new(flow, command)).await;
        if !matches!(heard, Heard::Told(_)) || self.actor.luck.one_in(3) {
            return keeps(&heard);
        }
        match self.actor.luck.below(5) {
            0 | 1 => {
                let command = CancelExecution {
                    reason: "not needed".to_owned(),
                    fence: None,
                };
                call!(self.actor, cancel_execution, On::new(child, command)).await;
            }
            2 => self.cancel_pending(flow).await,
            _ => {}
        }
        self.wait_children(held).await
    }

    fn child_of(&self, parent: ExecutionId) -> Option<ExecutionId> {
        let known = self.actor.board.known();
        let child = known.children.iter().rev().find(|(of, _)| *of == parent);
        child.map(|(_, child)| *child)
    }
}

/// Whether a worker that heard this to the end of its lease may still have it: nobody told it otherwise.
fn unsure<T>(heard: &Heard<T>) -> bool {
    match heard {
        Heard::Told(_) => false,
        Heard::Refused(_) => keeps(heard),
        Heard::Nothing => true,
    }
}

fn condition(luck: &Luck, has_pending: bool) -> ResumeCondition {
    let go = Matcher::ByName(names::signal_name("go"));
    let at = |key: &str| ResumeCondition::Single {
        waitpoint_key: names::waitpoint_key(key),
        matcher: go.clone(),
    };
    match luck.below(9) {
        0 => ResumeCondition::OperatorOnly,
        1 => ResumeCondition::TimeoutOnly,
        2 => ResumeCondition::Single {
            waitpoint_key: names::waitpoint_key("a"),
            matcher: Matcher::Any,
        },
        3 => ResumeCondition::Count {
            n: 2,
            distinct: luck.choose([Distinct::Signals, Distinct::Sources]),
            matcher: luck.flip().then(|| go.clone()),
            waitpoints: vec![names::waitpoint_key("a")],
        },
        4 if has_pending => ResumeCondition::AllOf(vec![at("a"), at("early")]),
        5..=7 if has_pending => at("early"),
        6 => ResumeCondition::AllOf(Vec::new()),
        _ => at("a"),
    }
}

fn reason(luck: &Luck) -> ReasonCode {
    luck.choose([
        ReasonCode::WaitingForSignal,
        ReasonCode::WaitingForApproval,
        ReasonCode::WaitingForApproval,
        ReasonCode::WaitingForCallback,
        ReasonCode::WaitingForToolResult,
        ReasonCode::OperatorReview,
        ReasonCode::ManualPause,
        ReasonCode::Policy,
        ReasonCode::Budget,
    ])
}
