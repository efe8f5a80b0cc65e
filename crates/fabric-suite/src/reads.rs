//! Reading executions: views, listings, histories, waiting.

use std::collections::BTreeSet;
use std::sync::Arc;

use ff_core::command::page::{ListOf, PageRequest};
use ff_core::command::signal::ListApprovals;
use ff_core::command::submit::CreateExecution;
use ff_core::error::Code;
use ff_core::fabric::On;
use ff_core::id::ExecutionId;
use ff_core::name::{Category, ExecutionKind, Namespace, WorkerId};
use ff_core::record::{Actor, Happening};
use ff_core::state::{
    AttemptState, BlockingReason, EligibilityState, LifecyclePhase, OwnershipState, PublicState, StateVector,
    TerminalOutcome,
};
use ff_core::time::Duration;
use ff_core::token::SignedCursor;
use ff_core::view::{ListExecutions, ListFlows, ListOrder, ReadEvents, WaitForEnd, WantedTag};
use serde_json::json;

use crate::Harness;
use crate::scene::{
    MINUTE, Scene, WORKER, all, elsewhere, first, fresh, in_lane, instance, lane, list, nobody, other_namespace,
    promptly, refused, retrying, submission, with_policy,
};

pub(crate) async fn an_unknown_execution_is_not_found(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let (id, fabric) = (nobody(), &scene.fabric);
    let at_once = WaitForEnd { wait: Duration::ZERO };
    let answers = [
        refused(fabric.get_execution(id).await),
        refused(fabric.get_state(id).await),
        refused(scene.result(id).await),
        refused(fabric.get_input(id).await),
        refused(fabric.get_tags(id).await),
        refused(fabric.explain(id).await),
        refused(fabric.get_history(On::new(id, all())).await),
        refused(fabric.list_attempts(On::new(id, all())).await),
        refused(fabric.list_signals(On::new(id, all())).await),
        refused(fabric.list_pending_waitpoints(id).await),
        refused(fabric.wait_for_end(On::new(id, at_once)).await),
    ];
    assert_eq!(answers, [Code::ExecutionNotFound; 11]);
}

pub(crate) async fn an_id_of_no_partition_is_invalid(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let impossible = ExecutionId::new(u16::MAX, fresh());
    assert_eq!(refused(scene.fabric.get_execution(impossible).await), Code::InvalidId);
    let given = CreateExecution {
        execution_id: Some(impossible),
        ..submission()
    };
    assert_eq!(refused(scene.fabric.create_execution(given).await), Code::InvalidId);
}

pub(crate) async fn a_waiting_execution_reads_as_waiting(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    scene.register(WORKER).await;
    let id = scene.submit_plain().await;
    let expected = StateVector {
        lifecycle_phase: LifecyclePhase::Runnable,
        ownership_state: OwnershipState::Unowned,
        eligibility_state: EligibilityState::EligibleNow,
        blocking_reason: BlockingReason::WaitingForWorker,
        terminal_outcome: TerminalOutcome::None,
        attempt_state: AttemptState::PendingFirstAttempt,
        public_state: PublicState::Waiting,
    };
    assert_eq!(scene.vector(id).await, expected);
    let view = scene.view(id).await;
    assert_eq!((view.attempt_index, view.attempt_count, view.lease_epoch), (None, 0, 0));
    assert!(view.started_at.is_none() && view.completed_at.is_none() && view.worker.is_none());
}

pub(crate) async fn a_running_execution_reads_as_running(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let expected = StateVector {
        lifecycle_phase: LifecyclePhase::Active,
        ownership_state: OwnershipState::Leased,
        eligibility_state: EligibilityState::NotApplicable,
        blocking_reason: BlockingReason::None,
        terminal_outcome: TerminalOutcome::None,
        attempt_state: AttemptState::RunningAttempt,
        public_state: PublicState::Active,
    };
    let view = scene.view(task.execution_id).await;
    assert_eq!(view.state.state_vector, expected);
    assert_eq!((view.attempt_index, view.attempt_count), (Some(0), 1));
    assert_eq!(view.worker.unwrap().as_str(), WORKER);
    assert_eq!(view.worker_instance, Some(instance(WORKER)));
    assert_eq!(
        (view.lease_epoch, view.lease_expires_at),
        (task.fence.lease_epoch, Some(task.expires_at))
    );
    assert!(view.started_at.is_some());
}

