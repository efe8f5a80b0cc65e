//! Submitting: ids, keys, duplicates, lanes, what must exist.

use std::sync::Arc;

use ff_core::command::submit::{CreateExecution, Created, LaneState};
use ff_core::error::Code;
use ff_core::fabric::Result;
use ff_core::id::{BudgetId, ExecutionId, FlowId, QuotaPolicyId};
use ff_core::name::{ContentType, ExecutionKind, IdempotencyKey, Identity, Namespace};
use ff_core::payload::Payload;
use ff_core::state::PublicState;
use serde_json::json;
use uuid::Uuid;

use crate::Harness;
use crate::scene::{
    MINUTE, SECOND, Scene, WORKER, at_once, beside, fresh, in_lane, into_flow, lane, limited, other_namespace, refused,
    submission, under, with_policy,
};

pub(crate) async fn a_submission_is_read_back_as_it_was_given(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let command = CreateExecution {
        priority: 7,
        tags: [("team".to_owned(), "red".to_owned())].into(),
        creator_identity: Some(Identity::parse("me").unwrap()),
        ..submission()
    };
    let id = scene.submit(command).await;
    let view = scene.view(id).await;
    assert_eq!((view.priority, view.execution_kind.as_str()), (7, "job"));
    assert_eq!((view.namespace.as_str(), view.lane_id.as_str()), ("default", "default"));
    assert_eq!(view.creator_identity, Some(Identity::parse("me").unwrap()));
    assert_eq!(view.tags["team"], "red");
    assert_eq!(view.state.public_state, PublicState::Waiting);
    assert_eq!(
        scene.fabric.get_input(id).await.unwrap(),
        Payload::json(&json!({ "n": 1 }))
    );
}

pub(crate) async fn an_id_given_by_the_caller_is_kept(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let id = beside(scene.submit_plain().await);
    let given = CreateExecution {
        execution_id: Some(id),
        ..submission()
    };
    assert_eq!(scene.submit(given).await, id);
    assert_eq!(scene.view(id).await.execution_id, id);
}

pub(crate) async fn the_same_id_and_content_is_a_duplicate(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let id = scene.submit_plain().await;
    let again = CreateExecution {
        execution_id: Some(id),
        ..submission()
    };
    let answer = scene.fabric.create_execution(again).await.unwrap();
    assert_eq!(answer, duplicate_of(id, false));
}

pub(crate) async fn the_same_id_with_other_content_already_exists(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let id = scene.submit_plain().await;
    let other = CreateExecution {
        execution_id: Some(id),
        priority: 1,
        ..submission()
    };
    let answer = scene.fabric.create_execution(other).await;
    assert_eq!(refused(answer), Code::AlreadyExists);
    assert_eq!(scene.view(id).await.priority, 0, "the first one is untouched");
}

pub(crate) async fn a_uuid_given_by_the_caller_is_kept_and_a_repeated_submission_meets_itself(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let uuid = fresh();
    let id = scene.submit(named(uuid)).await;
    assert_eq!(id.uuid(), uuid);
    let again = scene.fabric.create_execution(named(uuid)).await.unwrap();
    assert_eq!(again, duplicate_of(id, false));
    let other = CreateExecution {
        priority: 1,
        ..named(uuid)
    };
    assert_eq!(refused(scene.fabric.create_execution(other).await), Code::AlreadyExists);
}

pub(crate) async fn a_uuid_lives_where_the_flow_or_the_key_of_its_execution_does(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let flow = scene.empty_flow().await;
    let member = scene.submit(into_flow(flow, &[])).await;
    let first = scene.submit(keyed("once")).await;
    let named_member = CreateExecution {
        execution_uuid: Some(fresh()),
        ..into_flow(flow, &[])
    };
    let id = scene.submit(named_member.clone()).await;
    assert_eq!(
        id,
        ExecutionId::new(member.partition().index, named_member.execution_uuid.unwrap())
    );
    let again = scene.fabric.create_execution(named_member).await.unwrap();
    assert_eq!(again, duplicate_of(id, false));
    let named_and_keyed = CreateExecution {
        execution_uuid: Some(fresh()),
        ..keyed("once")
    };
    let answer = scene.fabric.create_execution(named_and_keyed).await.unwrap();
    assert_eq!(answer, duplicate_of(first, false), "the key has an execution already");
}

