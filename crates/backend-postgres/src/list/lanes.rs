//! Lanes of a namespace with their depths, by name.

use ff_backend::codec::cursor::Cut;
use ff_backend::codec::score::{SPAN_MS, created_at};
use ff_backend::query::{LaneDepth, Rows};
use ff_core::name::{LaneId, Namespace};
use ff_core::partition::Family;
use postgres_types::FromSql;

use super::{Found, one_more};
use crate::call::call;
use crate::error::corrupt;
use crate::shared::{Shared, number};

/// A lane; its oldest is the smallest score without its priority.
#[derive(Debug, FromSql)]
#[postgres(name = "lane_row")]
struct LaneRow {
    lane: String,
    depths: String,
    oldest: Option<i64>,
}

impl Shared {
    pub(super) async fn list_lanes(&self, namespace: &Namespace, cut: &Cut) -> Found {
        let after = cut.after::<LaneId>()?;
        let after = after.as_ref().map_or("", |lane| lane.as_str());
        let partitions: Vec<i16> = self.counts.all(Family::Flow).map(number).collect();
        let caller = self.caller();
        let row = self
            .connections
            .row(call!(reading list_lanes(
            caller: &caller, own_namespace: &namespace.as_str(), after: &after, partitions: &partitions, span: &SPAN_MS,
            at_most: &one_more(cut))))
            .await?;
        let found: Vec<LaneRow> = row.try_get("answer").map_err(corrupt)?;
        let lane = |row: LaneRow| -> ff_backend::Result<LaneDepth> {
            Ok(LaneDepth {
                lane: LaneId::parse(row.lane).map_err(corrupt)?,
                depth: serde_json::from_str(&row.depths).map_err(corrupt)?,
                oldest_eligible: row.oldest.map(created_at),
            })
        };
        let lanes = found.into_iter().map(lane).collect::<ff_backend::Result<Vec<_>>>()?;
        let (lanes, next) = cut.first(lanes, |lane| lane.lane.clone());
        let now = self.was_told(row.try_get("now").map_err(corrupt)?);
        Ok((now, Rows::Lanes(lanes), next))
    }
}