pub(crate) async fn an_ended_execution_reads_as_ended(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    scene.complete(&task).await.unwrap();
    let expected = StateVector {
        lifecycle_phase: LifecyclePhase::Terminal,
        ownership_state: OwnershipState::Unowned,
        eligibility_state: EligibilityState::NotApplicable,
        blocking_reason: BlockingReason::None,
        terminal_outcome: TerminalOutcome::Success,
        attempt_state: AttemptState::AttemptTerminal,
        public_state: PublicState::Completed,
    };
    let view = scene.view(task.execution_id).await;
    assert_eq!(view.state.state_vector, expected);
    assert!(view.completed_at.is_some() && view.lease_expires_at.is_none());
    assert!(view.result_bytes.unwrap() > 0);
}

pub(crate) async fn a_lease_id_is_never_shown(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.held(submission()).await;
    scene.revoke(task.execution_id).await.unwrap();
    let secret = task.fence.lease_id.expose().to_string();
    let shown = [
        serde_json::to_string(&scene.view(task.execution_id).await).unwrap(),
        serde_json::to_string(&scene.history(task.execution_id).await).unwrap(),
        format!(
            "{:?}",
            scene.fabric.list_attempts(On::new(task.execution_id, all())).await
        ),
        format!("{:?}", scene.fabric.explain(task.execution_id).await),
        format!("{:?}", scene.fabric.events(ReadEvents::default()).await),
        format!("{task:?}"),
    ];
    assert!(shown.iter().all(|text| !text.contains(&secret)));
}

pub(crate) async fn a_history_tells_what_happened_and_who_did_it(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    scene.hold(task.execution_id).await.unwrap();
    scene.complete(&task).await.unwrap();
    assert_eq!(
        scene.happenings(task.execution_id).await,
        ["created", "claimed", "held", "completed"]
    );
    let lines = scene.history(task.execution_id).await;
    let by_worker = Actor::Worker(instance(WORKER));
    assert_eq!((&lines[1].actor, &lines[3].actor), (&by_worker, &by_worker));
    assert_eq!(lines[2].detail.as_deref(), Some("look first"));
    assert_eq!(
        (lines[3].attempt_index, lines[3].lease_epoch),
        (Some(0), Some(task.fence.lease_epoch))
    );
    assert!(lines.is_sorted_by_key(|line| line.at));
}

pub(crate) async fn a_history_is_read_in_pages(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let id = scene.submit_plain().await;
    for _ in 0..3 {
        scene.hold(id).await.unwrap();
        scene.fabric.unhold(id).await.unwrap();
    }
    let one = scene.fabric.get_history(On::new(id, first(4))).await.unwrap();
    assert_eq!(one.items.len(), 4);
    let rest = PageRequest {
        cursor: one.next,
        limit: Some(4),
    };
    let two = scene.fabric.get_history(On::new(id, rest)).await.unwrap();
    assert_eq!((two.items.len(), two.items[2].what), (3, Happening::Unheld));
}

pub(crate) async fn attempts_are_read_in_pages(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let id = scene.submit(retrying(3)).await;
    for _ in 0..3 {
        let task = scene.claim(WORKER).await;
        scene.fail(&task, "transient").await.unwrap();
    }
    let one = scene.fabric.list_attempts(On::new(id, first(2))).await.unwrap();
    let rest = PageRequest {
        cursor: one.next,
        limit: Some(2),
    };
    let two = scene.fabric.list_attempts(On::new(id, rest)).await.unwrap();
    let indexes: Vec<_> = one
        .items
        .iter()
        .chain(&two.items)
        .map(|attempt| attempt.index)
        .collect();
    assert_eq!((indexes, two.next), (vec![0, 1, 2], None));
}

pub(crate) async fn executions_are_listed_newest_first(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let mut expected = scene.submit_in_turn(5).await;
    expected.reverse();
    assert_eq!(
        walk(
            &scene,
            ListExecutions {
                page: first(2),
                ..ListExecutions::default()
            }
        )
        .await,
        expected
    );
}

