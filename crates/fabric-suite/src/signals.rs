//! Signals: who may send them, what they do, and which are kept.

use std::collections::BTreeSet;
use std::sync::Arc;

use ff_core::command::page::PageRequest;
use ff_core::command::signal::{DeliverSignal, Delivered, ResumeExecution, ResumeOutcome, SendSignal};
use ff_core::command::waitpoint::IssuedWaitpoint;
use ff_core::error::Code;
use ff_core::fabric::{On, Result};
use ff_core::id::{ExecutionId, SignalId, WaitpointId};
use ff_core::name::{IdempotencyKey, Identity, SignalName};
use ff_core::payload::Payload;
use ff_core::record::{Distinct, Matcher, ResumeCondition, ResumedBy, SignalEffect};
use ff_core::state::PublicState;
use ff_core::token::WaitpointToken;
use ff_core::wire;
use serde_json::json;

use crate::Harness;
use crate::scene::{
    MINUTE, Scene, WORKER, accepted, all, at_once, first, fresh, key, nobody, refused, request, signal, single,
    submission, under, waiting, waiting_for, with_policy,
};

pub(crate) async fn only_the_name_that_is_asked_for_counts(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let named = Matcher::ByName(SignalName::parse("yes").unwrap());
    let waitpoint = scene
        .suspended(&task, waiting_for(&task, &["a"], single("a", named)))
        .await
        .remove(0);
    let id = task.execution_id;
    let no = scene.send(id, &waitpoint, signal("no")).await.unwrap();
    assert_eq!(effect(&no), SignalEffect::IgnoredNotInCondition);
    assert_eq!(scene.state(id).await, PublicState::Suspended);
    let yes = scene.send(id, &waitpoint, signal("yes")).await.unwrap();
    assert_eq!(effect(&yes), SignalEffect::ResumeConditionSatisfied);
    let resumed = scene.claim(WORKER).await.resumed.unwrap();
    assert_eq!(resumed.signals.len(), 1, "only what counted is handed over");
}

pub(crate) async fn all_of_needs_every_part(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let both = ResumeCondition::AllOf(vec![single("a", Matcher::Any), single("b", Matcher::Any)]);
    let waitpoints = scene.suspended(&task, waiting_for(&task, &["a", "b"], both)).await;
    let id = task.execution_id;
    let first = scene.send(id, &waitpoints[0], signal("go")).await.unwrap();
    assert_eq!(effect(&first), SignalEffect::AppendedToWaitpoint);
    let again = scene.send(id, &waitpoints[0], signal("go")).await.unwrap();
    assert_eq!(
        effect(&again),
        SignalEffect::AppendedToWaitpoint,
        "the same place again does not help"
    );
    let second = scene.send(id, &waitpoints[1], signal("go")).await.unwrap();
    assert_eq!(effect(&second), SignalEffect::ResumeConditionSatisfied);
}

pub(crate) async fn a_count_counts_different_signals(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let (id, waitpoints) = counting(&scene, Distinct::Signals).await;
    let first = scene.send(id, &waitpoints[0], signal("vote")).await.unwrap();
    assert_eq!(effect(&first), SignalEffect::AppendedToWaitpoint);
    let second = scene.send(id, &waitpoints[0], signal("vote")).await.unwrap();
    assert_eq!(effect(&second), SignalEffect::ResumeConditionSatisfied);
}

pub(crate) async fn a_count_counts_different_waitpoints(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let (id, waitpoints) = counting(&scene, Distinct::Waitpoints).await;
    for _ in 0..2 {
        let here = scene.send(id, &waitpoints[0], signal("vote")).await.unwrap();
        assert_eq!(effect(&here), SignalEffect::AppendedToWaitpoint);
    }
    let there = scene.send(id, &waitpoints[1], signal("vote")).await.unwrap();
    assert_eq!(effect(&there), SignalEffect::ResumeConditionSatisfied);
}

