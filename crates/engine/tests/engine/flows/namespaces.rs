//! A caller bound to a namespace sees flows of others exactly as unknown ones.

use ff_core::command::flow::{CancelFlow, CreateFlowWith, ReplayExecution, SetEdgeGroupPolicy};
use ff_core::command::operator::SetTags;
use ff_core::command::page::PageRequest;
use ff_core::error::Code;
use ff_core::fabric::{Flows, On, Operate};
use ff_core::record::{Actor, CancelFlowPolicy, EdgeGroupPolicy, Tags};
use ff_core::time::Duration;
use ff_core::view::ListFlows;
use ff_engine::Caller;

use super::world::{FLOW, Sketch, World, code, definition};

#[tokio::test]
async fn a_stranger_finds_nothing() {
    let (world, ids) = World::with(Sketch::default().member("a", &[])).await;
    let stranger = world.engine.acting_as(Caller {
        actor: Actor::Anonymous,
        namespace: Some("other".parse().unwrap()),
    });
    let cancel = CancelFlow {
        reason: "mine".to_owned(),
        policy: CancelFlowPolicy::CancelAll,
        wait: Duration::from_secs(30),
    };
    let first = PageRequest::default;
    let unknown = [
        code(stranger.get_flow(FLOW).await),
        code(stranger.open_flow(FLOW).await),
        code(stranger.get_flow_tags(FLOW).await),
        code(
            stranger
                .set_flow_tags(On::new(FLOW, SetTags { tags: Tags::new() }))
                .await,
        ),
        code(stranger.delete_flow(FLOW).await),
        code(stranger.cancel_flow(On::new(FLOW, cancel)).await),
        code(stranger.list_members(On::new(FLOW, first())).await),
        code(stranger.list_edges(On::new(FLOW, first())).await),
        code(stranger.list_groups(On::new(FLOW, first())).await),
        code(stranger.add_execution_to_flow(On::new(FLOW, ids["a"])).await),
    ];
    assert_eq!(unknown, [Code::FlowNotFound; 10]);
    let replay = On::new(ids["a"], ReplayExecution::default());
    assert_eq!(code(stranger.replay_execution(replay).await), Code::ExecutionNotFound);
    let policy = SetEdgeGroupPolicy {
        policy: EdgeGroupPolicy::AllOf,
    };
    let set = stranger.set_edge_group_policy(On::new(ids["a"], policy)).await;
    assert_eq!(code(set), Code::ExecutionNotFound);
    assert_eq!(stranger.list_flows(ListFlows::default()).await.unwrap().items, []);
    let named = ListFlows {
        namespace: Some(definition(Default::default()).namespace),
        ..ListFlows::default()
    };
    assert_eq!(code(stranger.list_flows(named).await), Code::Forbidden);
    let create = CreateFlowWith {
        flow_id: None,
        definition: definition(Default::default()),
    };
    assert_eq!(code(stranger.create_flow(create).await), Code::Forbidden);
}
