//! Submitting: repetitions, lost replies, batches.

use std::collections::{BTreeMap, BTreeSet};

use super::support::faulty::{Call, Fault};
use super::support::{World, code, take, work};
use ff_core::command::budget::CreateBudget;
use ff_core::command::lane::SetLaneState;
use ff_core::command::operator::{Changed, SetTags};
use ff_core::command::submit::{CreateExecution, Created, LaneState};
use ff_core::error::Code;
use ff_core::fabric::{Fabric, On};
use ff_core::id::ExecutionId;
use ff_core::name::{IdempotencyKey, LaneId, Namespace};
use ff_core::payload::Payload;
use ff_core::record::{OnHardLimit, Tags};
use uuid::Uuid;

fn keyed(key: &str) -> CreateExecution {
    CreateExecution {
        idempotency_key: Some(IdempotencyKey::parse(key).unwrap()),
        ..work()
    }
}

fn with_id(id: ExecutionId) -> CreateExecution {
    CreateExecution {
        execution_id: Some(id),
        ..work()
    }
}

fn other_input() -> Payload {
    Payload::binary(&b"something else"[..])
}

fn duplicate(execution_id: ExecutionId) -> Created {
    Created::Duplicate {
        execution_id,
        content_differs: false,
    }
}

const GIVEN: ExecutionId = ExecutionId::new(3, Uuid::from_u128(5));

#[tokio::test]
async fn a_fresh_submission_is_one_commit_and_no_read_once_the_clock_is_known() {
    let world = World::new();
    for _ in 0..2_000 {
        world.submit(work()).await;
    }
    let (loads, commits) = (world.backend.count(Call::Load), world.backend.count(Call::Commit));
    // The first one in a partition asks for the time there.
    assert!(loads <= 256, "{loads} loads");
    for _ in 0..10 {
        world.submit(work()).await;
    }
    assert_eq!(world.backend.count(Call::Load), loads);
    assert_eq!(world.backend.count(Call::Commit), commits + 10);
}

#[tokio::test]
async fn the_same_id_is_a_duplicate_with_the_same_content_and_refused_with_another() {
    let world = World::new();
    let first = world.engine.create_execution(with_id(GIVEN)).await.unwrap();
    assert_eq!(first, Created::Created { execution_id: GIVEN });
    let second = world.engine.create_execution(with_id(GIVEN)).await.unwrap();
    assert_eq!(second, duplicate(GIVEN));
    let other = CreateExecution {
        input: other_input(),
        ..with_id(GIVEN)
    };
    assert_eq!(code(world.engine.create_execution(other).await), Code::AlreadyExists);
}

#[tokio::test]
async fn the_same_key_answers_the_first_id_and_says_when_the_content_differs() {
    let world = World::new();
    let first = world.submit(keyed("order-1")).await;
    let second = world.engine.create_execution(keyed("order-1")).await.unwrap();
    assert_eq!(second, duplicate(first));
    let other = CreateExecution {
        input: other_input(),
        ..keyed("order-1")
    };
    let third = world.engine.create_execution(other).await.unwrap();
    let differs = Created::Duplicate {
        execution_id: first,
        content_differs: true,
    };
    assert_eq!(third, differs);
}

#[tokio::test]
async fn a_given_id_must_live_where_its_key_does() {
    let world = World::new();
    let command = keyed("order-1");
    let key = command.idempotency_key.clone().unwrap();
    let partition = world.counts.of_idempotency_key(&command.namespace, &key);
    let id = |index| ExecutionId::new(index, Uuid::from_u128(5));
    let elsewhere = CreateExecution {
        execution_id: Some(id((partition.index + 1) % 256)),
        ..command.clone()
    };
    assert_eq!(code(world.engine.create_execution(elsewhere).await), Code::InvalidInput);
    let there = CreateExecution {
        execution_id: Some(id(partition.index)),
        ..command
    };
    assert_eq!(world.submit(there).await, id(partition.index));
    let nowhere = with_id(id(256));
    assert_eq!(code(world.engine.create_execution(nowhere).await), Code::InvalidId);
}

#[tokio::test]
async fn a_lost_reply_creates_one_execution_and_answers_created() {
    for command in [work(), keyed("order-1"), with_id(GIVEN)] {
        let world = World::new();
        world.backend.script(Call::Commit, Fault::lost());
        let created = world.engine.create_execution(command).await.unwrap();
        assert!(matches!(created, Created::Created { .. }), "{created:?}");
        assert_eq!(world.executions(), 1);
    }
}

#[tokio::test]
async fn a_lost_reply_is_recognised_although_a_worker_took_the_execution_meanwhile() {
    for command in [work(), keyed("order-1")] {
        let world = World::new();
        let taken = Fault::Lost(Box::new(|memory| {
            take(memory, 1);
        }));
        world.backend.script(Call::Commit, taken);
        let created = world.engine.create_execution(command).await.unwrap();
        assert!(matches!(created, Created::Created { .. }), "{created:?}");
        assert_eq!(world.executions(), 1);
    }
}

#[tokio::test]
async fn a_store_that_is_down_for_a_moment_costs_nothing_but_time() {
    let world = World::new();
    world.backend.script(Call::Commit, Fault::Down);
    world.backend.script(Call::Load, Fault::Down);
    world.submit(keyed("order-1")).await;
    assert_eq!(world.executions(), 1);
}

