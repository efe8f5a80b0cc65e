//! Lanes of a namespace with their depths, by name.

use ff_backend::codec::cursor::Cut;
use ff_backend::query::{LaneDepth, Rows};
use ff_core::name::{LaneId, Namespace};
use rusqlite::Row;

use super::{Found, Reading};
use crate::column::{from_json, moment_if_any, parsed, text};
use crate::sql::{self, with};

impl Reading<'_, '_> {
    pub(super) fn list_lanes(&self, namespace: &Namespace, cut: &Cut) -> Found {
        let after = cut.after::<LaneId>()?;
        let after = after.as_ref().map_or("", |lane| lane.as_str());
        let asked = with!(sql::LIST_LANES, namespace: namespace.as_str(), after: after);
        let read = |row: &Row<'_>| {
            let lane: LaneId = parsed(row, 0)?;
            let oldest = with!(sql::LIST_OLDEST_ELIGIBLE, namespace: namespace.as_str(), lane: lane.as_str());
            let depth = LaneDepth {
                lane: lane.clone(),
                depth: from_json(text(row, 1)?)?,
                oldest_eligible: self.database.find(oldest, |row| moment_if_any(row, 0))?.flatten(),
            };
            Ok((lane, Some(depth)))
        };
        let (rows, next) = self.database.rows(asked, |rows| cut.page(rows.mapped(read)))?;
        Ok((Rows::Lanes(rows), next))
    }
}
