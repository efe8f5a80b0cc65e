//! The end of a world: the faults have stopped, whatever holds work back is taken away, and everything must end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration as Time;

use ff_core::command::budget::{CreateBudget, UpdateLimits, Updated};
use ff_core::command::claim::{Claim, LaneOrder, Task, Want};
use ff_core::command::lane::SetLaneState;
use ff_core::command::lease::Complete;
use ff_core::command::operator::CancelExecution;
use ff_core::command::quota::{CreateQuotaPolicy, LimitChange, UpdateQuotaPolicy};
use ff_core::command::signal::ResumeExecution;
use ff_core::command::submit::{CreateExecution, LaneState};
use ff_core::fabric::On;
use ff_core::id::BudgetId;
use ff_core::name::{LaneId, Namespace};
use ff_core::record::{Cause, Execution, Limits, OnHardLimit};
use ff_core::time::Duration;

use super::actor::{Actor, Heard, call};
use super::board::Phase;
use super::names;
use crate::store::StoreClock;

/// Rounds of tidying up, and how long each one is.
const ROUNDS: usize = 120;
const ROUND: Time = Time::from_secs(5);
/// From then on nothing is under way: the longest grant, the longest pause of the pump, and some.
const REST: Time = Time::from_secs(180);
/// From then on nobody claims but the caretaker.
const WORKERS_GONE: Time = Time::from_secs(5);
/// What the caretaker submits at once, takes at a time, and how long it waits for that: less than any sweep takes to come.
const RUSH: usize = 9;
const TAKEN_AT_ONCE: usize = 3;
const PATIENCE: Duration = Duration::from_secs(3);
/// Rounds after which no limit that was lifted may hold anything back: some sweeps, and no audit.
const ROUNDS_UNTIL_UNBLOCKED: usize = 12;
/// Submissions at a time under each closed budget.
const SUBMITTED: usize = 4;
/// How long until every sweep has seen what is blocked, and until somebody is about to block what was submitted last.
const SWEPT: Time = Time::from_secs(15);
const CLAIMED: Time = Time::from_millis(100);
/// Longer than anything is kept.
const AGES: Duration = Duration::from_hours(25);

/// Brings a world to its end.
pub(super) struct Finale {
    pub(super) actor: Actor,
    pub(super) clock: StoreClock,
    pub(super) over: Arc<AtomicBool>,
}

impl Finale {
    pub(super) async fn tidy_up(self) {
        self.open_and_shut().await;
        while !self.actor.board.is_quiet() || !self.lift_limits().await {
            self.actor.replicas.restart_dead();
            self.wait(Time::from_secs(1)).await;
        }
        for round in 0..ROUNDS {
            self.actor.replicas.restart_dead();
            self.open_everything().await;
            let open = self.actor.stage.watch.open_executions();
            if open.is_empty() {
                break;
            }
            if round == ROUNDS_UNTIL_UNBLOCKED {
                self.actor.stage.watch.check_unblocked();
            }
            for execution in open {
                self.let_go(&execution).await;
            }
            self.wait(ROUND).await;
        }
        let watch = &self.actor.stage.watch;
        watch.check_ended();
        self.actor.board.enter(Phase::Rest);
        self.wait(WORKERS_GONE).await;
        self.rush().await;
        self.wait(REST).await;
        watch.check_at_rest();
        self.clock.jump(AGES);
        self.wait(REST).await;
        watch.check_deleted();
        watch.check_all();
        self.over.store(true, Ordering::Relaxed);
    }

    async fn wait(&self, time: Time) {
        self.actor.stage.executor.sleep(time).await;
    }

    /// Closes every budget while work waits under it, and opens it right when more comes. What is blocked just then is
    /// found by nothing but the generation: the release has been there, and the sweeps have marked its partitions before.
    async fn open_and_shut(&self) {
        self.open_everything().await;
        let budgets = self.actor.board.known().budgets.clone();
        for (namespace, id) in &budgets {
            self.limit(*id, Some(0)).await;
            self.submit_under(namespace, *id).await;
        }
        self.wait(SWEPT).await;
        for (namespace, id) in &budgets {
            self.submit_under(namespace, *id).await;
            self.wait(CLAIMED).await;
            self.limit(*id, None).await;
        }
    }

    /// Submits what can end only by being claimed.
    async fn submit_under(&self, namespace: &Namespace, budget: BudgetId) {
        for _ in 0..SUBMITTED {
            let kind = names::kind("late");
            let mut command = CreateExecution::new(kind, names::payload(&self.actor.luck));
            command.namespace = namespace.clone();
            command.lane_id = names::some_lane(&self.actor.luck);
            command.policy.budget_ids = [budget].into();
            self.actor.create(command).await;
        }
    }

    async fn limit(&self, id: BudgetId, hard: Option<u64>) -> Heard<Updated> {
        let dimensions = [(names::dimension("tokens"), Limits { soft: None, hard })].into();
        call!(self.actor, update_limits, On::new(id, UpdateLimits { dimensions })).await
    }

