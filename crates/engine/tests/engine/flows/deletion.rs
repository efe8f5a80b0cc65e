//! What nobody needs any more.

use ff_backend::Backend;
use ff_backend::query::{Listing, Query};
use ff_core::command::operator::Changed;
use ff_core::error::Code;
use ff_core::fabric::Fabric;
use ff_core::id::ExecutionId;
use ff_core::partition::Partition;
use ff_core::state::PublicState as S;
use ff_core::time::Duration;
use uuid::Uuid;

use super::graph::diamond;
use super::world::{FLOW, Sketch, World, code, submission};

/// How many records the partition of the flow holds.
async fn records(world: &World, partition: Partition) -> usize {
    let query = Query {
        of: Listing::Audit(partition),
        after: None,
        limit: 1_000,
    };
    let page = world.line.list(query).await.unwrap();
    assert!(page.next.is_none(), "more than one page of records");
    page.audit().len()
}

#[tokio::test]
async fn an_ended_flow_goes_with_everything_when_its_retention_is_over() {
    let (world, ids) = World::with(diamond(150)).await;
    world.fail(ids["source"]).await;
    world.replay(ids["source"]).await;
    world.fail(ids["source"]).await;
    let partition = ids["sink"].partition();
    assert!(records(&world, partition).await > 450);
    world.advance(Duration::from_hours(23)).await;
    assert_eq!(world.state(ids["sink"]).await, S::Skipped);
    world.advance(Duration::from_hours(2)).await;
    assert_eq!(code(world.engine.get_flow(FLOW).await), Code::FlowNotFound);
    assert_eq!(code(world.engine.get_state(ids["sink"]).await), Code::ExecutionNotFound);
    assert_eq!(records(&world, partition).await, 0);
}

#[tokio::test]
async fn an_operator_deletes_an_ended_flow_at_once() {
    let (world, ids) = World::with(diamond(3)).await;
    assert_eq!(code(world.engine.delete_flow(FLOW).await), Code::ExecutionNotTerminal);
    world.fail(ids["source"]).await;
    assert_eq!(world.engine.delete_flow(FLOW).await.unwrap(), Changed::Now);
    world.settle().await;
    assert_eq!(code(world.engine.get_flow(FLOW).await), Code::FlowNotFound);
    assert_eq!(records(&world, ids["sink"].partition()).await, 0);
}

#[tokio::test]
async fn a_flow_that_is_never_opened_goes_after_an_hour() {
    let world = World::new();
    let created = world.build(diamond(100).command(false)).await.unwrap();
    world.advance(Duration::from_hours(2)).await;
    assert_eq!(code(world.engine.get_flow(FLOW).await), Code::FlowNotFound);
    assert_eq!(records(&world, created.execution_ids[0].partition()).await, 0);
}

#[tokio::test]
async fn a_flow_in_use_stays() {
    let (world, ids) = World::with(Sketch::default().member("a", &[]).member("b", &["a"])).await;
    world.complete(ids["a"]).await;
    world.advance(Duration::from_hours(100)).await;
    assert_eq!(world.state(ids["b"]).await, S::Waiting);
}

#[tokio::test]
async fn a_solo_execution_goes_with_its_attempts() {
    let world = World::new();
    let id = ExecutionId::new(2, Uuid::from_u128(77));
    let mut command = submission();
    command.execution_id = Some(id);
    world.engine.create_execution(command).await.unwrap();
    for _ in 0..3 {
        world.fail(id).await;
        world.replay(id).await;
    }
    world.complete(id).await;
    assert_eq!(records(&world, id.partition()).await, 4);
    world.advance(Duration::from_hours(25)).await;
    assert_eq!(code(world.engine.get_state(id).await), Code::ExecutionNotFound);
    assert_eq!(records(&world, id.partition()).await, 0);
}