pub(crate) async fn an_id_and_a_uuid_exclude_each_other(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let both = CreateExecution {
        execution_id: Some(beside(scene.submit_plain().await)),
        ..named(fresh())
    };
    assert_eq!(refused(scene.fabric.create_execution(both).await), Code::InvalidInput);
}

pub(crate) async fn a_repeated_batch_of_uuids_meets_itself(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let mut batch: Vec<_> = (0..20).map(|_| named(fresh())).collect();
    // Neither what lives elsewhere nor what has no name of its own moves the others.
    batch.insert(0, keyed("once"));
    batch.insert(3, submission());
    let created = |answer: &Result<Created>| match answer {
        Ok(Created::Created { execution_id } | Created::Duplicate { execution_id, .. }) => *execution_id,
        Err(refusal) => panic!("{refusal}"),
    };
    let first = scene.fabric.create_executions(batch.clone()).await.unwrap();
    let again = scene.fabric.create_executions(batch.clone()).await.unwrap();
    for ((command, first), again) in batch.iter().zip(&first).zip(&again) {
        if let Some(uuid) = command.execution_uuid {
            assert_eq!((created(first).uuid(), created(again)), (uuid, created(first)));
            assert_eq!(again, &Ok(duplicate_of(created(first), false)));
        }
    }
}

pub(crate) async fn an_id_of_another_namespace_already_exists_and_nothing_is_said_of_it(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let theirs = CreateExecution {
        namespace: Namespace::parse("hidden-namespace").unwrap(),
        lane_id: lane("hidden-lane"),
        execution_kind: ExecutionKind::parse("hidden-kind").unwrap(),
        creator_identity: Some(Identity::parse("hidden-person").unwrap()),
        tags: [("hidden-tag".to_owned(), "hidden-value".to_owned())].into(),
        ..submission()
    };
    let id = scene.submit(theirs.clone()).await;
    let under_it = |command| CreateExecution {
        execution_id: Some(id),
        namespace: Namespace::default_namespace(),
        ..command
    };
    // Not even whether it is the same but for the namespace.
    let mut answers = Vec::new();
    for command in [submission(), theirs] {
        answers.push(scene.fabric.create_execution(under_it(command)).await.unwrap_err());
    }
    assert_eq!(answers[0], answers[1]);
    assert_eq!(answers[0].code, Code::AlreadyExists);
    let said = format!("{:?}", answers[0]);
    assert!(!said.contains("hidden"), "{said}");
}

pub(crate) async fn an_idempotency_key_answers_the_first_execution(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let first = scene.submit(keyed("once")).await;
    let again = scene.fabric.create_execution(keyed("once")).await.unwrap();
    assert_eq!(again, duplicate_of(first, false));
    let other = CreateExecution {
        priority: 1,
        ..keyed("once")
    };
    let answer = scene.fabric.create_execution(other).await.unwrap();
    assert_eq!(answer, duplicate_of(first, true));
}

pub(crate) async fn a_key_is_unique_per_namespace(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let first = scene.submit(keyed("once")).await;
    let of_another = CreateExecution {
        namespace: other_namespace(),
        ..keyed("once")
    };
    assert_ne!(scene.submit(of_another).await, first);
}

pub(crate) async fn a_key_of_a_member_is_unique_per_flow(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let (one, two) = (scene.empty_flow().await, scene.empty_flow().await);
    let member = |flow| CreateExecution {
        flow_id: Some(flow),
        ..keyed("once")
    };
    scene.submit(keyed("once")).await;
    let first = scene.submit(member(one)).await;
    scene.submit(member(two)).await;
    let again = scene.fabric.create_execution(member(one)).await.unwrap();
    assert_eq!(again, duplicate_of(first, false));
}

