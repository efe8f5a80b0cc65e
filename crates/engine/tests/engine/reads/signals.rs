//! Signals, waitpoints and approvals.

use ff_core::command::page::PageRequest;
use ff_core::command::signal::{
    Decide, DeliverSignal, Delivered, ListApprovals, ResumeExecution, ResumeOutcome, SendSignal,
};
use ff_core::command::waitpoint::ReadWaitpointToken;
use ff_core::error::Code;
use ff_core::fabric::{Fabric, On};
use ff_core::id::{ExecutionId, SignalId, WaitpointId};
use ff_core::keyring::RotateWaitpointSecret;
use ff_core::machine::time;
use ff_core::name::Identity;
use ff_core::payload::Payload;
use ff_core::record::{Matcher, ReasonCode, SignalEffect};
use ff_core::state::PublicState;
use ff_core::time::Duration;
use ff_core::token::WaitpointToken;

use crate::reads::stage::{How, Stage, code, submission};

impl Stage {
    fn signal(&self, waitpoint_id: WaitpointId, name: &str) -> DeliverSignal {
        DeliverSignal {
            waitpoint_id,
            signal_id: Some(SignalId::from_uuid(self.mint())),
            signal_name: name.parse().unwrap(),
            category: "test".to_owned(),
            source_type: "test".to_owned(),
            source_identity: Identity::parse("tester").unwrap(),
            payload: Payload::binary("hello"),
            idempotency_key: None,
            correlation_id: None,
        }
    }

    async fn token(&self, id: ExecutionId, waitpoint: WaitpointId) -> WaitpointToken {
        let read = self.engine.read_waitpoint_token(asking(id, waitpoint)).await;
        read.unwrap().waitpoint_token
    }

    async fn approvals(&self, limit: usize) -> Vec<ExecutionId> {
        let (mut found, mut cursor) = (Vec::new(), None);
        loop {
            let request = ListApprovals {
                page: PageRequest {
                    cursor,
                    limit: Some(limit),
                },
                ..ListApprovals::default()
            };
            let page = self.engine.approvals(request).await.unwrap();
            assert!(page.items.len() <= limit);
            found.extend(page.items.into_iter().map(|approval| approval.execution_id));
            cursor = page.next;
            if cursor.is_none() {
                return found;
            }
        }
    }
}

fn sent(id: ExecutionId, token: &WaitpointToken, signal: DeliverSignal) -> On<ExecutionId, SendSignal> {
    let command = SendSignal {
        waitpoint_token: token.clone(),
        signal,
    };
    On::new(id, command)
}

#[tokio::test]
async fn a_signal_resumes_what_waits_for_it_and_its_repetition_is_recognised() {
    let stage = Stage::new();
    let (id, waitpoint) = stage.suspended(How::waiting_for(ReasonCode::WaitingForSignal)).await;
    let token = stage.token(id, waitpoint).await;
    let ignored = stage
        .engine
        .deliver_signal(sent(id, &token, stage.signal(waitpoint, "stop")))
        .await;
    assert!(matches!(
        ignored.unwrap(),
        Delivered::Accepted {
            effect: SignalEffect::IgnoredNotInCondition,
            ..
        }
    ));

    let mut signal = stage.signal(waitpoint, "go");
    signal.idempotency_key = Some("once".parse().unwrap());
    let first = stage
        .engine
        .deliver_signal(sent(id, &token, signal.clone()))
        .await
        .unwrap();
    let signal_id = signal.signal_id.unwrap();
    let effect = SignalEffect::ResumeConditionSatisfied;
    assert_eq!(first, Delivered::Accepted { signal_id, effect });
    let state = stage.engine.get_state(id).await.unwrap();
    assert_eq!(state.public_state, PublicState::Resumable);

    let again = stage
        .engine
        .deliver_signal(sent(id, &token, signal.clone()))
        .await
        .unwrap();
    assert_eq!(again, Delivered::before(signal_id));
    signal.signal_id = None;
    let same_key = stage.engine.deliver_signal(sent(id, &token, signal)).await.unwrap();
    assert_eq!(same_key, Delivered::before(signal_id));
    let late = stage
        .engine
        .deliver_signal(sent(id, &token, stage.signal(waitpoint, "go")))
        .await;
    assert_eq!(code(late), Code::WaitpointClosed);

    let listed = stage
        .engine
        .list_signals(On::new(id, PageRequest::default()))
        .await
        .unwrap();
    assert_eq!(listed.items.len(), 2);
    assert!(listed.items.iter().all(|view| &view.payload.bytes[..] == b"hello"));
}

