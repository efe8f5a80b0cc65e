//! The index an execution is in, as its columns and the tables beside it say.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use ff_core::id::BudgetId;
use ff_core::machine::placement::{Placement, QueueKey, Score};
use ff_core::record::Execution;
use ff_core::state::PublicState;
use ff_core::time::Timestamp;
use rusqlite::{Connection, Row};

use crate::key::{index, parse_cause, uuid_text};
use crate::queues::parse;
use crate::record::from_json;

/// The index an execution is in.
pub(super) fn placement(connection: &Connection, execution: &Execution) -> rusqlite::Result<Placement> {
    let mut statement = connection.prepare_cached(include_str!("../../../sql/list_audited_entries.sql"))?;
    statement.query_row((uuid_text(execution.id), index(execution.id.partition())), |row| {
        let score = Score {
            priority: Reverse(row.get(0)?),
            created_at: Timestamp::from_millis(row.get(1)?),
            id: execution.id,
        };
        let by: Option<String> = row.get(3)?;
        if let Some(by) = by {
            return Ok(Placement::Blocked {
                cause: parse_cause(&by)?,
                score,
            });
        }
        if let Some(queue) = queue(row)? {
            let budgets = listed_under(connection, execution, "queued", &score)?;
            return Ok(Placement::Eligible {
                queue: wanted(queue, budgets),
                score,
            });
        }
        if row.get_ref(2)?.as_str()? == PublicState::Active.as_str() {
            let budgets = listed_under(connection, execution, "leased", &score)?;
            return Ok(Placement::Leased { budgets });
        }
        Ok(Placement::Nowhere)
    })
}

/// The queue of a row, if it is in one.
fn queue(row: &Row<'_>) -> rusqlite::Result<Option<QueueKey>> {
    let namespace: Option<String> = row.get(4)?;
    let Some(namespace) = namespace else { return Ok(None) };
    Ok(Some(QueueKey {
        namespace: parse(&namespace)?,
        lane: parse(row.get_ref(5)?.as_str()?)?,
        signature: from_json(row.get_ref(6)?.as_str()?)?,
    }))
}

/// The queue an execution asked for: it may stand in one without budgets that many budget sets share.
fn wanted(mut queue: QueueKey, listed: Vec<BudgetId>) -> QueueKey {
    let listed: BTreeSet<BudgetId> = listed.into_iter().collect();
    let budgets = &mut queue.signature.budgets;
    if budgets.is_empty() {
        *budgets = listed;
    } else {
        budgets.retain(|budget_id| listed.contains(budget_id));
    }
    queue
}

/// Those of its budgets that an execution is found under.
fn listed_under(
    connection: &Connection,
    execution: &Execution,
    place: &str,
    score: &Score,
) -> rusqlite::Result<Vec<BudgetId>> {
    let mut statement = connection.prepare_cached(include_str!("../../../sql/list_audited_budget.sql"))?;
    let (uuid, partition) = (uuid_text(execution.id), index(execution.id.partition()));
    let mut listed = Vec::new();
    for budget_id in &execution.definition.policy.budget_ids {
        let entry = (
            budget_id.to_string(),
            partition,
            place,
            score.priority.0,
            score.created_at.as_millis(),
            &uuid,
        );
        if statement.exists(entry)? {
            listed.push(*budget_id);
        }
    }
    Ok(listed)
}