pub(crate) async fn a_count_counts_different_sources(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let (id, waitpoints) = counting(&scene, Distinct::Sources).await;
    let ann = Scene::of(harness, "ann").await;
    for waitpoint in &waitpoints {
        let same = ann.send(id, waitpoint, vote_of("ann", "person")).await.unwrap();
        assert_eq!(effect(&same), SignalEffect::AppendedToWaitpoint);
    }
    let pretended = ann.send(id, &waitpoints[0], vote_of("ben", "system")).await.unwrap();
    assert_eq!(
        effect(&pretended),
        SignalEffect::AppendedToWaitpoint,
        "who sends it is what the credential says"
    );
    let ben = Scene::of(harness, "ben").await;
    let other = ben.send(id, &waitpoints[0], signal("vote")).await.unwrap();
    assert_eq!(effect(&other), SignalEffect::ResumeConditionSatisfied);
    let signals = scene.fabric.list_signals(On::new(id, all())).await.unwrap().items;
    let sources: BTreeSet<_> = signals
        .iter()
        .map(|view| (view.signal.source_identity.as_str(), view.signal.source_verified))
        .collect();
    assert_eq!(sources, BTreeSet::from([("ann", true), ("ben", true)]));
}

pub(crate) async fn sources_nobody_vouches_for_count_as_one(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let (id, waitpoints) = counting(&scene, Distinct::Sources).await;
    for (identity, source_type) in [("ann", "person"), ("ben", "person"), ("ann", "system")] {
        let claimed = scene.send(id, &waitpoints[0], vote_of(identity, source_type)).await;
        assert_eq!(effect(&claimed.unwrap()), SignalEffect::AppendedToWaitpoint);
    }
    let ann = Scene::of(harness, "ann").await;
    let verified = ann.send(id, &waitpoints[0], signal("vote")).await.unwrap();
    assert_eq!(effect(&verified), SignalEffect::ResumeConditionSatisfied);
}

/// A vote whose sender says who it is.
fn vote_of(identity: &str, source_type: &str) -> DeliverSignal {
    DeliverSignal {
        source_identity: Identity::parse(identity).unwrap(),
        source_type: source_type.to_owned(),
        ..signal("vote")
    }
}

/// An execution that waits for two votes at two waitpoints.
async fn counting(scene: &Scene<'_>, distinct: Distinct) -> (ExecutionId, Vec<IssuedWaitpoint>) {
    let task = scene.running(submission()).await;
    let two = ResumeCondition::Count {
        n: 2,
        distinct,
        matcher: Some(Matcher::ByName(SignalName::parse("vote").unwrap())),
        waitpoints: vec![key("a"), key("b")],
    };
    let waitpoints = scene.suspended(&task, waiting_for(&task, &["a", "b"], two)).await;
    (task.execution_id, waitpoints)
}

pub(crate) async fn signals_at_once_resume_once(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let (id, waitpoints) = counting(&scene, Distinct::Waitpoints).await;
    let sent = waitpoints.into_iter().map(|waitpoint| {
        let fabric = Arc::clone(&scene.fabric);
        let signal = DeliverSignal {
            waitpoint_id: waitpoint.waitpoint_id,
            ..signal("vote")
        };
        let command = SendSignal {
            waitpoint_token: waitpoint.token,
            signal,
        };
        async move { fabric.deliver_signal(On::new(id, command)).await.unwrap() }
    });
    let answers = at_once(sent).await;
    let satisfied = answers
        .iter()
        .map(effect)
        .filter(|effect| *effect == SignalEffect::ResumeConditionSatisfied);
    assert_eq!(satisfied.count(), 1);
    assert_eq!(scene.claim(WORKER).await.resumed.unwrap().signals.len(), 2);
}

pub(crate) async fn a_signal_is_recognised_by_its_id(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let (id, waitpoints) = counting(&scene, Distinct::Signals).await;
    let existing_signal_id = SignalId::from_uuid(fresh());
    let vote = DeliverSignal {
        signal_id: Some(existing_signal_id),
        ..signal("vote")
    };
    let first = scene.send(id, &waitpoints[0], vote.clone()).await.unwrap();
    assert_eq!(accepted(&first), existing_signal_id);
    let again = scene.send(id, &waitpoints[0], vote).await.unwrap();
    assert_eq!(again, Delivered::before(existing_signal_id));
    assert_eq!(scene.state(id).await, PublicState::Suspended);
    let signals = scene.fabric.list_signals(On::new(id, all())).await.unwrap().items;
    assert_eq!(signals.len(), 1);
}

pub(crate) async fn a_signal_without_a_name_of_its_own_is_another_each_time(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let (id, waitpoints) = counting(&scene, Distinct::Signals).await;
    let vote = signal("vote");
    let first = scene.send(id, &waitpoints[0], vote.clone()).await.unwrap();
    let second = scene.send(id, &waitpoints[0], vote).await.unwrap();
    assert_eq!(effect(&second), SignalEffect::ResumeConditionSatisfied);
    assert_ne!(accepted(&second), accepted(&first));
}

