//! Sleeps, waits, approvals and callbacks: nobody holds the task meanwhile.

use std::time::Duration;

use ff_core::command::signal::{DeliverSignal, ResumeExecution, SendSignal};
use ff_core::command::waitpoint::{OpenWaitpoint, ReadWaitpointToken};
use ff_core::fabric::On;
use ff_core::id::ExecutionId;
use ff_core::name::{Identity, SignalName};
use ff_core::payload::Payload;
use ff_core::state::PublicState;
use ff_sdk::test::TestEngine;
use ff_sdk::{CallbackHandle, Ctx, Fabric, Handler, Input, OnTimeout, Run, State, TaskError, Worker, days, json, secs};
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;

use crate::scene::Scene;
use crate::working::{Hello, Working, until};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Note {
    text: String,
}

fn working<H: Handler<Args>, Args: 'static>(scene: &Scene, handler: H) -> Working {
    Working::new(&Worker::new(scene.client.clone()).task(handler).build().unwrap())
}

async fn submitted(scene: &Scene) -> Run<String> {
    scene.client.submit(Hello::ana()).await.unwrap()
}

async fn reaches(run: &Run<String>, state: PublicState) {
    until(|| async { run.state().await.unwrap() == state }).await;
}

/// Sends a signal to the waitpoint of this key.
async fn signal<V: Serialize>(scene: &Scene, id: ExecutionId, key: &str, value: &V) {
    let open: Vec<OpenWaitpoint> = scene.engine.list_pending_waitpoints(id).await.unwrap();
    let waitpoint = open.iter().find(|open| open.waitpoint_key.as_str() == key).unwrap();
    let read = ReadWaitpointToken {
        waitpoint_id: waitpoint.waitpoint_id,
    };
    let token = scene.engine.read_waitpoint_token(On::new(id, read)).await.unwrap();
    let send = SendSignal {
        waitpoint_token: token.waitpoint_token,
        signal: DeliverSignal {
            waitpoint_id: waitpoint.waitpoint_id,
            signal_id: None,
            signal_name: SignalName::parse("sent").unwrap(),
            category: "event".to_owned(),
            source_type: "external".to_owned(),
            source_identity: Identity::anonymous(),
            payload: json::write(value).unwrap(),
            idempotency_key: None,
            correlation_id: None,
        },
    };
    scene.engine.deliver_signal(On::new(id, send)).await.unwrap();
}

#[tokio::test]
async fn a_long_sleep_takes_no_worker_and_is_slept_once() {
    for scene in Scene::each() {
        let handler = |_: Input<Hello>, ctx: Ctx| async move {
            let before = ctx.step("before", |_| async { Ok(1) }).await?;
            ctx.sleep("cool", days(2)).await?;
            ctx.sleep("blink", Duration::from_millis(1)).await?;
            let after = ctx.step("after", |_| async { Ok(2) }).await?;
            Ok::<_, TaskError>(format!("{before} {after}"))
        };
        let working = working(&scene, handler);
        let run = submitted(&scene).await;
        reaches(&run, PublicState::Delayed).await;
        scene.pass(days(1)).await;
        assert_eq!(run.state().await.unwrap(), PublicState::Delayed);
        scene.pass(days(1) + secs(30)).await;
        assert_eq!(run.result().await.unwrap(), "1 2");
        working.end().await.unwrap();
    }
}

#[tokio::test]
async fn a_wait_gives_what_a_signal_brings() {
    for scene in Scene::each() {
        let handler = |_: Input<Hello>, ctx: Ctx| async move {
            let note: Note = ctx.wait("note").await?;
            let second: Option<Note> = ctx.wait("note").timeout(days(1)).await?;
            Ok::<_, TaskError>(format!("{} {second:?}", note.text))
        };
        let working = working(&scene, handler);
        let run = submitted(&scene).await;
        reaches(&run, PublicState::Suspended).await;
        signal(
            &scene,
            run.id(),
            "note#0",
            &Note {
                text: "first".to_owned(),
            },
        )
        .await;
        until(|| async {
            let open = scene.engine.list_pending_waitpoints(run.id()).await.unwrap();
            open.iter().any(|open| open.waitpoint_key.as_str() == "note#1")
        })
        .await;
        scene.pass(days(1) + secs(30)).await;
        assert_eq!(run.result().await.unwrap(), "first None");
        working.end().await.unwrap();
    }
}

