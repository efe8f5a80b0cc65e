//! What a client or an operator does to executions and lanes.

use super::support::faulty::{Call, Fault};
use super::support::{Held, World, code, work};
use ff_core::command::lane::SetLaneState;
use ff_core::command::lease::Renew;
use ff_core::command::operator::{
    CancelExecution, Cancelled, ChangePriority, Changed, HoldExecution, RevokeLease, Revoked,
};
use ff_core::command::submit::LaneState;
use ff_core::error::Code;
use ff_core::fabric::{Fabric, On};
use ff_core::id::ExecutionId;
use ff_core::name::{LaneId, Namespace, RequestId};
use ff_core::record::CancelSource;
use ff_core::state::{PublicState, public_state};

fn cancel(id: ExecutionId, by: Option<Held>) -> On<ExecutionId, CancelExecution> {
    let command = CancelExecution {
        reason: "enough".to_owned(),
        fence: by.map(|held| held.fence),
    };
    On::new(id, command)
}

fn renewal(held: Held) -> On<ExecutionId, Renew> {
    let fence = Some(held.fence);
    On::new(
        held.id,
        Renew {
            fence,
            ..Renew::default()
        },
    )
}

#[tokio::test]
async fn a_cancelled_execution_stays_cancelled_and_its_worker_learns_it() {
    let world = World::new();
    let held = world.running(work()).await;
    world.engine.renew(renewal(held)).await.unwrap();
    assert_eq!(
        world.engine.cancel_execution(cancel(held.id, None)).await.unwrap(),
        Cancelled::Now
    );
    assert_eq!(
        world.engine.cancel_execution(cancel(held.id, None)).await.unwrap(),
        Cancelled::Already
    );
    assert_eq!(code(world.engine.renew(renewal(held)).await), Code::ExecutionNotActive);
    let outcome = world.read(held.id).outcome().unwrap().clone();
    assert_eq!(outcome.cancel_source, Some(CancelSource::OperatorOverride));
}

#[tokio::test]
async fn a_holder_cancels_its_own_execution() {
    let world = World::new();
    let held = world.running(work()).await;
    world.backend.script(Call::Commit, Fault::lost());
    let cancelled = world
        .engine
        .cancel_execution(cancel(held.id, Some(held)))
        .await
        .unwrap();
    assert_eq!(cancelled, Cancelled::Now);
    let outcome = world.read(held.id).outcome().unwrap().clone();
    assert_eq!(outcome.cancel_source, Some(CancelSource::LeaseHolder));
}

#[tokio::test]
async fn a_revocation_acts_once_per_request() {
    let world = World::new();
    let held = world.running(work()).await;
    let command = RevokeLease {
        reason: None,
        expected_lease_epoch: None,
        request_id: Some(RequestId::parse("request-1").unwrap()),
    };
    let command = On::new(held.id, command);
    assert_eq!(world.engine.revoke_lease(command.clone()).await.unwrap(), Revoked::Now);
    assert_eq!(world.engine.revoke_lease(command).await.unwrap(), Revoked::Now);
    assert_eq!(code(world.engine.renew(renewal(held)).await), Code::LeaseRevoked);
}

#[tokio::test]
async fn priority_and_hold_are_facts_that_are_set_once() {
    let world = World::new();
    let id = world.submit(work()).await;
    let higher = On::new(id, ChangePriority { priority: 7 });
    assert_eq!(
        world.engine.change_priority(higher.clone()).await.unwrap(),
        Changed::Now
    );
    assert_eq!(world.engine.change_priority(higher).await.unwrap(), Changed::Already);
    let hold = On::new(id, HoldExecution { reason: None });
    assert_eq!(world.engine.hold(hold.clone()).await.unwrap(), Changed::Now);
    assert_eq!(world.engine.hold(hold).await.unwrap(), Changed::Already);
    assert_eq!(world.engine.unhold(id).await.unwrap(), Changed::Now);
    assert_eq!(world.engine.unhold(id).await.unwrap(), Changed::Already);
    assert_eq!(
        (world.read(id).priority, public_state(&world.read(id))),
        (7, PublicState::Waiting)
    );
}

#[tokio::test]
async fn another_namespace_is_an_unknown_place() {
    let world = World::new();
    let id = world.submit(work()).await;
    let stranger = world.bound_to("elsewhere");
    assert_eq!(
        code(stranger.cancel_execution(cancel(id, None)).await),
        Code::ExecutionNotFound
    );
    assert_eq!(code(stranger.unhold(id).await), Code::ExecutionNotFound);
    let pause = SetLaneState {
        namespace: Namespace::default_namespace(),
        lane_id: LaneId::default_lane(),
        state: LaneState::Paused,
    };
    assert_eq!(code(stranger.set_lane_state(pause.clone()).await), Code::Forbidden);
    assert_eq!(world.engine.set_lane_state(pause.clone()).await.unwrap(), Changed::Now);
    assert_eq!(world.engine.set_lane_state(pause).await.unwrap(), Changed::Already);
}