pub(crate) async fn a_signal_needs_no_more_than_a_name_and_its_waitpoint(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let (task, waitpoint) = scene.asleep(submission()).await;
    let bare = json!({
        "waitpoint_token": waitpoint.token,
        "waitpoint_id": waitpoint.waitpoint_id,
        "signal_name": "go",
    });
    let bare = wire::from_request(bare.to_string().as_bytes()).unwrap();
    let sent = scene.fabric.deliver_signal(On::new(task.execution_id, bare)).await;
    let resumed = scene.claim(WORKER).await.resumed.unwrap();
    let kept = &resumed.signals[0].signal;
    assert_eq!(kept.id, accepted(&sent.unwrap()));
    assert_eq!((&*kept.category, &*kept.source_type), ("event", "external"));
}

pub(crate) async fn a_signal_is_recognised_by_its_key_for_a_while(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(with_policy(&json!({ "dedup_window_ms": 60_000 }))).await;
    let never = single("a", Matcher::ByName(SignalName::parse("never").unwrap()));
    let waitpoint = scene
        .suspended(&task, waiting_for(&task, &["a"], never))
        .await
        .remove(0);
    let keyed = || DeliverSignal {
        idempotency_key: Some(IdempotencyKey::parse("once").unwrap()),
        ..signal("note")
    };
    let first = scene.send(task.execution_id, &waitpoint, keyed()).await.unwrap();
    let existing_signal_id = accepted(&first);
    let again = scene.send(task.execution_id, &waitpoint, keyed()).await.unwrap();
    assert_eq!(again, Delivered::before(existing_signal_id));
    scene.after(MINUTE).await;
    let later = scene.send(task.execution_id, &waitpoint, keyed()).await.unwrap();
    assert!(matches!(later, Delivered::Accepted { .. }));
}

pub(crate) async fn a_signal_needs_the_token_of_its_waitpoint(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let (id, waitpoints) = counting(&scene, Distinct::Signals).await;
    let forged = |text: &str| IssuedWaitpoint {
        token: WaitpointToken::from_text(text),
        ..waitpoints[0].clone()
    };
    let of_another = IssuedWaitpoint {
        token: waitpoints[1].token.clone(),
        ..waitpoints[0].clone()
    };
    let cut = waitpoints[0].token.expose();
    for wrong in [of_another, forged(""), forged("k1:00"), forged(&cut[..cut.len() - 1])] {
        let answer = scene.send(id, &wrong, signal("vote")).await;
        assert_eq!(refused(answer), Code::InvalidToken);
    }
    assert!(
        scene
            .fabric
            .list_signals(On::new(id, all()))
            .await
            .unwrap()
            .items
            .is_empty()
    );
}

pub(crate) async fn without_a_token_nothing_is_revealed(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let (task, waitpoint) = scene.asleep(submission()).await;
    let unknown = IssuedWaitpoint {
        waitpoint_id: WaitpointId::from_uuid(fresh()),
        ..waitpoint.clone()
    };
    let answer = scene.send(task.execution_id, &unknown, signal("go")).await;
    assert_eq!(refused(answer), Code::InvalidToken);
    let answer = scene.send(nobody(), &waitpoint, signal("go")).await;
    assert_eq!(refused(answer), Code::InvalidToken);
}

pub(crate) async fn a_waitpoint_whose_suspension_is_over_is_closed(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let (task, waitpoint) = scene.asleep(submission()).await;
    scene.send(task.execution_id, &waitpoint, signal("go")).await.unwrap();
    let answer = scene.send(task.execution_id, &waitpoint, signal("more")).await;
    assert_eq!(refused(answer), Code::WaitpointClosed);
}

pub(crate) async fn an_ended_execution_takes_no_signals(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let early = scene.hand_out(&task, "callback").await;
    scene.complete(&task).await.unwrap();
    let answer = scene.send(task.execution_id, &early, signal("late")).await;
    assert_eq!(refused(answer), Code::TargetNotSignalable);
}

pub(crate) async fn an_execution_accepts_as_many_signals_as_its_policy_allows(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene
        .running(with_policy(&json!({ "max_signals_per_execution": 2 })))
        .await;
    let early = scene.hand_out(&task, "callback").await;
    scene.send(task.execution_id, &early, signal("one")).await.unwrap();
    scene
        .suspended(&task, waiting_for(&task, &["b"], ResumeCondition::OperatorOnly))
        .await;
    scene.send(task.execution_id, &early, signal("two")).await.unwrap();
    let answer = scene.send(task.execution_id, &early, signal("three")).await;
    assert_eq!(refused(answer), Code::SignalLimitExceeded);
}

