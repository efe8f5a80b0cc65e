//! list_problems: what does not get better by itself.
//!
//! Whoever is asked looks at the whole store: what has been due for long is not done by anybody, whichever process should. What
//! the pump of this process fails at is known sooner, with its reason.

use std::collections::{BTreeMap, BTreeSet};

use ff_backend::due::{Due, DueKey};
use ff_backend::load::Load;
use ff_core::fabric::Result;
use ff_core::limits::PAGE_MAX;
use ff_core::machine::index::Index;
use ff_core::name::Namespace;
use ff_core::partition::Partition;
use ff_core::record::{Cause, Record, RecordKey};
use ff_core::time::{Duration, Timestamp};
use ff_core::view::{ListProblems, Problem, ProblemKind};
use futures::future::try_join_all;

use crate::engine::Engine;
use crate::ops::{budgets, quotas};
use crate::pump::{Item, failing_items};

/// How long something may be due before somebody should look: longer than a failover, and than a process that took over.
const OVERDUE_AFTER: Duration = Duration::from_secs(60);

/// What is known of something that is not done.
#[derive(Default)]
struct Trouble {
    since: Option<Timestamp>,
    reason: Option<String>,
}

pub(crate) async fn list_problems(engine: &Engine, _: ListProblems) -> Result<Vec<Problem>> {
    let troubles = troubles(engine).await?.into_iter().take(PAGE_MAX);
    let looked_at = troubles.map(|(item, trouble)| problem_of(engine, item, trouble));
    let mut problems: Vec<Problem> = try_join_all(looked_at).await?.into_iter().flatten().collect();
    problems.extend(missing_causes(engine).await?);
    let own = engine.caller.namespace.as_ref();
    problems.retain(|problem| own.is_none() || problem.namespace.as_ref() == own);
    problems.sort_by(|a, b| (a.kind, a.since, &a.subject).cmp(&(b.kind, b.since, &b.subject)));
    problems.truncate(PAGE_MAX);
    Ok(problems)
}

/// What should have been done and is not.
async fn troubles(engine: &Engine) -> Result<BTreeMap<Item, Trouble>> {
    let mut troubles: BTreeMap<Item, Trouble> = BTreeMap::new();
    for (item, reason) in failing_items(engine) {
        troubles.entry(item).or_default().reason = Some(reason);
    }
    let due = Due {
        partitions: engine.all_partitions(),
        limit: PAGE_MAX,
    };
    let page = engine.store().due(due).await?;
    let overdue = page
        .items
        .into_iter()
        .filter(|item| (item.due_at + OVERDUE_AFTER).has_come(page.now));
    for due in overdue {
        let trouble = troubles.entry(Item::Due(due.partition, due.key)).or_default();
        trouble.since = Some(due.due_at);
    }
    Ok(troubles)
}

/// The problem behind a trouble; `None` when it is over.
async fn problem_of(engine: &Engine, item: Item, trouble: Trouble) -> Result<Option<Problem>> {
    let mut problem = Problem {
        kind: ProblemKind::FollowUp,
        subject: item.to_string(),
        namespace: None,
        since: trouble.since,
        detail: trouble
            .reason
            .unwrap_or_else(|| "it has been due for long, and nobody does it".to_owned()),
        advice: ProblemKind::FollowUp.advice(),
    };
    if let Item::Due(partition, DueKey::Record(key)) = item {
        let load = Load::records(partition, [key.clone()]);
        match engine.store().load_if_readable(load).await? {
            None => {
                problem.kind = ProblemKind::Unreadable;
                problem.advice = ProblemKind::Unreadable.advice();
            }
            Some(mut snapshot) => match snapshot.records.remove(&key) {
                Some((record, _)) => problem.namespace = namespace_of(engine, partition, record).await?,
                None => return Ok(None),
            },
        }
    }
    Ok(Some(problem))
}

async fn namespace_of(engine: &Engine, partition: Partition, record: Record) -> Result<Option<Namespace>> {
    let id = match record {
        Record::Execution(execution) => return Ok(Some(execution.definition.namespace.clone())),
        Record::Flow(flow) => return Ok(Some(flow.namespace)),
        Record::Waitpoint(waitpoint) => waitpoint.execution_id,
        _ => return Ok(None),
    };
    let key = RecordKey::Execution(id);
    let load = Load::records(partition, [key.clone()]);
    let snapshot = engine.store().load_if_readable(load).await?;
    let execution = snapshot.as_ref().and_then(|snapshot| snapshot.execution(&key));
    Ok(execution.map(|execution| execution.definition.namespace.clone()))
}

/// Budgets and quota policies that hold work and do not exist: a store that lost writes may have lost them.
async fn missing_causes(engine: &Engine) -> Result<Vec<Problem>> {
    let causes: BTreeSet<_> = engine
        .blocking_causes(engine.flow_partitions())
        .await?
        .into_iter()
        .map(|(_, cause)| cause)
        .collect();
    let looked_at = causes.into_iter().map(|cause| missing_cause(engine, cause));
    Ok(try_join_all(looked_at).await?.into_iter().flatten().collect())
}

async fn missing_cause(engine: &Engine, cause: Cause) -> Result<Option<Problem>> {
    let (subject, exists) = match cause {
        Cause::Budget(id) => (format!("budget {id}"), budgets::find(engine, id).await?.is_some()),
        Cause::Quota(id) => (format!("quota policy {id}"), quotas::find(engine, id).await?.is_some()),
    };
    if exists {
        return Ok(None);
    }
    let blocked = engine.range(Index::Blocked(cause));
    let blocked = engine.store().list(blocked, None, 1).await?.executions();
    Ok(blocked.first().map(|(execution, _)| Problem {
        kind: ProblemKind::MissingCause,
        detail: format!("{subject} does not exist, and execution {} waits for it", execution.id),
        subject,
        namespace: Some(execution.definition.namespace.clone()),
        since: None,
        advice: ProblemKind::MissingCause.advice(),
    }))
}