pub(crate) async fn executions_are_listed_by_what_they_are(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let job = scene.submit_plain().await;
    let fast = scene.submit(in_lane("fast")).await;
    let mail = CreateExecution {
        execution_kind: ExecutionKind::parse("mail").unwrap(),
        ..in_lane("slow")
    };
    let mail = scene.submit(mail).await;
    let foreign = scene.submit(elsewhere()).await;
    let any = ListExecutions::default;
    let by_lane = ListExecutions {
        lane: vec![lane("fast")],
        ..any()
    };
    assert_eq!(walk(&scene, by_lane).await, [fast]);
    let by_kind = ListExecutions {
        kind: vec![ExecutionKind::parse("mail").unwrap()],
        ..any()
    };
    assert_eq!(walk(&scene, by_kind).await, [mail]);
    let by_namespace = ListExecutions {
        namespace: Some(other_namespace()),
        ..any()
    };
    assert_eq!(walk(&scene, by_namespace).await, [foreign]);
    let both = ListExecutions {
        lane: vec![lane("fast")],
        kind: vec![ExecutionKind::parse("mail").unwrap()],
        ..any()
    };
    assert!(walk(&scene, both).await.is_empty());
    let here = ListExecutions {
        namespace: Some(Namespace::default_namespace()),
        ..any()
    };
    assert_eq!(
        BTreeSet::from_iter(walk(&scene, here).await),
        BTreeSet::from([job, fast, mail])
    );
}

pub(crate) async fn executions_are_listed_by_where_they_stand(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let waiting = scene.submit_plain().await;
    let in_state = |state| ListExecutions {
        state: vec![state],
        ..ListExecutions::default()
    };
    assert_eq!(walk(&scene, in_state(PublicState::Active)).await, [task.execution_id]);
    assert_eq!(walk(&scene, in_state(PublicState::Waiting)).await, [waiting]);
    scene.complete(&task).await.unwrap();
    assert!(walk(&scene, in_state(PublicState::Active)).await.is_empty());
    assert_eq!(
        walk(&scene, in_state(PublicState::Completed)).await,
        [task.execution_id]
    );
}

pub(crate) async fn executions_are_listed_by_flow_and_by_time(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let ids = scene.submit_in_turn(3).await;
    let flow = scene.empty_flow().await;
    let member = scene.join(flow, &[]).await;
    let of_flow = ListExecutions {
        flow_id: Some(flow),
        ..ListExecutions::default()
    };
    assert_eq!(walk(&scene, of_flow).await, [member]);
    let created_at = scene.view(ids[1]).await.created_at;
    let since = ListExecutions {
        created_from: Some(created_at),
        ..ListExecutions::default()
    };
    assert_eq!(walk(&scene, since).await, [member, ids[2], ids[1]]);
    let before = ListExecutions {
        created_before: Some(created_at),
        ..ListExecutions::default()
    };
    assert_eq!(walk(&scene, before).await, [ids[0]]);
}

pub(crate) async fn executions_are_listed_by_several_values(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    scene.after(Duration::from_millis(10)).await;
    let slow = scene.submit(in_lane("slow")).await;
    scene.after(Duration::from_millis(10)).await;
    let other = scene.submit(in_lane("other")).await;
    let any = || ListExecutions {
        page: first(1),
        ..ListExecutions::default()
    };
    let lanes = ListExecutions {
        lane: vec![lane("default"), lane("slow")],
        ..any()
    };
    assert_eq!(walk(&scene, lanes).await, [slow, task.execution_id]);
    let states = ListExecutions {
        state: vec![PublicState::Active, PublicState::Waiting],
        ..any()
    };
    assert_eq!(walk(&scene, states).await, [other, slow, task.execution_id]);
    let by_worker = ListExecutions {
        worker: Some(WorkerId::parse(WORKER).unwrap()),
        ..any()
    };
    assert_eq!(walk(&scene, by_worker).await, [task.execution_id]);
    scene.complete(&task).await.unwrap();
    let completed_at = scene.view(task.execution_id).await.completed_at.unwrap();
    let ended = |from, before| ListExecutions {
        ended_from: from,
        ended_before: before,
        ..any()
    };
    let later = completed_at + Duration::from_millis(1);
    assert_eq!(
        walk(&scene, ended(Some(completed_at), Some(later))).await,
        [task.execution_id]
    );
    assert!(walk(&scene, ended(Some(later), None)).await.is_empty());
    let page = scene.fabric.list_executions(ListExecutions::default()).await.unwrap();
    assert_eq!(
        (page.looked_at, page.reached_at),
        (3, Some(scene.view(task.execution_id).await.created_at))
    );
}