#[tokio::test]
async fn an_operator_who_ends_a_wait_ends_it_without_a_value() {
    let scene = Scene::local();
    let handler = |_: Input<Hello>, ctx: Ctx| async move { ctx.wait::<String>("word").await };
    let working = working(&scene, handler);
    let run = submitted(&scene).await;
    reaches(&run, PublicState::Suspended).await;
    let resume = ResumeExecution {
        reason: None,
        request_id: None,
    };
    scene.engine.resume_execution(On::new(run.id(), resume)).await.unwrap();
    let error = run.result().await.unwrap_err().to_string();
    assert!(error.contains("an operator ended the wait for word#0"), "{error}");
    working.end().await.unwrap();
}

#[tokio::test]
async fn a_person_decides_with_a_note() {
    for scene in Scene::each() {
        let handler = |_: Input<Hello>, ctx: Ctx| async move {
            let draft = ctx.step("draft", |_| async { Ok("a draft".to_owned()) }).await?;
            let asked = ctx
                .approval::<Note>("review")
                .show(&draft)
                .expires(days(7))
                .on_timeout(OnTimeout::Escalate);
            let decision = asked.await?;
            let second = ctx.approval::<Note>("again").expires(days(7)).await?;
            assert_eq!((second.approved, second.note), (false, None));
            Ok::<_, TaskError>(format!("{} {:?} {:?}", decision.approved, decision.note, second.reason))
        };
        let working = working(&scene, handler);
        let run = submitted(&scene).await;
        reaches(&run, PublicState::Suspended).await;
        run.approve("review")
            .note(&Note {
                text: "fine".to_owned(),
            })
            .await
            .unwrap();
        until(|| async {
            let open = scene.engine.list_pending_waitpoints(run.id()).await.unwrap();
            open.iter().any(|open| open.waitpoint_key.as_str() == "again#0")
        })
        .await;
        scene.pass(days(7) + secs(30)).await;
        let told = r#"true Some(Note { text: "fine" }) Some("nobody decided in time")"#;
        assert_eq!(run.result().await.unwrap(), told);
        working.end().await.unwrap();
    }
}

