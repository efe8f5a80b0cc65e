//! In which index a record belongs: a pure function of its facts, so that no index can drift.

use std::cmp::Reverse;

use crate::capability::Signature;
use crate::id::{BudgetId, ExecutionId};
use crate::name::{LaneId, Namespace};
use crate::record::{Cause, Execution, Phase, Record, WaitpointUse};
use crate::state::{EligibilityState, state_vector};
use crate::time::Timestamp;

/// The one index an execution is in, besides those every execution is listed by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Placement {
    /// May be handed out: in the queue of its namespace, lane and signature.
    Eligible {
        /// Which queue.
        queue: QueueKey,
        /// Where in it.
        score: Score,
    },
    /// Admission refused it: in the index of the cause.
    Blocked {
        /// What refused it.
        cause: Cause,
        /// In which order it is let go.
        score: Score,
    },
    /// A worker has it: listed under its budgets, so that a breach finds it.
    Leased {
        /// The budgets.
        budgets: Vec<BudgetId>,
    },
    /// In no queue: a timer, a signal, an operator or another record moves it on.
    Nowhere,
}

/// A queue of eligible executions inside a partition.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QueueKey {
    /// The tenant.
    pub namespace: Namespace,
    /// The lane.
    pub lane: LaneId,
    /// What a worker must offer and what must be open.
    pub signature: Signature,
}

/// The order of handing out: priority, then age, then id. Smaller comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Score {
    /// Higher priority first.
    pub priority: Reverse<u16>,
    /// Older first.
    pub created_at: Timestamp,
    /// A total order among equals.
    pub id: ExecutionId,
}

/// Where an execution belongs.
pub fn placement(execution: &Execution) -> Placement {
    let runnable = match &execution.phase {
        Phase::Runnable(runnable) => runnable,
        Phase::Active(_) => {
            let budgets = execution.definition.policy.budget_ids.iter().copied().collect();
            return Placement::Leased { budgets };
        }
        Phase::Suspended(_) | Phase::Terminal(_) => return Placement::Nowhere,
    };
    let score = score(execution);
    match state_vector(execution).eligibility_state {
        EligibilityState::EligibleNow if runnable.grant.is_none() => Placement::Eligible {
            queue: queue_key(execution),
            score,
        },
        EligibilityState::BlockedByBudget | EligibilityState::BlockedByQuota => match &runnable.block {
            Some(block) => Placement::Blocked {
                cause: block.cause,
                score,
            },
            None => Placement::Nowhere,
        },
        _ => Placement::Nowhere,
    }
}

/// The queue a record belongs in, and its place there.
pub fn queue_of(record: &Record) -> Option<(QueueKey, Score)> {
    let Record::Execution(execution) = record else {
        return None;
    };
    match placement(execution) {
        Placement::Eligible { queue, score } => Some((queue, score)),
        _ => None,
    }
}

/// The place of an execution among those of its queue.
pub fn score(execution: &Execution) -> Score {
    Score {
        priority: Reverse(execution.priority),
        created_at: execution.definition.created_at,
        id: execution.id,
    }
}

/// The queue an execution waits in while it is eligible.
pub fn queue_key(execution: &Execution) -> QueueKey {
    let definition = &execution.definition;
    let policy = &definition.policy;
    QueueKey {
        namespace: definition.namespace.clone(),
        lane: definition.lane.clone(),
        signature: Signature {
            capabilities: policy.routing_requirements.required_capabilities.clone(),
            budgets: policy.budget_ids.iter().copied().collect(),
            quota: policy.quota_policy_id,
        },
    }
}

/// The moment any record next needs attention.
pub fn due_at(record: &Record) -> Option<Timestamp> {
    match record {
        Record::Execution(execution) => super::time::due_at(execution),
        Record::Flow(flow) => super::flow::due_at(flow),
        Record::Waitpoint(waitpoint) => match waitpoint.usage {
            WaitpointUse::Pending { expires_at } => Some(expires_at),
            _ => None,
        },
        _ => None,
    }
}