pub(crate) async fn executions_are_listed_by_all_of_several_tags(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let tagged = |tags: &[(&str, &str)]| CreateExecution {
        tags: tags
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect(),
        ..submission()
    };
    let both = scene.submit(tagged(&[("team", "red"), ("tier", "a=b")])).await;
    scene.submit(tagged(&[("team", "red")])).await;
    let wanted = |key: &str, value: &str| WantedTag {
        key: key.to_owned(),
        value: value.to_owned(),
    };
    let request = ListExecutions {
        tag: vec![wanted("team", "red"), wanted("tier", "a=b")],
        ..ListExecutions::default()
    };
    assert_eq!(walk(&scene, request).await, [both]);
}

pub(crate) async fn executions_are_listed_by_the_category_of_their_last_failure(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    scene.fail(&task, "permanent").await.unwrap();
    scene.submit_plain().await;
    let of = |category: &str| ListExecutions {
        category: Some(Category::parse(category).unwrap()),
        ..ListExecutions::default()
    };
    assert_eq!(walk(&scene, of("permanent")).await, [task.execution_id]);
    assert!(walk(&scene, of("transient")).await.is_empty());
}

pub(crate) async fn executions_are_listed_by_id_as_far_as_they_are_there(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let ids = scene.submit_in_turn(3).await;
    let unknown = ExecutionId::new(0, fresh());
    let request = ListExecutions {
        id: vec![ids[0], unknown, ids[2]],
        ..ListExecutions::default()
    };
    assert_eq!(walk(&scene, request).await, [ids[2], ids[0]]);
    let waiting = ListExecutions {
        id: vec![ids[0]],
        state: vec![PublicState::Completed],
        ..ListExecutions::default()
    };
    assert!(walk(&scene, waiting).await.is_empty(), "everything given must hold");
    let too_many = ListExecutions {
        id: vec![ids[0]; 101],
        ..ListExecutions::default()
    };
    assert_eq!(
        refused(scene.fabric.list_executions(too_many).await),
        Code::InvalidInput
    );
}

pub(crate) async fn what_waits_in_a_lane_is_listed_as_it_is_handed_out(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let mut ids = Vec::new();
    for priority in [0, 5, 0] {
        let command = CreateExecution {
            priority,
            ..in_lane("fast")
        };
        ids.push(scene.submit(command).await);
        scene.after(Duration::from_millis(10)).await;
    }
    let delayed = CreateExecution {
        delay_until: Some(scene.view(ids[0]).await.created_at + MINUTE),
        ..in_lane("fast")
    };
    scene.submit(delayed).await;
    scene.submit_plain().await;
    let next = || ListExecutions {
        lane: vec![lane("fast")],
        order: ListOrder::Next,
        page: first(2),
        ..ListExecutions::default()
    };
    assert_eq!(walk(&scene, next()).await, [ids[1], ids[0], ids[2]]);
    let wrong = [
        ListExecutions {
            lane: Vec::new(),
            ..next()
        },
        ListExecutions {
            lane: vec![lane("fast"), lane("slow")],
            ..next()
        },
        ListExecutions {
            state: vec![PublicState::Active],
            ..next()
        },
        ListExecutions {
            id: vec![ids[0]],
            ..next()
        },
    ];
    for wrong in wrong {
        assert_eq!(refused(scene.fabric.list_executions(wrong).await), Code::InvalidInput);
    }
}

/// Everything a listing shows, page by page.
async fn walk(scene: &Scene<'_>, mut request: ListExecutions) -> Vec<ExecutionId> {
    let mut seen = Vec::new();
    loop {
        let page = scene.fabric.list_executions(request.clone()).await.unwrap();
        seen.extend(page.items.iter().map(|view| view.execution_id));
        if page.next.is_none() {
            return seen;
        }
        request.page.cursor = page.next;
    }
}

