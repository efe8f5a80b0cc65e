//! Executions by filter, newest first: a walk along the best index for the filter, which looks at each execution it meets.

use ff_backend::codec::cursor::{Cut, VISITED_MAX};
use ff_backend::query::{ExecutionFilter, Rows};
use ff_backend::transaction::Version;
use ff_core::id::{ExecutionId, FlowId};
use ff_core::name::Namespace;
use ff_core::record::Execution;
use ff_core::state::PublicState;
use ff_core::time::Timestamp;
use rusqlite::{CachedStatement, Connection, OptionalExtension, params};

use super::{Answer, Found, versioned};
use crate::error::if_readable;
use crate::key::{execution_id, index, uuid_text};

/// The place of an execution among all, the oldest being the least.
type Age = (Timestamp, ExecutionId);

/// The index that leads to the executions a filter wants. All of them are in order of age.
enum Walk<'f> {
    /// Members of a flow that has few of them.
    OfFlow(FlowId),
    WithTag(&'f str, &'f str),
    /// In a state that has an index.
    InState(&'f Namespace, PublicState),
    OfNamespace(&'f Namespace),
    Everything,
}

pub(super) fn executions(connection: &Connection, filter: &ExecutionFilter, cut: &Cut) -> Found {
    let walk = choose(connection, filter)?;
    let (created_at, uuid, partition) = start(filter, cut)?;
    let oldest = filter.created_from.unwrap_or_default().as_millis();
    let mut statement = connection.prepare_cached(walk.sql())?;
    let rows = match walk {
        Walk::OfFlow(flow_id) => statement.query((created_at, uuid, partition, oldest, flow_id.to_string()))?,
        Walk::WithTag(key, value) => statement.query((created_at, uuid, partition, oldest, key, value))?,
        Walk::InState(namespace, state) => {
            statement.query((created_at, uuid, partition, oldest, namespace.as_str(), state.as_str()))?
        }
        Walk::OfNamespace(namespace) => statement.query((created_at, uuid, partition, oldest, namespace.as_str()))?,
        Walk::Everything => statement.query((created_at, uuid, partition, oldest))?,
    };
    let mut wanted = connection.prepare_cached(include_str!("../../sql/list_execution_if.sql"))?;
    let (rows, next) = cut.page(rows.mapped(|row| {
        let id = execution_id(row.get_ref(1)?.as_str()?, row.get(2)?)?;
        let age: Age = (Timestamp::from_millis(row.get(0)?), id);
        Ok((age, execution_if(&mut wanted, id, filter)?))
    }))?;
    Ok((Rows::Executions(rows), next))
}

impl Walk<'_> {
    const fn sql(&self) -> &'static str {
        match self {
            Walk::OfFlow(_) => include_str!("../../sql/list_executions_of_flow.sql"),
            Walk::WithTag(..) => include_str!("../../sql/list_executions_with_tag.sql"),
            Walk::InState(..) => include_str!("../../sql/list_executions_in_state.sql"),
            Walk::OfNamespace(_) => include_str!("../../sql/list_executions_of_namespace.sql"),
            Walk::Everything => include_str!("../../sql/list_executions.sql"),
        }
    }
}

/// The index that leads past the fewest executions nobody asked for.
fn choose<'f>(connection: &Connection, filter: &'f ExecutionFilter) -> rusqlite::Result<Walk<'f>> {
    if let Some(flow_id) = filter.flow_id
        && has_few_members(connection, flow_id)?
    {
        return Ok(Walk::OfFlow(flow_id));
    }
    if let Some((key, value)) = &filter.tag {
        return Ok(Walk::WithTag(key, value));
    }
    Ok(match (&filter.namespace, filter.state) {
        (Some(namespace), Some(state)) if is_indexed(state) => Walk::InState(namespace, state),
        (Some(namespace), _) => Walk::OfNamespace(namespace),
        (None, _) => Walk::Everything,
    })
}

/// The members of a flow are indexed by id: they are sorted by age for every page, which must not take long.
fn has_few_members(connection: &Connection, flow_id: FlowId) -> rusqlite::Result<bool> {
    let mut statement = connection.prepare_cached(include_str!("../../sql/list_has_few_members.sql"))?;
    statement.query_row(params![flow_id.to_string(), VISITED_MAX], |row| row.get(0))
}

/// The index leaves out the states most executions pass through.
const fn is_indexed(state: PublicState) -> bool {
    !matches!(
        state,
        PublicState::Waiting | PublicState::Active | PublicState::Completed
    )
}

/// The place below which the page starts: after the cursor, and before the moment the filter names.
fn start(filter: &ExecutionFilter, cut: &Cut) -> Answer<(u64, String, u16)> {
    let before = filter.created_before.unwrap_or(Timestamp::MAX).as_millis();
    // An empty text comes before every uuid: everything created at that moment is left out.
    let newest = (before, String::new(), 0);
    let after = cut.after::<Age>()?;
    let after = after.map(|(created_at, id)| (created_at.as_millis(), uuid_text(id), index(id.partition())));
    Ok(after.map_or(newest.clone(), |after| after.min(newest)))
}

/// The execution, if everything the filter names holds. The walk has seen to the times.
fn execution_if(
    statement: &mut CachedStatement<'_>,
    id: ExecutionId,
    filter: &ExecutionFilter,
) -> rusqlite::Result<Option<(Execution, Version)>> {
    let tag = filter.tag.as_ref();
    let params = params![
        uuid_text(id),
        index(id.partition()),
        filter.namespace.as_ref().map(Namespace::as_str),
        filter.lane.as_ref().map(|lane| lane.as_str()),
        filter.state.map(PublicState::as_str),
        filter.kind.as_ref().map(|kind| kind.as_str()),
        filter.flow_id.map(|flow_id| flow_id.to_string()),
        tag.map(|(key, _)| key),
        tag.map(|(_, value)| value),
    ];
    let found = statement
        .query_row(params, |row| if_readable(versioned(row, 0)))
        .optional()?;
    Ok(found.flatten())
}
