//! Executions and members, in stores larger than what one call looks at.

use std::collections::BTreeSet;

use ff_backend::Error;
use ff_backend::codec::cursor::VISITED_MAX;
use ff_backend::query::{Cursor, ExecutionFilter, Listing};
use ff_core::id::{ExecutionId, FlowId};
use ff_core::name::{LaneId, Namespace};
use ff_core::partition::Partition;
use ff_core::time::Timestamp;
use uuid::Uuid;

use super::{Scratch, Template};

const MANY: u64 = 2 * VISITED_MAX as u64 + 500;

#[test]
fn a_rare_row_is_found_on_short_pages() {
    let (scratch, template) = (Scratch::new(), Template::new());
    let is_rare = |n| [0, MANY / 2, MANY - 1].contains(&n);
    let mut rare = Vec::new();
    for n in 0..MANY {
        let execution = template.execution(n, if is_rare(n) { "rare" } else { "common" }, None);
        scratch.insert(&execution, true);
        if is_rare(n) {
            rare.insert(0, execution.id);
        }
    }
    for namespace in [None, Some(Namespace::default_namespace())] {
        let lane = Some(LaneId::parse("rare").unwrap());
        let of = Listing::Executions(ExecutionFilter {
            namespace,
            lane,
            ..ExecutionFilter::default()
        });
        assert_eq!(scratch.listed(&of, 10), (rare.clone(), 3));
        assert_eq!(scratch.listed(&of, 1).0, rare);
    }
}

#[test]
fn members_of_small_and_large_flows_are_listed_newest_first() {
    let (scratch, template) = (Scratch::new(), Template::new());
    let [small, large] = [1, 2].map(|n| FlowId::from_uuid(Uuid::from_u128(n)));
    for n in 0..MANY {
        let flow = if n % 100 == 0 { small } else { large };
        scratch.insert(&template.execution(n, "lane", Some(flow)), true);
    }
    for (flow_id, count) in [(small, MANY.div_ceil(100)), (large, MANY - MANY.div_ceil(100))] {
        let filter = ExecutionFilter {
            flow_id: Some(flow_id),
            ..ExecutionFilter::default()
        };
        let (ids, _) = scratch.listed(&Listing::Executions(filter), 300);
        assert_eq!(ids.len() as u64, count);
        assert!(
            ids.is_sorted_by_key(|id| std::cmp::Reverse(number(*id))),
            "newest first"
        );
    }
}

#[test]
fn the_few_open_members_of_a_large_flow_are_all_found() {
    let (scratch, template) = (Scratch::new(), Template::new());
    let flow_id = FlowId::from_uuid(Uuid::from_u128(1));
    let mut open = BTreeSet::new();
    for n in 0..MANY {
        let execution = template.execution(n, "lane", Some(flow_id));
        scratch.insert(&execution, n % 1_000 == 0);
        if n % 1_000 == 0 {
            open.insert(execution.id);
        }
    }
    let (ids, pages) = scratch.listed(
        &Listing::Members {
            flow_id,
            open_only: true,
        },
        100,
    );
    assert_eq!(ids, open.into_iter().collect::<Vec<_>>());
    assert_eq!(pages, 3);
}

#[test]
fn a_range_of_time_holds_behind_the_cursor_of_another_one() {
    let (scratch, template) = (Scratch::new(), Template::new());
    for n in 0..20 {
        scratch.insert(&template.execution(n, "lane", None), true);
    }
    let within = |from, before| {
        Listing::Executions(ExecutionFilter {
            created_from: Some(Timestamp::from_millis(from)),
            created_before: Some(Timestamp::from_millis(before)),
            ..ExecutionFilter::default()
        })
    };
    let newer = scratch.page(&within(10, 20), None, 2).unwrap().next;
    let rows = scratch.page(&within(3, 6), newer, 10).unwrap().executions();
    assert_eq!(
        rows.iter()
            .map(|(execution, _)| number(execution.id))
            .collect::<Vec<_>>(),
        [5, 4, 3]
    );
}

#[test]
fn a_cursor_of_another_listing_is_refused() {
    let scratch = Scratch::new();
    let execution_id = ExecutionId::new(0, Uuid::nil());
    let cursors = [
        "executions:[1,2]",
        "executions:",
        "signals:\"nonsense\"",
        "signals:",
        "audit:{}",
        "feed:1-1",
    ];
    for text in cursors {
        for of in [Listing::Signals(execution_id), Listing::Audit(Partition::flow(0))] {
            let answer = scratch.page(&of, Some(Cursor(text.to_owned())), 10);
            assert_eq!(answer, Err(Error::InvalidCursor), "{text}");
        }
    }
}

/// The number an execution was made with.
fn number(id: ExecutionId) -> u64 {
    id.uuid().as_u64_pair().1
}
