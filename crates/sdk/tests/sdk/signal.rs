//! Calling back who waits.

use ff_core::command::claim::Task as Claimed;
use ff_core::command::signal::Delivered;
use ff_core::command::waitpoint::CreatePendingWaitpoint;
use ff_core::error::Code;
use ff_core::fabric::On;
use ff_core::name::WaitpointKey;
use ff_core::state::PublicState;
use ff_core::time::Duration;
use ff_core::token::{Callback, WaitpointToken};
use ff_sdk::{CallbackHandle, Ctx, Fabric, Input, Task, TaskError, Worker};
use serde::{Deserialize, Serialize};

use crate::scene::Scene;
use crate::working::{Working, until};

#[derive(Serialize, Deserialize, Task)]
#[task(kind = "order")]
struct Order {}

#[derive(Serialize)]
struct Paid {
    cents: u32,
}

/// What a handler that runs gives away.
async fn callback(scene: &Scene, task: &Claimed) -> CallbackHandle {
    let create = CreatePendingWaitpoint {
        fence: Some(task.fence),
        waitpoint_key: WaitpointKey::parse("payment").unwrap(),
        expires_in: Duration::from_hours(1),
        request_id: None,
        waitpoint_id: None,
    };
    let issued = scene
        .engine
        .create_pending_waitpoint(On::new(task.execution_id, create))
        .await
        .unwrap();
    CallbackHandle::from(&issued)
}

async fn submitted(scene: &Scene) -> (Claimed, CallbackHandle) {
    scene.client.submit(Order {}).await.unwrap();
    let task = scene.claim_one().await;
    let callback = callback(scene, &task).await;
    (task, callback)
}

#[tokio::test]
async fn a_signal_that_is_sent_again_counts_once() {
    for scene in Scene::each() {
        let (task, callback) = submitted(&scene).await;
        let paid = || scene.client.signal(&callback, "paid", &Paid { cents: 4_200 });
        assert!(matches!(paid().await.unwrap(), Delivered::Accepted { .. }));
        assert!(
            matches!(paid().await.unwrap(), Delivered::Duplicate { .. }),
            "the same value"
        );
        assert!(
            matches!(paid().id("evt_2").await.unwrap(), Delivered::Accepted { .. }),
            "another event"
        );
        let other = scene.client.signal(&callback, "paid", &Paid { cents: 1 }).from("shop");
        assert!(
            matches!(other.await.unwrap(), Delivered::Accepted { .. }),
            "another value"
        );
        let signals = scene
            .engine
            .list_signals(On::new(task.execution_id, Default::default()))
            .await
            .unwrap()
            .items;
        assert_eq!(signals.len(), 3);
        assert_eq!(
            (signals[0].signal.name.as_str(), &*signals[0].payload.bytes),
            ("paid", &br#"{"cents":4200}"#[..])
        );
    }
}

#[tokio::test]
async fn a_callback_is_kept_as_text_and_shown_to_nobody() {
    let scene = Scene::local();
    let (_, callback) = submitted(&scene).await;
    let text = serde_json::to_string(&callback).unwrap();
    assert_eq!(serde_json::from_str::<CallbackHandle>(&text).unwrap(), callback);
    let url = callback.url("https://ff.example.org/");
    assert!(url.starts_with("https://ff.example.org/v1/callbacks/"), "{url}");
    assert_eq!(CallbackHandle::parse(&url).unwrap(), callback);
    let sealed = url.rsplit('/').next().unwrap();
    assert!(!format!("{callback:?}").contains(sealed), "{callback:?}");
}

#[tokio::test]
async fn what_is_no_callback_is_refused_without_being_repeated() {
    for text in ["", "https://example.org/", "/v1/callbacks/", "/v1/callbacks/c2VjcmV0"] {
        let refused = CallbackHandle::parse(text).unwrap_err();
        assert_eq!(refused.code(), Some(Code::InvalidInput));
        assert!(!refused.to_string().contains("c2VjcmV0"));
    }
}

#[tokio::test]
async fn a_callback_of_somebody_else_opens_nothing() {
    for scene in Scene::each() {
        let (_, callback) = submitted(&scene).await;
        let url = callback.url("");
        let mut opened = Callback::open(url.rsplit('/').next().unwrap()).unwrap();
        opened.token = WaitpointToken::from_text("k1:00");
        let forged = CallbackHandle::parse(opened.path().expose()).unwrap();
        let refused = scene
            .client
            .signal(&forged, "paid", &Paid { cents: 1 })
            .await
            .unwrap_err();
        assert_eq!(refused.code(), Some(Code::InvalidToken));
    }
}

#[tokio::test]
async fn a_run_that_waits_is_signalled_by_the_name_its_handler_used() {
    async fn order(_: Input<Order>, ctx: Ctx) -> Result<(), TaskError> {
        let cents: u32 = ctx.wait("paid").await?;
        assert_eq!(cents, 4_200);
        Ok(())
    }
    for scene in Scene::each() {
        let working = Working::new(&Worker::new(scene.client.clone()).task(order).build().unwrap());
        let run = scene.client.submit(Order {}).await.unwrap();
        until(|| async { run.state().await.unwrap() == PublicState::Suspended }).await;
        let refused = run.signal("shipped", &1).await.unwrap_err();
        assert_eq!(refused.code(), Some(Code::WaitpointNotFound));
        assert!(refused.to_string().contains(r#"it waits for "paid#0""#), "{refused}");
        run.signal("paid", &4_200).from("shop").await.unwrap();
        run.result().await.unwrap();
        working.end().await.unwrap();
    }
}