pub(crate) async fn a_key_outlives_its_execution(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let short_lived = CreateExecution {
        idempotency_key: keyed("once").idempotency_key,
        ..with_policy(&json!({ "retention_ms": 60_000 }))
    };
    let id = scene.submit(short_lived.clone()).await;
    scene.cancel(id).await.unwrap();
    scene.after(MINUTE).await;
    assert_eq!(refused(scene.fabric.get_execution(id).await), Code::ExecutionNotFound);
    let again = scene.fabric.create_execution(short_lived).await.unwrap();
    assert_eq!(again, duplicate_of(id, false));
}

pub(crate) async fn a_key_is_free_after_its_window(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let forgetful = CreateExecution {
        idempotency_key: keyed("once").idempotency_key,
        ..with_policy(&json!({ "dedup_window_ms": 60_000 }))
    };
    let first = scene.submit(forgetful.clone()).await;
    scene.after(MINUTE).await;
    assert_ne!(scene.submit(forgetful).await, first);
}

pub(crate) async fn an_id_and_a_key_must_be_of_one_partition(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let first = scene.submit(keyed("once")).await;
    let with_id = |id| CreateExecution {
        execution_id: Some(id),
        ..keyed("once")
    };
    let together = scene.fabric.create_execution(with_id(beside(first))).await.unwrap();
    assert_eq!(together, duplicate_of(first, false));
    let Some(apart) = scene.of_another_partition(first).await else {
        return;
    };
    let answer = scene.fabric.create_execution(with_id(beside(apart))).await;
    assert_eq!(refused(answer), Code::InvalidInput);
}

pub(crate) async fn the_same_id_submitted_at_once_is_created_once(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let id = beside(scene.submit_plain().await);
    let given = CreateExecution {
        execution_id: Some(id),
        ..submission()
    };
    assert_eq!(created_at_once(&scene, &given).await, 1);
}

pub(crate) async fn the_same_key_submitted_at_once_is_created_once(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    assert_eq!(created_at_once(&scene, &keyed("once")).await, 1);
}

/// How many of eight submissions at the same time were told to be the first.
async fn created_at_once(scene: &Scene<'_>, command: &CreateExecution) -> usize {
    let submissions = (0..8).map(|_| {
        let (fabric, command) = (Arc::clone(&scene.fabric), command.clone());
        async move { fabric.create_execution(command).await }
    });
    let answers = at_once(submissions).await;
    let created = answers
        .iter()
        .filter(|answer| matches!(answer, Ok(Created::Created { .. })));
    created.count()
}

pub(crate) async fn a_bad_item_does_not_fail_the_others(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let bad = CreateExecution {
        priority: 9_001,
        ..submission()
    };
    let answers = scene
        .fabric
        .create_executions(vec![submission(), bad, submission()])
        .await
        .unwrap();
    assert!(matches!(answers[0], Ok(Created::Created { .. })));
    assert_eq!(answers[1].as_ref().unwrap_err().code, Code::InvalidInput);
    assert!(matches!(answers[2], Ok(Created::Created { .. })));
}

pub(crate) async fn a_batch_is_answered_in_order(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let items = (0..100).map(|priority| CreateExecution {
        priority,
        ..submission()
    });
    let answers = scene.fabric.create_executions(items.collect()).await.unwrap();
    assert_eq!(answers.len(), 100);
    for (priority, answer) in (0..).zip(answers) {
        let Created::Created { execution_id: id } = answer.unwrap() else {
            panic!("every item is new");
        };
        assert_eq!(scene.view(id).await.priority, priority);
    }
}

pub(crate) async fn a_batch_is_handed_out_in_the_order_it_was_submitted(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let answers = scene.fabric.create_executions(vec![submission(); 50]).await.unwrap();
    let id = |answer| match answer {
        Ok(Created::Created { execution_id: id }) => id,
        other => panic!("not new: {other:?}"),
    };
    let submitted: Vec<_> = answers.into_iter().map(id).collect();
    let mut handed_out = Vec::new();
    while let Some(task) = scene.try_claim(WORKER).await {
        handed_out.push(task.execution_id);
    }
    assert_eq!(handed_out, submitted);
}

