//! The store forgets its last writes while somebody decides from them.

use ff_backend::transaction::CommitError;
use ff_core::record::{EdgeGroupPolicy, OnSatisfied, RecordKey};
use ff_core::state::PublicState as S;
use ff_core::time::Duration;

use super::graph::diamond;
use super::world::{Sketch, World};

fn chain() -> Sketch {
    Sketch::default().member("a", &[]).member("b", &["a"])
}

#[tokio::test]
async fn a_child_is_not_let_go_by_an_end_that_was_forgotten() {
    let (mut world, ids) = World::with(chain()).await;
    world.claim().await;
    // A process that does not know the lease leaves the child to the pump.
    world.restart();
    world.line.fail_over_before_writing(RecordKey::Execution(ids["b"]));
    world.complete(ids["a"]).await;
    assert_eq!(world.state(ids["a"]).await, S::Active, "its end was forgotten");
    assert_eq!(world.state(ids["b"]).await, S::WaitingChildren);
    world.advance(Duration::from_hours(2)).await;
    world.complete(ids["a"]).await;
    assert_eq!(world.state(ids["b"]).await, S::Waiting);
    world.assert_counted().await;
}

#[tokio::test]
async fn a_child_is_not_let_go_at_once_when_another_end_was_forgotten() {
    let sketch = Sketch::default()
        .member("a", &[])
        .member("b", &[])
        .member("both", &["a", "b"]);
    let (world, ids) = World::with(sketch).await;
    world.claim().await;
    world.line.fail_over_before_writing(RecordKey::Execution(ids["both"]));
    world.finish(ids["a"]).await;
    world.complete(ids["b"]).await;
    assert_eq!(world.state(ids["a"]).await, S::Active, "its end was forgotten");
    assert_eq!(world.state(ids["b"]).await, S::Completed);
    assert_eq!(world.state(ids["both"]).await, S::WaitingChildren);
    world.advance(Duration::from_hours(2)).await;
    world.complete(ids["a"]).await;
    assert_eq!(world.state(ids["both"]).await, S::Waiting);
    world.assert_counted().await;
}

#[tokio::test]
async fn a_child_is_let_go_although_its_edge_was_seen_resolved_before_that_was_forgotten() {
    let (mut world, ids) = World::with(chain()).await;
    world.claim().await;
    world.restart();
    world.finish(ids["a"]).await;
    let owed = world.kept();
    world.settle().await;
    let resolved = world.kept();
    world.fail_over(&owed);
    world.restart();
    // The upstream is read as it was, its edges as another process has left them; then that process's work is forgotten.
    world.line.list_edges_of(resolved);
    world.line.fail_over_before_writing(RecordKey::Execution(ids["a"]));
    world.settle().await;
    assert_eq!(world.state(ids["b"]).await, S::Waiting);
    world.assert_counted().await;
}

#[tokio::test]
async fn the_end_of_a_member_still_carries_its_consequences_in_a_later_generation() {
    let (world, ids) = World::with(chain().member("c", &["b"])).await;
    world.fail_over(&world.kept());
    // What is remembered of the flow is of the generation before.
    world.complete(ids["a"]).await;
    world.finish(ids["b"]).await;
    assert_eq!(world.claim().await, [ids["c"]]);
    world.assert_counted().await;
}

#[tokio::test]
async fn an_answer_to_a_forgotten_nudge_leaves_the_one_that_bears_its_stamp() {
    let two = EdgeGroupPolicy::Quorum {
        k: 2,
        on_satisfied: OnSatisfied::LetRun,
    };
    let sketch = Sketch::default()
        .member("a", &[])
        .member("b", &[])
        .member("c", &[])
        .joining("two", &["a", "b", "c"], two);
    let (mut world, ids) = World::with(sketch).await;
    world.claim().await;
    world.restart();
    world.complete(ids["a"]).await;
    let kept = world.kept();
    world.line.delay_answering(RecordKey::Execution(ids["two"]));
    world.fail(ids["b"]).await;
    world.fail_over(&kept);
    world.restart();
    world.finish(ids["c"]).await;
    world.engine.pump_pass().await.unwrap();
    assert_eq!(world.line.deliver_delayed().await, Err(CommitError::OtherGeneration));
    world.settle().await;
    assert_eq!(world.state(ids["two"]).await, S::Waiting);
}

#[tokio::test]
async fn members_whose_opening_was_forgotten_are_opened_again() {
    let world = World::new();
    let created = world.build(diamond(300).command(true)).await.unwrap();
    let kept = world.kept();
    world.engine.pump_pass().await.unwrap();
    world.fail_over(&kept);
    world.settle().await;
    world.complete(created.execution_ids[0]).await;
    assert_eq!(world.flow().await.counts.of(S::Waiting), 300);
    world.assert_counted().await;
}
