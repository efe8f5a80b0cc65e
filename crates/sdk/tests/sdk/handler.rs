//! What handlers are given, and what they return.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use ff_core::payload::Payload;
use ff_core::record::AttemptKind;
use ff_core::state::PublicState;
use ff_sdk::{
    Attempt, BuildError, Codec, CodecError, Ctx, Error, Fabric, Input, Outcome, Raw, State, Tags, Task, TaskError,
    Tier, Worker, from_fn, secs, tier,
};
use serde::{Deserialize, Serialize};

use crate::scene::Scene;
use crate::working::{Hello, Working, until};

#[derive(Serialize, Deserialize, Task)]
#[task(kind = "count", output = u32)]
struct Count {
    to: u32,
}

async fn hello(Input(job): Input<Hello>) -> String {
    format!("hello {}", job.name)
}

#[tokio::test]
async fn a_handler_is_an_async_function_near_and_far() {
    for scene in Scene::each() {
        let worker = Worker::new(scene.client.clone())
            .name("web")
            .task(hello)
            .build()
            .unwrap();
        let working = Working::new(&worker);
        let run = scene.client.submit(Hello::ana()).await.unwrap();
        assert_eq!(run.result().await.unwrap(), "hello Ana");
        working.end().await.unwrap();
    }
}

