//! list_lanes.

use ff_core::command::page::{ListOf, PageRequest};
use ff_core::command::submit::{CreateExecution, LaneState};
use ff_core::error::Code;
use ff_core::fabric::Fabric;
use ff_core::name::Namespace;
use ff_core::record::Lane;
use ff_core::state::PublicState;
use ff_core::view::LaneView;

use crate::reads::stage::{Stage, code, submission};

impl Stage {
    async fn lanes(&self, limit: usize) -> Vec<LaneView> {
        let (mut lanes, mut cursor) = (Vec::new(), None);
        loop {
            let request = ListOf {
                namespace: Namespace::default_namespace(),
                page: PageRequest {
                    cursor,
                    limit: Some(limit),
                },
            };
            let page = self.engine.list_lanes(request).await.unwrap();
            assert!(page.items.len() <= limit);
            lanes.extend(page.items);
            cursor = page.next;
            if cursor.is_none() {
                return lanes;
            }
        }
    }
}

#[tokio::test]
async fn lanes_with_work_and_lanes_that_were_only_set_are_listed_together() {
    let stage = Stage::new();
    for lane in ["b", "d", "d"] {
        let command = CreateExecution {
            lane_id: lane.parse().unwrap(),
            ..submission()
        };
        stage.submit(&command).await;
    }
    for (lane, state) in [("a", LaneState::Paused), ("d", LaneState::Draining)] {
        stage
            .write_lane(&Lane {
                namespace: Namespace::default_namespace(),
                lane: lane.parse().unwrap(),
                state,
                created_at: stage.now(),
                updated_at: stage.now(),
                carried: Default::default(),
            })
            .await;
    }
    for limit in 1..=4 {
        let lanes = stage.lanes(limit).await;
        let found: Vec<_> = lanes
            .iter()
            .map(|lane| {
                let waiting = lane.depth.get(&PublicState::Waiting).copied().unwrap_or(0);
                (lane.lane_id.as_str(), lane.state, waiting)
            })
            .collect();
        let expected = [
            ("a", LaneState::Paused, 0),
            ("b", LaneState::Active, 1),
            ("d", LaneState::Draining, 2),
        ];
        assert_eq!(found, expected);
        assert_eq!(lanes[2].oldest_eligible, Some(stage.now()));
    }
}

#[tokio::test]
async fn lanes_of_another_namespace_are_not_for_a_bound_caller() {
    let stage = Stage::new();
    let request = ListOf {
        namespace: Namespace::default_namespace(),
        page: PageRequest::default(),
    };
    assert_eq!(code(stage.bound_to("other").list_lanes(request).await), Code::Forbidden);
}