    /// No limit closes anything any more; `false` when somebody did not answer.
    async fn lift_limits(&self) -> bool {
        let mut answered = true;
        let (budgets, quotas) = {
            let known = self.actor.board.known();
            (known.budgets.clone(), known.quotas.clone())
        };
        for (_, id) in budgets {
            let heard = self.limit(id, None).await;
            answered &= !matches!(heard, Heard::Nothing);
        }
        for (_, id) in quotas {
            let command = UpdateQuotaPolicy {
                max_requests_per_window: LimitChange::Remove,
                max_concurrent: LimitChange::Remove,
                ..UpdateQuotaPolicy::default()
            };
            let heard = call!(self.actor, update_quota_policy, On::new(id, command)).await;
            answered &= !matches!(heard, Heard::Nothing);
        }
        answered
    }

    /// Every lane hands out and every flow is whole.
    async fn open_everything(&self) {
        for namespace in names::NAMESPACES {
            for lane in names::LANES {
                let command = SetLaneState {
                    namespace: names::namespace(namespace),
                    lane_id: names::lane(lane),
                    state: LaneState::Active,
                };
                call!(self.actor, set_lane_state, command).await;
            }
        }
        for flow in self.actor.stage.watch.assembling_flows() {
            call!(self.actor, open_flow, flow).await;
        }
    }

    /// Much work comes at once, and one worker takes it in handfuls. However little of what it wants it is given at a time,
    /// it need not wait for a sweep while there is more.
    async fn rush(&self) {
        let namespace = names::namespace(names::NAMESPACES[0]);
        let mut submitted = Vec::new();
        for _ in 0..RUSH {
            let mut command = CreateExecution::new(names::kind("late"), names::payload(&self.actor.luck));
            command.namespace = namespace.clone();
            submitted.extend(self.actor.create(command).await);
        }
        let watch = &self.actor.stage.watch;
        while let Some(waiting) = submitted.iter().find(|id| watch.is_eligible(**id)) {
            let tasks = self.claim(&namespace).await;
            if tasks.is_empty() && watch.is_eligible(*waiting) {
                let detail = format!("{waiting} is eligible, and a claim has waited for {PATIENCE}");
                return self.actor.complain("work does not wait for a sweep", detail);
            }
            for task in tasks {
                let command = Complete {
                    fence: Some(task.fence),
                    result: None,
                    ..Complete::default()
                };
                call!(self.actor, complete, On::new(task.execution_id, command)).await;
            }
        }
    }

    async fn claim(&self, namespace: &Namespace) -> Vec<Task> {
        let command = Claim {
            namespace: namespace.clone(),
            worker: names::worker("caretaker"),
            instance: names::instance("caretaker-1"),
            incarnation: None,
            want: Want {
                lanes: vec![LaneId::default_lane()],
                lane_order: LaneOrder::Strict,
                capabilities: names::all_capabilities(),
                max: TAKEN_AT_ONCE,
                lease_ttl: None,
            },
            wait: PATIENCE,
        };
        call!(self.actor, claim, command).await.told().unwrap_or_default()
    }

    /// Takes away what only a person can take away.
    async fn let_go(&self, execution: &Execution) {
        if execution.hold.is_some() {
            call!(self.actor, unhold, execution.id).await;
        }
        if self.actor.stage.watch.waits_for_a_person(execution.id) {
            self.cancel(execution).await;
        }
        match self.actor.stage.watch.lost_cause(execution) {
            Some(_) if self.actor.luck.flip() => self.cancel(execution).await,
            Some(cause) => self.create_again(cause, &execution.definition.namespace).await,
            None => {}
        }
        if execution.suspension().is_some() {
            let command = ResumeExecution {
                reason: Some("the end".to_owned()),
                request_id: None,
            };
            call!(self.actor, resume_execution, On::new(execution.id, command)).await;
        }
    }

    async fn cancel(&self, execution: &Execution) {
        let command = CancelExecution {
            reason: "the end".to_owned(),
            fence: None,
        };
        call!(self.actor, cancel_execution, On::new(execution.id, command)).await;
    }

    /// Creates what a failover lost under its old id, without limits: the work it holds back is let go.
    async fn create_again(&self, cause: Cause, namespace: &Namespace) {
        let namespace = namespace.clone();
        match cause {
            Cause::Budget(id) => {
                let command = CreateBudget {
                    budget_id: Some(id),
                    namespace,
                    scope: "once more".to_owned(),
                    dimensions: [(names::dimension("tokens"), Limits::default())].into(),
                    reset_interval: None,
                    on_hard_limit: OnHardLimit::Block,
                };
                call!(self.actor, create_budget, command).await;
            }
            Cause::Quota(id) => {
                let command = CreateQuotaPolicy {
                    quota_policy_id: Some(id),
                    namespace,
                    window: Duration::from_secs(1),
                    max_requests_per_window: None,
                    max_concurrent: None,
                    jitter: Duration::ZERO,
                };
                call!(self.actor, create_quota_policy, command).await;
            }
        }
    }
}
