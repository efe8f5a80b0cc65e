//! Reading flows page by page.

use std::collections::BTreeSet;

use ff_core::command::flow::{Assembly, CreateFlowWith};
use ff_core::command::operator::{Changed, SetTags};
use ff_core::command::page::PageRequest;
use ff_core::command::submit::CreateExecution;
use ff_core::error::Code;
use ff_core::fabric::{Fabric, On};
use ff_core::record::Tags;
use ff_core::time::Duration;
use ff_core::view::ListFlows;

use super::graph::diamond;
use super::world::{FLOW, World, code, definition, submission};

fn page(limit: usize) -> PageRequest {
    PageRequest {
        cursor: None,
        limit: Some(limit),
    }
}

#[tokio::test]
async fn every_edge_is_listed_once_whoever_joins_meanwhile() {
    for limit in [7, 50, 149, 150, 1_000] {
        let (world, _) = World::with(diamond(150)).await;
        let mut request = page(limit);
        let mut seen = Vec::new();
        loop {
            let edges = world.engine.list_edges(On::new(FLOW, request.clone())).await.unwrap();
            assert!(edges.items.len() <= limit);
            seen.extend(edges.items.into_iter().map(|edge| edge.id));
            request.cursor = edges.next;
            if request.cursor.is_none() {
                break;
            }
            world.pass(Duration::from_millis(1));
            let joins = CreateExecution {
                flow_id: Some(FLOW),
                ..submission()
            };
            world.engine.create_execution(joins).await.unwrap();
        }
        assert_eq!(seen.len(), 300, "pages of {limit}");
        assert_eq!(seen.into_iter().collect::<BTreeSet<_>>().len(), 300, "pages of {limit}");
    }
}

#[tokio::test]
async fn groups_are_listed_with_their_counts() {
    let (world, ids) = World::with(diamond(20)).await;
    world.complete(ids["source"]).await;
    let groups = world.engine.list_groups(On::new(FLOW, page(1_000))).await.unwrap();
    assert_eq!(groups.items.len(), 22);
    let sink = groups
        .items
        .iter()
        .find(|group| group.execution_id == ids["sink"])
        .unwrap();
    assert!(sink.waiting && sink.fixed);
    assert_eq!((sink.counts.applied, sink.counts.unresolved), (20, 20));
    let member = groups
        .items
        .iter()
        .find(|group| group.execution_id == ids["m3"])
        .unwrap();
    assert!(!member.waiting);
    assert_eq!(member.counts.satisfied, 1);
}

#[tokio::test]
async fn a_cursor_goes_on_only_in_the_listing_it_came_from() {
    let (world, _) = World::with(diamond(20)).await;
    let members = world.engine.list_members(On::new(FLOW, page(5))).await.unwrap();
    assert_eq!(members.items.len(), 5);
    let request = PageRequest {
        cursor: members.next,
        limit: None,
    };
    let refused = world.engine.list_groups(On::new(FLOW, request.clone())).await;
    assert_eq!(code(refused), Code::InvalidCursor);
    let further = world.engine.list_members(On::new(FLOW, request)).await.unwrap();
    assert_eq!(further.items.len(), 17);
    assert_eq!(
        code(world.engine.list_edges(On::new(FLOW, page(0))).await),
        Code::InvalidInput
    );
}

#[tokio::test]
async fn flows_are_listed_by_their_tags() {
    let world = World::new();
    let mut ids = Vec::new();
    for number in 0..5 {
        let mut definition = definition(Assembly::Open);
        definition.tags = Tags::from([("number".to_owned(), number.to_string())]);
        let flow_id = None;
        let created = world.engine.create_flow(CreateFlowWith { flow_id, definition }).await;
        ids.push(created.unwrap().flow_id);
    }
    let tagged = ListFlows {
        tag: Some(("number".to_owned(), "3".to_owned())),
        ..ListFlows::default()
    };
    let found = world.engine.list_flows(tagged.clone()).await.unwrap();
    assert_eq!(
        found.items.iter().map(|flow| flow.flow_id).collect::<Vec<_>>(),
        [ids[3]]
    );
    let tags = Tags::from([("number".to_owned(), "9".to_owned())]);
    let set = || SetTags { tags: tags.clone() };
    assert_eq!(
        world.engine.set_flow_tags(On::new(ids[3], set())).await.unwrap(),
        Changed::Now
    );
    assert_eq!(
        world.engine.set_flow_tags(On::new(ids[3], set())).await.unwrap(),
        Changed::Already
    );
    assert_eq!(world.engine.get_flow_tags(ids[3]).await.unwrap().tags, tags);
    assert_eq!(world.engine.list_flows(tagged).await.unwrap().items, []);
    let all = world.engine.list_flows(ListFlows::default()).await.unwrap();
    assert_eq!(all.items.len(), 5);
}
