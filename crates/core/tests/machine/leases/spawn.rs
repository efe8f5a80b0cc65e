//! A holder adds to the flow its execution is a member of.

use ff_core::error::{Code, Rejection};
use ff_core::id::FlowId;
use ff_core::machine::Draft;
use ff_core::machine::lease::spawn;
use ff_core::record::{Fence, RecordKey};
use uuid::Uuid;

use crate::running::{Case, code, seconds};
use crate::support::{LEASE_TTL, START};

fn spawned(case: &Case, fence: &Fence) -> Result<Draft, Rejection> {
    let parent = case.execution();
    let flow = parent.definition.flow.unwrap_or(FlowId::from_uuid(Uuid::nil()));
    let mut draft = Draft::default();
    spawn(&mut draft, &parent, fence, flow, &case.context())?;
    Ok(draft)
}

#[test]
fn the_first_spawn_under_a_lease_confirms_it_and_lands_only_while_it_is_live() {
    let mut case = Case::member();
    case.claim();
    let draft = spawned(&case, &case.fence()).unwrap();
    let parent = draft.execution(case.id).unwrap();
    assert!(parent.lease().unwrap().confirmed);
    assert!(draft.guards.is_empty(), "what is written needs no guard");
    assert_eq!(draft.not_after, Some(START + seconds(10)));
}

#[test]
fn later_spawns_only_guard_on_the_parent() {
    let case = Case::member().leased();
    let draft = spawned(&case, &case.fence()).unwrap();
    assert!(draft.writes.is_empty());
    assert_eq!(draft.guards, [RecordKey::Execution(case.id)]);
    assert_eq!(draft.not_after, Some(START + LEASE_TTL));
}

#[test]
fn only_the_live_holder_spawns() {
    let mut case = Case::member().leased();
    let fence = case.fence();
    let other = Fence {
        lease_epoch: fence.lease_epoch + 1,
        ..fence
    };
    assert_eq!(code(spawned(&case, &other)), Code::StaleLease);
    case.pass(LEASE_TTL);
    assert_eq!(code(spawned(&case, &fence)), Code::LeaseExpired);
}

#[test]
fn a_holder_spawns_into_its_own_flow_only() {
    let case = Case::new().leased();
    assert_eq!(code(spawned(&case, &case.fence())), Code::ExecutionNotInFlow);
}