#[tokio::test]
async fn nothing_but_a_decision_ends_an_approval() {
    let scene = Scene::local();
    let handler = |_: Input<Hello>, ctx: Ctx| async move {
        let decision = ctx.approval::<String>("review").await?;
        Ok::<_, TaskError>(format!("{} {:?}", decision.approved, decision.note))
    };
    let working = working(&scene, handler);
    let run = submitted(&scene).await;
    reaches(&run, PublicState::Suspended).await;
    signal(&scene, run.id(), "review#0", &"not a decision").await;
    scene.settle().await;
    assert_eq!(run.state().await.unwrap(), PublicState::Suspended);
    run.reject("review").note("no").await.unwrap();
    assert_eq!(run.result().await.unwrap(), r#"false Some("no")"#);
    working.end().await.unwrap();
}

#[tokio::test]
async fn whoever_takes_over_has_the_same_address() {
    async fn handler(
        _: Input<Hello>,
        ctx: Ctx,
        State(out): State<mpsc::UnboundedSender<CallbackHandle>>,
    ) -> Result<String, TaskError> {
        let callback = ctx.callback("paid").await?;
        if let Ok(handle) = callback.handle() {
            out.send(handle.clone())?;
        }
        ctx.step("prepare", |_| async { Ok(()) }).await?;
        callback.wait::<String>().await
    }
    let (given, mut gives) = mpsc::unbounded_channel::<CallbackHandle>();
    let test = TestEngine::new().state(given).task(handler).start().await;
    test.crash_after("prepare#0");
    let run = test.submit(Hello::ana()).await.unwrap();
    test.quiet().await;
    let (before, after) = (gives.recv().await.unwrap(), gives.recv().await.unwrap());
    assert_eq!(before, after);
    test.client().signal(&before, "paid", "42").await.unwrap();
    assert_eq!(run.result().await.unwrap(), "42");
}

#[tokio::test]
async fn whoever_was_given_the_address_calls_back_before_or_while_it_is_waited_for() {
    for early in [true, false] {
        for scene in Scene::each() {
            async fn handler(
                _: Input<Hello>,
                ctx: Ctx,
                out: State<mpsc::UnboundedSender<CallbackHandle>>,
            ) -> Result<String, TaskError> {
                let callback = ctx.callback("paid").await?;
                ctx.step("order", |_| async {
                    out.0.send(callback.handle()?.clone())?;
                    Ok(())
                })
                .await?;
                ctx.step("gate", |_| async { Ok(()) }).await?;
                callback.wait::<String>().await
            }
            let (given, mut gives) = mpsc::unbounded_channel::<CallbackHandle>();
            let working = Working::new(
                &Worker::new(scene.client.clone())
                    .state(given)
                    .task(handler)
                    .build()
                    .unwrap(),
            );
            let run = submitted(&scene).await;
            let handle = gives.recv().await.unwrap();
            if !early {
                reaches(&run, PublicState::Suspended).await;
            }
            scene.client.signal(&handle, "paid", "42 euro").await.unwrap();
            assert_eq!(run.result().await.unwrap(), "42 euro");
            assert!(gives.try_recv().is_err(), "it was given away once");
            working.end().await.unwrap();
        }
    }
}

#[tokio::test]
async fn several_waits_are_one() {
    let scene = Scene::local();
    let handler = |_: Input<Hello>, ctx: Ctx| async move {
        let all = ctx.wait_all::<u32>("gate", ["paid", "packed"]).await?;
        let (first, value) = ctx.wait_any::<u32>("race", ["a", "b"]).await?;
        Ok::<_, TaskError>(format!("{all:?} {first} {value}"))
    };
    let working = working(&scene, handler);
    let run = submitted(&scene).await;
    reaches(&run, PublicState::Suspended).await;
    signal(&scene, run.id(), "gate#0/packed", &2).await;
    signal(&scene, run.id(), "gate#0/paid", &1).await;
    until(|| async {
        let open = scene.engine.list_pending_waitpoints(run.id()).await.unwrap();
        open.iter().any(|open| open.waitpoint_key.as_str() == "race#0/b")
    })
    .await;
    signal(&scene, run.id(), "race#0/b", &3).await;
    assert_eq!(run.result().await.unwrap(), r#"{"packed": 2, "paid": 1} b 3"#);
    working.end().await.unwrap();
}

#[tokio::test]
async fn two_waits_side_by_side_fail_and_are_named() {
    let scene = Scene::local();
    let handler = |_: Input<Hello>, ctx: Ctx| async move {
        let (one, two) = tokio::join!(
            ctx.wait::<String>("one").into_future(),
            ctx.wait::<String>("two").into_future()
        );
        Ok::<_, TaskError>(one? + &two?)
    };
    let working = working(&scene, handler);
    let run = submitted(&scene).await;
    let error = run.result().await.unwrap_err().to_string();
    assert!(error.contains("one#0 and two#0 at once"), "{error}");
    working.end().await.unwrap();
}

#[tokio::test]
async fn a_wait_begins_when_the_steps_beside_it_have_ended() {
    let scene = Scene::local();
    let handler = |_: Input<Hello>, ctx: Ctx| async move {
        let wait = ctx.wait::<String>("word").into_future();
        let step = ctx.step("beside", |_| async {
            for _ in 0..10 {
                tokio::task::yield_now().await;
            }
            Ok(7)
        });
        // What has begun is waited for; what is called later waits until the handler runs again.
        let (seven, word) = tokio::join!(step, wait);
        Ok::<_, TaskError>(format!("{} {}", word?, seven?))
    };
    let working = working(&scene, handler);
    let run = submitted(&scene).await;
    reaches(&run, PublicState::Suspended).await;
    let steps = run.steps().await.unwrap();
    assert_eq!(steps.len(), 2, "the step was recorded before the wait began");
    signal(&scene, run.id(), "word#0", &"go").await;
    assert_eq!(run.result().await.unwrap(), "go 7");
    working.end().await.unwrap();
}

#[tokio::test]
async fn a_callback_from_who_can_only_post_is_read_as_it_came() {
    let scene = Scene::local();
    let url = scene.serve();
    async fn handler(
        _: Input<Hello>,
        ctx: Ctx,
        out: State<mpsc::UnboundedSender<CallbackHandle>>,
    ) -> Result<String, TaskError> {
        let callback = ctx.callback("paid").await?;
        ctx.step("order", |_| async {
            out.0.send(callback.handle()?.clone())?;
            Ok(())
        })
        .await?;
        let note: Note = callback.wait().await?;
        Ok(note.text)
    }
    let (given, mut gives) = mpsc::unbounded_channel::<CallbackHandle>();
    let working = Working::new(
        &Worker::new(scene.client.clone())
            .state(given)
            .task(handler)
            .build()
            .unwrap(),
    );
    let run = submitted(&scene).await;
    let handle = gives.recv().await.unwrap();
    let body = Payload::json(&serde_json::json!({ "text": "paid" }));
    let posted = reqwest_post(&handle.url(&url), &body.bytes).await;
    assert!(posted.starts_with("HTTP/1.1 202"), "{posted}");
    assert_eq!(run.result().await.unwrap(), "paid");
    working.end().await.unwrap();
}

/// A POST as any stranger would send it.
async fn reqwest_post(url: &str, body: &[u8]) -> String {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let (host, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let mut stream = tokio::net::TcpStream::connect(host).await.unwrap();
    let head = format!(
        "POST /{path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(body).await.unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).await.unwrap();
    reply
}