pub(crate) async fn a_repeated_item_of_a_batch_is_a_duplicate(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let answers = scene
        .fabric
        .create_executions(vec![keyed("a"), keyed("a"), keyed("b")])
        .await
        .unwrap();
    let created = answers
        .iter()
        .filter(|answer| matches!(answer, Ok(Created::Created { .. })));
    assert_eq!(created.count(), 2);
    assert!(answers.iter().all(Result::is_ok));
}

pub(crate) async fn a_batch_has_at_most_1_000_items(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let answer = scene.fabric.create_executions(vec![submission(); 1_001]).await;
    assert_eq!(refused(answer), Code::BatchTooLarge);
    assert!(scene.try_claim(WORKER).await.is_none(), "none of it was submitted");
    assert!(scene.fabric.create_executions(Vec::new()).await.unwrap().is_empty());
}

pub(crate) async fn a_draining_or_disabled_lane_takes_no_new_work(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    for state in [LaneState::Draining, LaneState::Disabled] {
        scene.set_lane("closed", state).await;
        let answer = scene.fabric.create_execution(in_lane("closed")).await;
        assert_eq!(refused(answer), Code::LaneNotAccepting);
    }
}

pub(crate) async fn a_repetition_is_answered_whatever_became_of_its_lane(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let first = scene.submit(keyed("once")).await;
    scene.set_lane("default", LaneState::Disabled).await;
    let again = scene.fabric.create_execution(keyed("once")).await.unwrap();
    assert_eq!(again, duplicate_of(first, false));
}

pub(crate) async fn bytes_come_back_as_they_were_given(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let every_byte: Vec<u8> = (0..=255).chain([0, 0xc3, 0x28]).collect();
    let input = Payload {
        bytes: every_byte.into(),
        content_type: ContentType::parse("application/x-odd").unwrap(),
    };
    let command = CreateExecution {
        input: input.clone(),
        ..submission()
    };
    let task = scene.running(command).await;
    assert_eq!(scene.fabric.get_input(task.execution_id).await.unwrap(), input);
    assert_eq!(task.input, input);
}

pub(crate) async fn budgets_and_quotas_must_exist_in_the_namespace(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let nothing = BudgetId::from_uuid(fresh());
    let answer = scene.fabric.create_execution(under(nothing)).await;
    assert_eq!(refused(answer), Code::BudgetNotFound);
    let nothing = QuotaPolicyId::from_uuid(fresh());
    let answer = scene.fabric.create_execution(limited(nothing)).await;
    assert_eq!(refused(answer), Code::QuotaPolicyNotFound);
    let foreign = CreateExecution {
        namespace: other_namespace(),
        ..under(scene.budget().await)
    };
    let answer = scene.fabric.create_execution(foreign).await;
    assert_eq!(refused(answer), Code::BudgetNotFound);
}

pub(crate) async fn dependencies_need_a_flow(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let upstream = scene.submit_plain().await;
    let alone = CreateExecution {
        flow_id: None,
        ..into_flow(FlowId::from_uuid(fresh()), &[upstream])
    };
    assert_eq!(refused(scene.fabric.create_execution(alone).await), Code::InvalidInput);
    let lost = into_flow(FlowId::from_uuid(fresh()), &[]);
    assert_eq!(refused(scene.fabric.create_execution(lost).await), Code::FlowNotFound);
}

pub(crate) async fn a_deadline_in_the_past_is_refused(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let late = CreateExecution {
        execution_deadline_at: Some(scene.now().await - SECOND),
        ..submission()
    };
    assert_eq!(refused(scene.fabric.create_execution(late).await), Code::InvalidInput);
}

fn named(uuid: Uuid) -> CreateExecution {
    CreateExecution {
        execution_uuid: Some(uuid),
        ..submission()
    }
}

fn keyed(key: &str) -> CreateExecution {
    CreateExecution {
        idempotency_key: Some(IdempotencyKey::parse(key).unwrap()),
        ..submission()
    }
}

const fn duplicate_of(execution_id: ExecutionId, content_differs: bool) -> Created {
    Created::Duplicate {
        execution_id,
        content_differs,
    }
}
