//! Flows by filter, newest first.

use ff_backend::codec::cursor::Cut;
use ff_backend::query::{FlowFilter, Rows};
use ff_core::id::FlowId;
use ff_core::name::{FlowKind, Namespace};
use ff_core::time::Timestamp;
use rusqlite::Connection;

use super::{Found, versioned_if_listed};
use crate::error::if_readable;

pub(super) fn flows(connection: &Connection, filter: &FlowFilter, cut: &Cut) -> Found {
    let after = cut.after::<(Timestamp, FlowId)>()?;
    // An empty text comes before every id: nothing is created at the last moment there is.
    let (created_at, flow_id) = after.map_or((Timestamp::MAX, String::new()), |(at, id)| (at, id.to_string()));
    let namespace = filter.namespace.as_ref().map(Namespace::as_str);
    let kind = filter.kind.as_ref().map(FlowKind::as_str);
    let mut statement = connection.prepare_cached(include_str!("../../sql/list_flows.sql"))?;
    let rows = statement.query_map((created_at.as_millis(), flow_id, namespace, kind), |row| {
        let age: (u64, String) = (row.get(0)?, row.get(1)?);
        let flow = if_readable(versioned_if_listed(row, 2))?.flatten();
        // The tags of flows have no index: flows are few beside executions.
        Ok((age, flow.filter(|(flow, _)| filter.matches(flow))))
    })?;
    let (rows, next) = cut.page(rows)?;
    Ok((Rows::Flows(rows), next))
}
