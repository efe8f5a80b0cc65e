//! explain: every condition between an execution and a worker, with its current value.

use ff_core::command::budget::{BudgetState, BudgetView};
use ff_core::command::quota::{QuotaPolicyView, QuotaState};
use ff_core::fabric::Result;
use ff_core::id::{BudgetId, ExecutionId, QuotaPolicyId};
use ff_core::machine::admission::judge_budgets;
use ff_core::machine::claim::gate_passes;
use ff_core::machine::group::Counts;
use ff_core::record::{EdgeGroupPolicy, Execution, GateState, Phase, Runnable};
use ff_core::state::blocking_detail;
use ff_core::view::{Condition, Explanation, Hindrance};
use futures::future::try_join_all;

use super::environment::{Environment, environment_of, gates_in};
use super::view::{lane_detail, route_detail, state_view};
use crate::engine::Engine;
use crate::ops::{budgets, quotas};
use crate::snapshots::{group_counters, group_counts};

pub(crate) async fn explain(engine: &Engine, id: ExecutionId) -> Result<Explanation> {
    engine.check_id(id)?;
    let snapshot = engine
        .store()
        .load(Engine::load_of(id).with_counters(group_counters(id)))
        .await?;
    let execution = engine.visible(&snapshot, id)?;
    if execution.is_terminal() {
        return Ok(Explanation {
            execution_id: id,
            state: state_view(execution, &Environment::default()),
            conditions: Vec::new(),
            nearest_workers: Vec::new(),
        });
    }
    let counts = group_counts(&snapshot, id);
    let environment = environment_of(engine, &[execution], gates_in(&snapshot)).await?;
    let mut conditions = vec![
        hold(execution),
        suspension(execution),
        ownership(execution),
        delay(execution),
    ];
    conditions.extend(dependencies(execution, &counts));
    conditions.extend(flow_gate(execution, &environment));
    conditions.push(lane(execution, &environment));
    conditions.extend(budget_conditions(engine, execution).await?);
    conditions.extend(quota_condition(engine, execution, &environment).await?);
    conditions.push(capabilities(execution, &environment));
    Ok(Explanation {
        execution_id: id,
        state: state_view(execution, &environment),
        conditions,
        nearest_workers: environment.nearest_workers(execution),
    })
}

async fn budget_conditions(engine: &Engine, execution: &Execution) -> Result<Vec<Condition>> {
    let ids = &execution.definition.policy.budget_ids;
    let budgets = ids.iter().map(|id| budgets::find(engine, *id)).collect::<Vec<_>>();
    let budgets = try_join_all(budgets).await?;
    let condition = |(id, budget): (&BudgetId, Option<BudgetView>)| Condition {
        hindrance: Hindrance::Budget,
        blocks: !is_taken(execution) && judge_budgets([(*id, budget.as_ref())]).is_err(),
        detail: budget_detail(*id, budget.as_ref()),
    };
    Ok(ids.iter().zip(budgets).map(condition).collect())
}

async fn quota_condition(
    engine: &Engine,
    execution: &Execution,
    environment: &Environment,
) -> Result<Option<Condition>> {
    let Some(id) = execution.definition.policy.quota_policy_id else {
        return Ok(None);
    };
    let policy = quotas::find(engine, id).await?;
    Ok(Some(Condition {
        hindrance: Hindrance::Quota,
        blocks: !is_taken(execution) && environment.is_quota_full(execution),
        detail: quota_detail(id, policy.as_ref()),
    }))
}

/// What is leased or promised has passed lane, budgets, quota and routing.
fn is_taken(execution: &Execution) -> bool {
    execution.lease().is_some() || execution.grant().is_some()
}

fn hold(execution: &Execution) -> Condition {
    let detail = execution.hold.as_ref().map(|hold| match &hold.reason {
        Some(reason) => format!("held by an operator since {}: {reason}", hold.since),
        None => format!("held by an operator since {}", hold.since),
    });
    Condition {
        hindrance: Hindrance::Hold,
        blocks: detail.is_some(),
        detail: detail.unwrap_or_else(|| "not held".to_owned()),
    }
}

fn suspension(execution: &Execution) -> Condition {
    let waits = execution.suspension().and_then(|suspension| {
        let counted = suspension.matched.len();
        Some(format!(
            "{}; {counted} signals have counted",
            blocking_detail(execution)?
        ))
    });
    Condition {
        hindrance: Hindrance::Suspension,
        blocks: waits.is_some(),
        detail: waits.unwrap_or_else(|| "not suspended".to_owned()),
    }
}