pub(crate) async fn a_cursor_is_good_for_its_own_listing_only(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    scene.submit_in_turn(3).await;
    let one = ListExecutions {
        page: first(1),
        ..ListExecutions::default()
    };
    let cursor = scene.fabric.list_executions(one).await.unwrap().next;
    let other = ListExecutions {
        lane: vec![lane("default")],
        page: PageRequest {
            cursor: cursor.clone(),
            limit: None,
        },
        ..ListExecutions::default()
    };
    assert_eq!(refused(scene.fabric.list_executions(other).await), Code::InvalidCursor);
    let lanes = ListOf {
        page: PageRequest { cursor, limit: None },
        ..list()
    };
    assert_eq!(refused(scene.fabric.list_lanes(lanes).await), Code::InvalidCursor);
    let forged = PageRequest {
        cursor: Some(SignedCursor::from_text("forged")),
        limit: None,
    };
    let forged = ListExecutions {
        page: forged,
        ..ListExecutions::default()
    };
    assert_eq!(refused(scene.fabric.list_executions(forged).await), Code::InvalidCursor);
}

pub(crate) async fn a_page_has_1_to_1_000_entries(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let id = scene.submit_plain().await;
    for limit in [0, 1_001] {
        let fabric = &scene.fabric;
        let page = || first(limit);
        let answers = [
            refused(
                fabric
                    .list_executions(ListExecutions {
                        page: page(),
                        ..ListExecutions::default()
                    })
                    .await,
            ),
            refused(
                fabric
                    .list_flows(ListFlows {
                        page: page(),
                        ..ListFlows::default()
                    })
                    .await,
            ),
            refused(fabric.get_history(On::new(id, page())).await),
            refused(fabric.list_attempts(On::new(id, page())).await),
            refused(fabric.list_signals(On::new(id, page())).await),
            refused(fabric.list_workers(ListOf { page: page(), ..list() }).await),
            refused(fabric.list_lanes(ListOf { page: page(), ..list() }).await),
            refused(fabric.list_budgets(ListOf { page: page(), ..list() }).await),
            refused(fabric.list_quota_policies(ListOf { page: page(), ..list() }).await),
            refused(
                fabric
                    .approvals(ListApprovals {
                        page: page(),
                        ..ListApprovals::default()
                    })
                    .await,
            ),
            refused(
                fabric
                    .events(ReadEvents {
                        limit: Some(limit),
                        ..ReadEvents::default()
                    })
                    .await,
            ),
        ];
        assert_eq!(answers, [Code::InvalidInput; 11]);
    }
}

pub(crate) async fn who_waits_for_the_end_is_told_of_it(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let fabric = Arc::clone(&scene.fabric);
    let wait = On::new(
        task.execution_id,
        WaitForEnd {
            wait: Duration::from_secs(30),
        },
    );
    let parked = tokio::spawn(async move { fabric.wait_for_end(wait).await });
    scene.complete(&task).await.unwrap();
    let state = promptly(parked).await.unwrap().unwrap();
    assert_eq!(state.public_state, PublicState::Completed);
}

pub(crate) async fn waiting_no_time_shows_where_it_stands(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let id = scene.submit_plain().await;
    let wait = |wait| On::new(id, WaitForEnd { wait });
    let state = promptly(scene.fabric.wait_for_end(wait(Duration::ZERO))).await.unwrap();
    assert_eq!(state.public_state, PublicState::Waiting);
    scene.cancel(id).await.unwrap();
    let ended = promptly(scene.fabric.wait_for_end(wait(Duration::from_secs(30))))
        .await
        .unwrap();
    assert_eq!(ended.public_state, PublicState::Cancelled);
    let answer = scene.fabric.wait_for_end(wait(Duration::from_secs(31))).await;
    assert_eq!(refused(answer), Code::InvalidInput);
}

pub(crate) async fn an_execution_may_be_kept_for_ever(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let id = scene.submit(with_policy(&json!({ "retention_ms": "never" }))).await;
    let usual = scene.submit_plain().await;
    scene.cancel(id).await.unwrap();
    scene.cancel(usual).await.unwrap();
    scene.after(Duration::from_hours(24)).await;
    assert_eq!(
        refused(scene.fabric.get_execution(usual).await),
        Code::ExecutionNotFound
    );
    scene.after(Duration::from_hours(24 * 365)).await;
    assert_eq!(scene.state(id).await, PublicState::Cancelled);
}
