//! Lanes of a namespace with their depths, by name.

use ff_backend::codec::cursor::Cut;
use ff_backend::codec::score::{SPAN_MS, created_at};
use ff_backend::query::{LaneDepth, Rows};
use ff_core::name::{LaneId, Namespace};
use ff_core::partition::Family;

use super::{Found, one_more};
use crate::call::call;
use crate::error::corrupt;
use crate::rows::answered;
use crate::shared::{Shared, number};

answered! {
    /// A lane; its oldest is the smallest score without its priority.
    LaneRow as "lane_row" { lane: String, depths: String, oldest: Option<i64> }
}

impl Shared {
    pub(super) async fn list_lanes(&self, namespace: &Namespace, cut: &Cut) -> Found {
        let after = cut.after::<LaneId>()?;
        let after = after.as_ref().map_or("", |lane| lane.as_str());
        let partitions: Vec<i16> = self.counts.all(Family::Flow).map(number).collect();
        let (now, answer) = self
            .ask(call!(reading list_lanes(
            own_namespace: &namespace.as_str(), after: &after, partitions: &partitions, span: &SPAN_MS,
            at_most: &one_more(cut))))
            .await?;
        let found: Vec<LaneRow> = answer.get("answer")?;
        let lane = |row: LaneRow| -> ff_backend::Result<LaneDepth> {
            Ok(LaneDepth {
                lane: LaneId::parse(row.lane).map_err(corrupt)?,
                depth: serde_json::from_str(&row.depths).map_err(corrupt)?,
                oldest_eligible: row.oldest.map(created_at),
            })
        };
        let lanes = found.into_iter().map(lane).collect::<ff_backend::Result<Vec<_>>>()?;
        let (lanes, next) = cut.first(lanes, |lane| lane.lane.clone());
        Ok((now, Rows::Lanes(lanes), next))
    }
}