fn ownership(execution: &Execution) -> Condition {
    let owner = match &execution.phase {
        Phase::Active(lease) if lease.is_expired() => Some(format!(
            "the lease of {} ran out at {}; another worker takes over soon",
            lease.instance, lease.expires_at
        )),
        Phase::Active(lease) => Some(format!("leased to {} until {}", lease.instance, lease.expires_at)),
        Phase::Runnable(Runnable { grant: Some(grant), .. }) => {
            Some(format!("promised to {} until {}", grant.instance, grant.expires_at))
        }
        Phase::Runnable(_) | Phase::Suspended(_) | Phase::Terminal(_) => None,
    };
    Condition {
        hindrance: Hindrance::Ownership,
        blocks: owner.is_some(),
        detail: owner.unwrap_or_else(|| "no worker has it".to_owned()),
    }
}

fn delay(execution: &Execution) -> Condition {
    let until = execution.runnable().and_then(|runnable| runnable.delay.as_ref());
    Condition {
        hindrance: Hindrance::Delay,
        blocks: until.is_some(),
        detail: until.map_or_else(
            || "not delayed".to_owned(),
            |delay| format!("delayed until {}", delay.until),
        ),
    }
}

fn dependencies(execution: &Execution, counts: &Counts) -> Option<Condition> {
    execution.definition.flow?;
    let policy = execution.dependencies.as_ref().map(|dependencies| dependencies.policy);
    let needed = match policy.unwrap_or_default() {
        EdgeGroupPolicy::AllOf => counts.applied,
        EdgeGroupPolicy::AnyOf { .. } => counts.applied.min(1),
        EdgeGroupPolicy::Quorum { k, .. } => u64::from(k),
    };
    let Counts {
        applied,
        unresolved,
        satisfied,
        failed,
    } = counts;
    let counted = format!(
        "{satisfied} of {needed} it needs are satisfied ({applied} in all, {unresolved} open, {failed} failed)"
    );
    let detail = if execution.unopened {
        format!("flow not opened yet; {counted}")
    } else if execution.follow_ups.reopen_edges {
        format!("replayed, its descendants are being reopened; {counted}")
    } else if execution.waits_for_cancelled_children() {
        format!("replayed, what it spawned before is being cancelled; {counted}")
    } else {
        counted
    };
    Some(Condition {
        hindrance: Hindrance::Dependencies,
        blocks: execution.waits_for_dependencies(),
        detail,
    })
}

fn flow_gate(execution: &Execution, environment: &Environment) -> Option<Condition> {
    let flow = execution.definition.flow?;
    let gate = environment.gate(execution);
    let state = match gate {
        Some(GateState::Assembling) => "assembling: nothing runs before it is opened",
        Some(GateState::Open) => "open",
        Some(GateState::Sealed) => "sealed: its members go on",
        Some(GateState::Cancelled) => "cancelled",
        None => "gone",
    };
    Some(Condition {
        hindrance: Hindrance::FlowGate,
        blocks: execution.lease().is_none() && (gate.is_none() || !gate_passes(gate)),
        detail: format!("flow {flow} is {state}"),
    })
}

fn lane(execution: &Execution, environment: &Environment) -> Condition {
    Condition {
        hindrance: Hindrance::Lane,
        blocks: !is_taken(execution) && !environment.lane(execution).hands_out(),
        detail: lane_detail(execution, environment),
    }
}

fn capabilities(execution: &Execution, environment: &Environment) -> Condition {
    let required = &execution.definition.policy.routing_requirements.required_capabilities;
    let mut workers = environment.workers_of_lane(execution);
    Condition {
        hindrance: Hindrance::Capabilities,
        blocks: !is_taken(execution) && !workers.any(|worker| worker.capabilities.covers(required)),
        detail: route_detail(execution, environment),
    }
}

fn budget_detail(id: BudgetId, budget: Option<&BudgetView>) -> String {
    let Some(budget) = budget else {
        return format!("budget {id} does not exist");
    };
    if budget.state == BudgetState::Deleted {
        return format!("budget {id} was deleted and limits nothing");
    }
    let dimensions: Vec<String> = budget
        .dimensions
        .iter()
        .map(|(name, dimension)| match dimension.limits.hard {
            Some(limit) => format!("{name} {}/{limit}", dimension.usage),
            None => format!("{name} {}, no limit", dimension.usage),
        })
        .collect();
    format!("budget {id}: {}", dimensions.join("; "))
}

fn quota_detail(id: QuotaPolicyId, policy: Option<&QuotaPolicyView>) -> String {
    let Some(policy) = policy else {
        return format!("quota policy {id} does not exist");
    };
    if policy.state == QuotaState::Deleted {
        return format!("quota policy {id} was deleted and limits nothing");
    }
    let of = |limit: Option<u64>| limit.map_or_else(|| ", no limit".to_owned(), |limit| format!("/{limit}"));
    let (leases, requests) = (policy.in_use, policy.requests_in_window);
    let (leases_max, requests_max) = (of(policy.max_concurrent), of(policy.max_requests_per_window));
    let window = policy.window;
    format!("quota policy {id}: leases {leases}{leases_max}; requests {requests}{requests_max} in {window}")
}
