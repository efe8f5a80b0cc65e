//! Members of a flow, by id.

use ff_backend::codec::cursor::Cut;
use ff_backend::query::Rows;
use ff_core::id::{ExecutionId, FlowId};
use rusqlite::Connection;

use super::{Found, versioned_if_listed};
use crate::key::{execution_id, index, uuid_text};

pub(super) fn members(connection: &Connection, flow_id: FlowId, open_only: bool, cut: &Cut) -> Found {
    let after = cut.after::<ExecutionId>()?;
    let (uuid, partition) = after.map_or((String::new(), 0), |id| (uuid_text(id), index(id.partition())));
    let mut statement = connection.prepare_cached(include_str!("../../sql/list_members.sql"))?;
    let rows = statement.query_map((flow_id.to_string(), uuid, partition, open_only), |row| {
        let id = execution_id(row.get_ref(0)?.as_str()?, row.get(1)?)?;
        Ok((id, versioned_if_listed(row, 2)?))
    })?;
    let (rows, next) = cut.page(rows)?;
    Ok((Rows::Executions(rows), next))
}