#[tokio::test]
async fn a_repetition_is_answered_whatever_became_of_its_budget_and_lane() {
    let world = World::new();
    let budget = CreateBudget {
        budget_id: None,
        namespace: Namespace::default_namespace(),
        scope: "tokens".to_owned(),
        dimensions: BTreeMap::new(),
        reset_interval: None,
        on_hard_limit: OnHardLimit::Block,
    };
    let budget_id = world.engine.create_budget(budget).await.unwrap().budget_id;
    let mut command = keyed("order-1");
    command.policy.budget_ids = [budget_id].into();
    let first = world.submit(command.clone()).await;

    world.engine.delete_budget(budget_id).await.unwrap();
    let again = world.engine.create_execution(command.clone()).await.unwrap();
    assert_eq!(again, duplicate(first));
    let fresh = CreateExecution {
        idempotency_key: None,
        ..command.clone()
    };
    assert_eq!(code(world.engine.create_execution(fresh).await), Code::BudgetNotFound);

    let drain = SetLaneState {
        namespace: command.namespace.clone(),
        lane_id: command.lane_id.clone(),
        state: LaneState::Draining,
    };
    assert_eq!(world.engine.set_lane_state(drain).await.unwrap(), Changed::Now);
    assert_eq!(world.engine.create_execution(command).await.unwrap(), duplicate(first));
    assert_eq!(
        code(world.engine.create_execution(work()).await),
        Code::LaneNotAccepting
    );
}

#[tokio::test]
async fn a_bad_item_of_a_batch_fails_alone_and_the_order_is_kept() {
    let world = World::new();
    let refused = CreateExecution {
        priority: 9_001,
        ..work()
    };
    let items = vec![
        with_id(GIVEN),
        refused,
        work(),
        with_id(GIVEN),
        keyed("order-1"),
        keyed("order-1"),
    ];
    let answers = world.engine.create_executions(items).await.unwrap();
    assert_eq!(answers[0], Ok(Created::Created { execution_id: GIVEN }));
    assert_eq!(code(answers[1].clone()), Code::InvalidInput);
    assert!(matches!(answers[2], Ok(Created::Created { .. })));
    assert_eq!(answers[3], Ok(duplicate(GIVEN)));
    let Ok(Created::Created { execution_id: first }) = answers[4] else {
        panic!("{:?}", answers[4])
    };
    assert_eq!(answers[5], Ok(duplicate(first)));
    assert_eq!(world.executions(), 3);
}

#[tokio::test]
async fn a_batch_shares_partitions_and_calls() {
    let world = World::new();
    let answers = world.engine.create_executions(vec![work(); 1_000]).await.unwrap();
    let ids: Vec<ExecutionId> = answers
        .into_iter()
        .map(|answer| match answer.unwrap() {
            Created::Created { execution_id: id } => id,
            other => panic!("{other:?}"),
        })
        .collect();
    let partitions: BTreeSet<_> = ids.iter().map(|id| id.partition()).collect();
    assert!((2..=16).contains(&partitions.len()), "{} partitions", partitions.len());
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), 1_000);
    let commits = world.backend.count(Call::Commit);
    assert!(commits <= 50, "{commits} commits");
}

#[tokio::test]
async fn a_batch_may_be_empty_but_not_too_large() {
    let world = World::new();
    assert_eq!(world.engine.create_executions(Vec::new()).await.unwrap(), Vec::new());
    let too_many = vec![work(); 1_001];
    assert_eq!(
        code(world.engine.create_executions(too_many).await),
        Code::BatchTooLarge
    );
}

#[tokio::test]
async fn a_refused_submission_creates_no_lane() {
    let world = World::new();
    let refused = CreateExecution {
        priority: 9_001,
        lane_id: LaneId::parse("never-used").unwrap(),
        ..work()
    };
    assert_eq!(code(world.engine.create_execution(refused).await), Code::InvalidInput);
    let lanes = ff_backend::settings::SettingsOp::List {
        prefix: "lane/".to_owned(),
        after: None,
        limit: 10,
    };
    let found = ff_backend::Backend::settings(&*world.backend, vec![lanes])
        .await
        .unwrap();
    assert_eq!(found, [ff_backend::settings::SettingsReply::Page(Vec::new())]);
}

#[tokio::test]
async fn a_bound_caller_reaches_nothing_of_another_namespace() {
    let world = World::new();
    let id = world.submit(work()).await;
    let stranger = world.bound_to("elsewhere");
    assert_eq!(code(stranger.create_execution(work()).await), Code::Forbidden);
    assert_eq!(code(stranger.get_input(id).await), Code::ExecutionNotFound);
    assert_eq!(code(stranger.get_tags(id).await), Code::ExecutionNotFound);
    let flow_id = world.create_flow(1, "default");
    let spying = CreateExecution {
        namespace: Namespace::parse("elsewhere").unwrap(),
        flow_id: Some(flow_id),
        ..keyed("order-1")
    };
    assert_eq!(code(stranger.create_execution(spying).await), Code::FlowNotFound);
}

#[tokio::test]
async fn tags_and_input_are_read_back() {
    let world = World::new();
    let id = world.submit(work()).await;
    assert_eq!(world.engine.get_input(id).await.unwrap(), work().input);
    let tags: Tags = [("team".to_owned(), "red".to_owned())].into();
    let set = On::new(id, SetTags { tags: tags.clone() });
    assert_eq!(world.engine.set_tags(set.clone()).await.unwrap(), Changed::Now);
    assert_eq!(world.engine.set_tags(set).await.unwrap(), Changed::Already);
    assert_eq!(world.engine.get_tags(id).await.unwrap().tags, tags);
}