#[tokio::test]
async fn of_two_signals_at_once_one_resumes_and_the_other_comes_too_late() {
    let stage = Stage::new();
    let (id, waitpoint) = stage.suspended(How::waiting_for(ReasonCode::WaitingForSignal)).await;
    let token = stage.token(id, waitpoint).await;
    let send = || {
        stage
            .engine
            .deliver_signal(sent(id, &token, stage.signal(waitpoint, "go")))
    };
    let (one, other) = futures::join!(send(), send());
    let mut answers = [one, other];
    answers.sort_by_key(Result::is_err);
    let [resumed, late] = answers;
    assert!(resumed.is_ok());
    assert_eq!(code(late), Code::WaitpointClosed);
}

#[tokio::test]
async fn who_has_no_token_learns_nothing() {
    let stage = Stage::new();
    let how = || How::waiting_for(ReasonCode::WaitingForSignal);
    let (id, waitpoint) = stage.suspended(how()).await;
    let (_, other) = stage.suspended(how()).await;
    let token = stage.token(id, waitpoint).await;
    let nowhere = WaitpointId::from_uuid(stage.mint());
    let nobody = ExecutionId::new(id.partition().index, stage.mint());
    let forged = WaitpointToken::from_text("k1:00");
    let unknown_kid = WaitpointToken::from_text("k9:00");
    for (id, token, waitpoint) in [
        (id, &forged, waitpoint),
        (id, &unknown_kid, waitpoint),
        (id, &token, nowhere),
        (id, &token, other),
        (nobody, &token, waitpoint),
    ] {
        let refused = stage
            .engine
            .deliver_signal(sent(id, token, stage.signal(waitpoint, "go")))
            .await;
        assert_eq!(refused.unwrap_err(), WaitpointToken::refused());
    }
    let elsewhere = stage.bound_to("other");
    let refused = elsewhere
        .deliver_signal(sent(id, &token, stage.signal(waitpoint, "go")))
        .await;
    assert_eq!(code(refused), Code::InvalidToken);
    assert_eq!(
        code(elsewhere.read_waitpoint_token(asking(id, waitpoint)).await),
        Code::ExecutionNotFound
    );
    let unknown = stage.engine.read_waitpoint_token(asking(id, nowhere)).await;
    assert_eq!(code(unknown), Code::WaitpointNotFound);
}

#[tokio::test]
async fn a_token_outlives_a_rotation_and_a_bound_caller_rotates_nothing() {
    let stage = Stage::new();
    let (id, waitpoint) = stage.suspended(How::waiting_for(ReasonCode::WaitingForSignal)).await;
    let old = stage.token(id, waitpoint).await;
    let rotation: RotateWaitpointSecret = serde_json::from_value(serde_json::json!({
        "new_kid": "k2",
        "new_secret_hex": "ab".repeat(32),
    }))
    .unwrap();
    let refused = stage.bound_to("mine").rotate_waitpoint_secret(rotation.clone()).await;
    assert_eq!(code(refused), Code::Forbidden);
    stage.engine.rotate_waitpoint_secret(rotation).await.unwrap();
    let new = stage.token(id, waitpoint).await;
    assert_ne!(old.kid(), new.kid());
    let delivered = stage
        .engine
        .deliver_signal(sent(id, &old, stage.signal(waitpoint, "stop")))
        .await;
    assert!(delivered.is_ok());
    let open = stage.engine.list_pending_waitpoints(id).await.unwrap();
    assert_eq!(Some(open[0].kid.clone()), new.kid());
}