pub(crate) async fn a_signal_payload_has_at_most_256_kib(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let (task, waitpoint) = scene.asleep(submission()).await;
    let of = |bytes: usize| DeliverSignal {
        payload: Payload::binary(vec![0xff; bytes]),
        ..signal("large")
    };
    let answer = scene.send(task.execution_id, &waitpoint, of(256 * 1024 + 1)).await;
    assert_eq!(refused(answer), Code::PayloadTooLarge);
    assert_eq!(scene.state(task.execution_id).await, PublicState::Suspended);
    scene.send(task.execution_id, &waitpoint, of(256 * 1024)).await.unwrap();
    let resumed = scene.claim(WORKER).await.resumed.unwrap();
    assert_eq!(resumed.signals[0].payload, of(256 * 1024).payload);
}

pub(crate) async fn accepted_signals_are_listed_with_what_came(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let (id, waitpoints) = counting(&scene, Distinct::Sources).await;
    for name in ["a", "b", "c"] {
        scene.send(id, &waitpoints[0], signal(name)).await.unwrap();
    }
    let page = scene.fabric.list_signals(On::new(id, first(2))).await.unwrap();
    let rest = PageRequest {
        cursor: page.next.clone(),
        limit: None,
    };
    let rest = scene.fabric.list_signals(On::new(id, rest)).await.unwrap();
    let signals: Vec<_> = page.items.into_iter().chain(rest.items).collect();
    let names: BTreeSet<_> = signals.iter().map(|view| view.signal.name.to_string()).collect();
    assert_eq!(names, BTreeSet::from(["a", "b", "c"].map(str::to_owned)));
    let told = &signals[0];
    assert_eq!(told.signal.source_identity.as_str(), "somebody");
    assert_eq!(
        told.payload,
        Payload::json(&json!({ "said": told.signal.name.as_str() }))
    );
}

pub(crate) async fn an_operator_resumes_whatever_the_condition_says(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    scene
        .suspended(&task, waiting_for(&task, &["a"], ResumeCondition::OperatorOnly))
        .await;
    assert_eq!(
        resume(&scene, task.execution_id, "resume-1").await.unwrap(),
        ResumeOutcome::Now
    );
    assert_eq!(
        resume(&scene, task.execution_id, "resume-1").await.unwrap(),
        ResumeOutcome::Already
    );
    assert_eq!(scene.state(task.execution_id).await, PublicState::Resumable);
    let resumed = scene.claim(WORKER).await.resumed.unwrap();
    assert_eq!((resumed.by, resumed.signals.len()), (ResumedBy::Operator, 0));
}

pub(crate) async fn a_repeated_resumption_never_ends_the_next_suspension(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let budget = scene.budget().await;
    let (task, _) = scene.asleep(under(budget)).await;
    let id = task.execution_id;
    assert_eq!(resume(&scene, id, "resume-1").await.unwrap(), ResumeOutcome::Now);
    let task = scene.claim(WORKER).await;
    for n in 0..20 {
        scene.report(&task, budget, 0).await.unwrap();
        scene.hand_out_once(&task, &format!("early-{n}")).await;
    }
    scene.suspended(&task, waiting(&task)).await;
    assert_eq!(resume(&scene, id, "resume-1").await.unwrap(), ResumeOutcome::Already);
    assert_eq!(scene.state(id).await, PublicState::Suspended);
}

pub(crate) async fn only_a_suspended_execution_is_resumed(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let answer = resume(&scene, task.execution_id, "resume-1").await;
    assert_eq!(refused(answer), Code::ExecutionNotSuspended);
}

async fn resume(scene: &Scene<'_>, id: ExecutionId, request_id: &str) -> Result<ResumeOutcome> {
    let command = ResumeExecution {
        reason: Some("go on".to_owned()),
        request_id: request(request_id),
    };
    scene.fabric.resume_execution(On::new(id, command)).await
}

fn effect(delivered: &Delivered) -> SignalEffect {
    match delivered {
        Delivered::Accepted { effect, .. } => *effect,
        Delivered::Duplicate { .. } => panic!("not new"),
    }
}
