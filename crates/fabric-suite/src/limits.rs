//! Sizes and counts: what is too much is refused and changes nothing.

use ff_core::command::lease::Complete;
use ff_core::command::submit::CreateExecution;
use ff_core::error::Code;
use ff_core::fabric::On;
use ff_core::id::{BudgetId, FlowId};
use ff_core::payload::Payload;
use ff_core::policy::{Backoff, FallbackPolicy, Policy, RetryPolicy, StreamPolicy, TimeoutPolicy};
use ff_core::record::Happening;
use ff_core::state::PublicState;
use ff_core::time::Duration;

use crate::Harness;
use crate::scene::{
    MINUTE, SECOND, Scene, WORKER, beside, dependency, edge, fresh, graph, graph_member, refused, requiring, submission,
};

pub(crate) async fn an_input_has_at_most_1_mib(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let of = |bytes: usize| CreateExecution {
        input: Payload::binary(vec![0; bytes]),
        ..submission()
    };
    let answer = scene.fabric.create_execution(of(1024 * 1024 + 1)).await;
    assert_eq!(refused(answer), Code::PayloadTooLarge);
    assert!(scene.try_claim(WORKER).await.is_none(), "it was not submitted");
    let task = scene.running(of(1024 * 1024)).await;
    assert_eq!(task.input.len(), 1024 * 1024);
}

pub(crate) async fn a_result_has_at_most_1_mib(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let complete = |bytes: usize| Complete {
        fence: Some(task.fence),
        result: Some(Payload::binary(vec![0; bytes])),
        ..Complete::default()
    };
    let id = task.execution_id;
    let answer = scene.fabric.complete(On::new(id, complete(1024 * 1024 + 1))).await;
    assert_eq!(refused(answer), Code::PayloadTooLarge);
    assert_eq!(scene.state(id).await, PublicState::Active, "the lease is kept");
    scene.fabric.complete(On::new(id, complete(1024 * 1024))).await.unwrap();
    assert_eq!(scene.result(id).await.unwrap().len(), 1024 * 1024);
}

pub(crate) async fn an_empty_input_is_an_input(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let empty = CreateExecution {
        input: Payload::default(),
        ..submission()
    };
    let id = scene.submit(empty).await;
    assert!(scene.fabric.get_input(id).await.unwrap().is_empty());
}

pub(crate) async fn a_policy_that_could_not_be_kept_is_refused(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let shrinking = Backoff::Exponential {
        initial_delay: SECOND,
        max_delay: MINUTE,
        multiplier: 0.5,
        jitter: false,
    };
    let retry = RetryPolicy {
        backoff: shrinking,
        ..RetryPolicy::default()
    };
    let timeout = TimeoutPolicy {
        attempt_timeout: Some(Duration::ZERO),
        execution_deadline: None,
    };
    let stream = StreamPolicy {
        retention_maxlen: 0,
        retention_ttl: None,
    };
    let budgets = (0..17).map(|_| BudgetId::from_uuid(fresh())).collect();
    let policies = [
        Policy {
            retry_policy: Some(retry),
            ..Policy::default()
        },
        Policy {
            timeout_policy: Some(timeout),
            ..Policy::default()
        },
        Policy {
            fallback_policy: Some(FallbackPolicy { tiers: vec![] }),
            ..Policy::default()
        },
        Policy {
            stream_policy: Some(stream),
            ..Policy::default()
        },
        Policy {
            max_signals_per_execution: Some(10_001),
            ..Policy::default()
        },
        Policy {
            budget_ids: budgets,
            ..Policy::default()
        },
    ];
    for policy in policies {
        let wrong = CreateExecution { policy, ..submission() };
        assert_eq!(refused(scene.fabric.create_execution(wrong).await), Code::InvalidPolicy);
    }
    assert!(scene.try_claim(WORKER).await.is_none());
}

pub(crate) async fn a_partition_of_a_lane_has_at_most_1_024_kinds_of_queues(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let first = scene.submit_plain().await;
    let of = |n: usize| CreateExecution {
        execution_id: Some(beside(first)),
        ..requiring(&[&format!("capability-{n}")])
    };
    for part in [0..512, 512..1_023] {
        let answers = scene.fabric.create_executions(part.map(of).collect()).await.unwrap();
        assert!(answers.iter().all(Result::is_ok));
    }
    let answer = scene.fabric.create_execution(of(1_023)).await;
    assert_eq!(refused(answer), Code::TooManySignatures);
    let known = CreateExecution {
        execution_id: Some(beside(first)),
        ..submission()
    };
    assert!(
        scene.fabric.create_execution(known).await.is_ok(),
        "what has a queue already is taken"
    );
}

pub(crate) async fn a_history_keeps_its_last_1_000_lines(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let id = scene.submit_plain().await;
    for _ in 0..501 {
        scene.hold(id).await.unwrap();
        scene.fabric.unhold(id).await.unwrap();
    }
    let lines = scene.history(id).await;
    assert_eq!((lines.len(), lines[999].what), (1_000, Happening::Unheld));
    assert_eq!(lines[0].what, Happening::Held, "the oldest are gone");
}

pub(crate) async fn a_search_over_more_than_10_000_members_is_refused(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let flow_id = FlowId::from_uuid(fresh());
    let part = |names: &[String], upstream: Option<&str>| {
        let mut part = graph(&[]);
        part.flow.flow_id = Some(flow_id);
        part.members = names.iter().map(|name| graph_member(name)).collect();
        let edges = upstream
            .into_iter()
            .flat_map(|upstream| names.iter().map(move |name| edge(upstream, name)));
        part.edges = edges.collect();
        part.open = false;
        part
    };
    let root = part(&["root".to_owned(), "new".to_owned()], None);
    let ids = scene.fabric.create_flow_graph(root).await.unwrap().execution_ids;
    for n in 0..11 {
        let names: Vec<_> = (0..1_000).map(|m| format!("m{n}-{m}")).collect();
        scene
            .fabric
            .create_flow_graph(part(&names, Some("root")))
            .await
            .unwrap();
    }
    let answer = scene
        .fabric
        .stage_dependency_edge(On::new(flow_id, dependency(ids[1], ids[0])))
        .await;
    assert_eq!(refused(answer), Code::GraphTooLarge);
}