#[tokio::test]
async fn a_person_decides_at_a_waitpoint() {
    let stage = Stage::new();
    let how = How {
        matcher: Matcher::ByName("approved".parse().unwrap()),
        ..How::waiting_for(ReasonCode::WaitingForApproval)
    };
    let (id, waitpoint) = stage.suspended(how).await;
    let decision = |waitpoint_id| {
        let command = Decide {
            waitpoint_id,
            payload: Payload::default(),
            idempotency_key: None,
        };
        On::new(id, command)
    };
    let nowhere = WaitpointId::from_uuid(stage.mint());
    let unknown = stage.engine.approve(decision(nowhere)).await;
    assert_eq!(code(unknown), Code::WaitpointNotFound);
    let unseen = stage.bound_to("other").approve(decision(waitpoint)).await;
    assert_eq!(code(unseen), Code::ExecutionNotFound);
    stage.engine.reject(decision(waitpoint)).await.unwrap();
    let yes = stage.engine.approve(decision(waitpoint)).await.unwrap();
    assert!(matches!(
        yes,
        Delivered::Accepted {
            effect: SignalEffect::ResumeConditionSatisfied,
            ..
        }
    ));
    assert_eq!(stage.approvals(10).await, []);
}

#[tokio::test]
async fn an_operator_resumes_and_a_repeated_request_is_answered_once() {
    let stage = Stage::new();
    let (id, _) = stage.suspended(How::waiting_for(ReasonCode::WaitingForSignal)).await;
    let command = ResumeExecution {
        reason: None,
        request_id: Some("r-1".parse().unwrap()),
    };
    let resumed = stage
        .engine
        .resume_execution(On::new(id, command.clone()))
        .await
        .unwrap();
    assert_eq!(resumed, ResumeOutcome::Now);
    let resumed = stage.engine.resume_execution(On::new(id, command)).await.unwrap();
    assert_eq!(resumed, ResumeOutcome::Already);
}

#[tokio::test]
async fn what_was_escalated_is_approved_first_whatever_the_page() {
    let stage = Stage::new();
    let mut waiting = Vec::new();
    for number in 0..6_u64 {
        let how = How {
            timeout_at: (number == 4).then(|| stage.now() + Duration::from_secs(1)),
            ..How::waiting_for(ReasonCode::WaitingForApproval)
        };
        waiting.push(stage.suspended(how).await.0);
        stage.suspended(How::waiting_for(ReasonCode::WaitingForCallback)).await;
        stage.advance(Duration::from_millis(1));
    }
    stage.submit(&submission()).await;
    stage.advance(Duration::from_secs(2));
    stage
        .decide(waiting[4], |execution, context| Ok(time::advance(execution, context)))
        .await;
    let expected: Vec<ExecutionId> = [4, 0, 1, 2, 3, 5].map(|number: usize| waiting[number]).into();
    for limit in 1..=7 {
        assert_eq!(stage.approvals(limit).await, expected, "pages of {limit}");
    }
    let elsewhere = stage
        .bound_to("other")
        .approvals(ListApprovals::default())
        .await
        .unwrap();
    assert!(elsewhere.items.is_empty());
}

#[tokio::test]
async fn large_signals_come_in_smaller_pages() {
    let stage = Stage::new();
    let (id, waitpoint) = stage.suspended(How::waiting_for(ReasonCode::WaitingForSignal)).await;
    let token = stage.token(id, waitpoint).await;
    for _ in 0..20 {
        let mut signal = stage.signal(waitpoint, "stop");
        signal.payload = Payload::binary(vec![7; 256 * 1024]);
        stage.engine.deliver_signal(sent(id, &token, signal)).await.unwrap();
    }
    let first = stage
        .engine
        .list_signals(On::new(id, PageRequest::default()))
        .await
        .unwrap();
    assert_eq!(first.items.len(), 16);
    let rest = PageRequest {
        cursor: first.next,
        limit: None,
    };
    let rest = stage.engine.list_signals(On::new(id, rest)).await.unwrap();
    assert_eq!((rest.items.len(), rest.next), (4, None));
}

fn asking(id: ExecutionId, waitpoint_id: WaitpointId) -> On<ExecutionId, ReadWaitpointToken> {
    On::new(id, ReadWaitpointToken { waitpoint_id })
}
