//! Lanes of a namespace with their depths, by name.

use ff_backend::codec::cursor::Cut;
use ff_backend::query::{LaneDepth, Rows};
use ff_core::name::{LaneId, Namespace};
use ff_core::time::Timestamp;
use rusqlite::{CachedStatement, Connection};

use super::{Found, after_id};
use crate::queues::parse;
use crate::record::from_json;

pub(super) fn lanes(connection: &Connection, namespace: &Namespace, cut: &Cut) -> Found {
    let after = after_id::<LaneId>(cut)?;
    let mut oldest = connection.prepare_cached(include_str!("../../sql/list_oldest_eligible.sql"))?;
    let mut statement = connection.prepare_cached(include_str!("../../sql/list_lanes.sql"))?;
    let rows = statement.query_map((namespace.as_str(), after), |row| {
        let lane: LaneId = parse(row.get_ref(0)?.as_str()?)?;
        let depth = from_json(row.get_ref(1)?.as_str()?)?;
        let oldest_eligible = oldest_eligible(&mut oldest, namespace, &lane)?;
        Ok((
            lane.clone(),
            Some(LaneDepth {
                lane,
                depth,
                oldest_eligible,
            }),
        ))
    })?;
    let (rows, next) = cut.page(rows)?;
    Ok((Rows::Lanes(rows), next))
}

fn oldest_eligible(
    statement: &mut CachedStatement<'_>,
    namespace: &Namespace,
    lane: &LaneId,
) -> rusqlite::Result<Option<Timestamp>> {
    let millis: Option<u64> = statement.query_row((namespace.as_str(), lane.as_str()), |row| row.get(0))?;
    Ok(millis.map(Timestamp::from_millis))
}