#[tokio::test]
async fn a_handler_is_given_what_it_asks_for() {
    #[derive(Clone)]
    struct Greeting(&'static str);

    let told = |Input(job): Input<Hello>,
                State(greeting): State<Greeting>,
                missing: Option<State<u8>>,
                attempt: Attempt,
                Tier(tier): Tier,
                Tags(tags): Tags,
                Raw(raw): Raw,
                ctx: Ctx| async move {
        assert!(missing.is_none());
        assert_eq!((attempt.index, attempt.kind), (0, AttemptKind::Initial));
        assert_eq!((ctx.attempt(), ctx.tags()), (0, &tags));
        assert_eq!(raw.bytes, r#"{"name":"Ana"}"#.as_bytes());
        format!("{} {} {} {}", greeting.0, job.name, tier.model, tags["tenant"])
    };

    let scene = Scene::local();
    let builder = Worker::new(scene.engine.clone()).state(Greeting("ciao")).task(told);
    let working = Working::new(&builder.build().unwrap());
    let run = scene
        .client
        .submit(Hello::ana())
        .tag("tenant", "a")
        .tiers([tier("openai", "big", secs(60))]);
    assert_eq!(run.await.unwrap().result().await.unwrap(), "ciao Ana big a");
    working.end().await.unwrap();
}

#[tokio::test]
async fn a_state_that_is_missing_is_noticed_before_anything_runs() {
    async fn lacks(_: Input<Hello>, _: State<Vec<u16>>) -> String {
        String::new()
    }
    let scene = Scene::local();
    let error = Worker::new(scene.engine.clone()).task(lacks).build().err().unwrap();
    let told = error.to_string();
    assert!(matches!(error, BuildError::MissingState { .. }), "{told}");
    assert!(told.contains(r#""hello""#) && told.contains("Vec<u16>"), "{told}");
    let error = Worker::new(scene.engine.clone())
        .task(hello)
        .task(hello)
        .build()
        .err()
        .unwrap();
    assert!(matches!(error, BuildError::TwoHandlers { .. }));
    let error = Worker::new(scene.engine).build().err().unwrap();
    assert!(matches!(error, BuildError::NoHandlers));
}

#[tokio::test]
async fn an_input_that_is_something_else_fails_for_good_and_says_where() {
    async fn count(Input(job): Input<Count>) -> u32 {
        job.to
    }
    let scene = Scene::local();
    let working = Working::new(&Worker::new(scene.engine.clone()).task(count).build().unwrap());
    let kind = ff_core::name::ExecutionKind::parse("count").unwrap();
    let input = Payload::binary(&br#"{"to":"many"}"#[..]);
    let submission = ff_core::command::submit::CreateExecution::new(kind, input);
    let id = scene.engine.create_execution(submission).await.unwrap().execution_id();
    let Error::Ended(ended) = scene.client.run::<Count>(id).result().await.unwrap_err() else {
        panic!("it cannot be read")
    };
    let failure = ended.failure.unwrap();
    assert_eq!(failure.category.as_str(), "permanent");
    for word in ["\"count\"", "Count", " at to: "] {
        assert!(failure.reason.contains(word), "{}", failure.reason);
    }
    working.end().await.unwrap();
}

#[tokio::test]
async fn what_a_handler_returns_decides_how_the_task_goes_on() {
    async fn count(Input(job): Input<Count>, attempt: Attempt) -> Result<Outcome<u32>, TaskError> {
        match (job.to, attempt.index) {
            (0, _) => Err(TaskError::permanent("nothing to count")),
            (1, 0) => Err(std::io::Error::other("try again"))?,
            (2, _) => panic!("lost count"),
            (3, _) => Ok(Outcome::Delay(secs(60))),
            (to, _) => Ok(Outcome::Done(to)),
        }
    }
    let scene = Scene::local();
    let working = Working::new(&Worker::new(scene.engine.clone()).task(count).build().unwrap());
    let category = |error: Error| match error {
        Error::Ended(ended) => ended.failure.unwrap().category.to_string(),
        other => panic!("{other}"),
    };
    let run = scene.client.submit(Count { to: 0 }).retries(5).await.unwrap();
    assert_eq!(category(run.result().await.unwrap_err()), "permanent");
    let run = scene.client.submit(Count { to: 2 }).await.unwrap();
    assert_eq!(category(run.result().await.unwrap_err()), "panic");
    let run = scene.client.submit(Count { to: 7 }).await.unwrap();
    assert_eq!(run.result().await.unwrap(), 7);
    let run = scene
        .client
        .submit(Count { to: 1 })
        .retries(1)
        .fixed_backoff(secs(1))
        .await
        .unwrap();
    until(|| async { run.state().await.unwrap() == PublicState::Delayed }).await;
    scene.pass(secs(1)).await;
    assert_eq!(run.result().await.unwrap(), 1);
    let run = scene.client.submit(Count { to: 3 }).await.unwrap();
    until(|| async { run.state().await.unwrap() == PublicState::Delayed }).await;
    working.end().await.unwrap();
}

struct Panicky;

#[async_trait]
impl Codec for Panicky {
    async fn encode(&self, _: Payload) -> Result<Payload, CodecError> {
        panic!("lost the key")
    }

    async fn decode(&self, payload: Payload) -> Result<Payload, CodecError> {
        Ok(payload)
    }
}

#[tokio::test]
async fn a_panic_beside_the_handler_fails_the_task_too() {
    let scene = Scene::local();
    let layer = from_fn(|task, next| {
        assert_ne!(task.kind(), "hello", "not this one");
        async move { next.run(&task).await }
    });
    let worker = || Worker::new(scene.engine.clone()).task(hello);
    for (builder, told) in [
        (worker().layer(layer), "not this one"),
        (worker().codec(Panicky), "lost the key"),
    ] {
        let working = Working::new(&builder.build().unwrap());
        let run = scene.client.submit(Hello::ana()).await.unwrap();
        let Error::Ended(ended) = run.result().await.unwrap_err() else {
            panic!("nothing comes of it")
        };
        let failure = ended.failure.unwrap();
        assert_eq!(failure.category.as_str(), "panic");
        assert!(failure.reason.contains(told), "{}", failure.reason);
        working.end().await.unwrap();
    }
}

#[tokio::test]
async fn a_handler_of_bytes_takes_any_kind() {
    async fn reversed(Raw(raw): Raw) -> Result<Payload, TaskError> {
        Ok(Payload::binary(raw.bytes.iter().rev().copied().collect::<Vec<u8>>()))
    }
    let scene = Scene::local();
    let working = Working::new(
        &Worker::new(scene.engine.clone())
            .on("legacy.kind", reversed)
            .build()
            .unwrap(),
    );
    let kind = ff_core::name::ExecutionKind::parse("legacy.kind").unwrap();
    let submission = ff_core::command::submit::CreateExecution::new(kind, Payload::binary("abc"));
    let id = scene.engine.create_execution(submission).await.unwrap().execution_id();
    let read = ff_core::fabric::types::GetResult {
        wait: ff_core::time::Duration::from_secs(30),
    };
    let result = scene
        .engine
        .get_result(ff_core::fabric::On::new(id, read))
        .await
        .unwrap();
    assert_eq!(result.bytes, "cba");
    working.end().await.unwrap();
}

#[tokio::test]
async fn layers_run_around_the_handler_the_first_outermost() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let layer = |name: &'static str| {
        let seen = Arc::clone(&seen);
        from_fn(move |task, next| {
            let seen = Arc::clone(&seen);
            async move {
                seen.lock().unwrap().push(format!("{name} begins {}", task.kind()));
                let end = next.run(&task).await;
                seen.lock().unwrap().push(format!("{name} ends {}", end.is_ok()));
                end
            }
        })
    };
    let scene = Scene::local();
    let builder = Worker::new(scene.engine.clone())
        .layer(layer("outer"))
        .layer(layer("inner"))
        .task(hello);
    let working = Working::new(&builder.build().unwrap());
    scene.client.submit(Hello::ana()).await.unwrap().result().await.unwrap();
    working.end().await.unwrap();
    let seen = seen.lock().unwrap();
    assert_eq!(
        *seen,
        [
            "outer begins hello",
            "inner begins hello",
            "inner ends true",
            "outer ends true"
        ]
    );
}
