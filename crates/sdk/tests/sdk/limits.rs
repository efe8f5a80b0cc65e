//! What is much, large, late or lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ff_core::caller::{Caller, Role};
use ff_core::state::PublicState;
use ff_sdk::{Client, Ctx, Error, Handler, Input, Run, TaskError, Worker, secs};
use ff_server::{Server, Settings, serve};
use tokio::sync::{Barrier, oneshot};

use crate::scene::Scene;
use crate::shaky::{Line, Shaky};
use crate::working::{Door, Hello, Working, until};

fn working<H: Handler<Args>, Args: 'static>(client: Client, handler: H) -> Working {
    Working::new(&Worker::new(client).task(handler).build().unwrap())
}

async fn reason(run: &Run<String>) -> String {
    match run.result().await.unwrap_err() {
        Error::Ended(ended) => ended.failure.unwrap().reason,
        other => panic!("{other}"),
    }
}

/// The address of a server for which everybody is a worker, and nothing else.
async fn serve_workers(scene: &Scene) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let everybody = Caller {
        role: Role::Worker,
        ..Caller::local()
    };
    let settings = Settings {
        everybody: Some(everybody),
        ..Settings::default()
    };
    let server = Server::new(scene.engine.clone(), settings);
    tokio::spawn(async move { serve(&server, listener, None, std::future::pending()).await });
    format!("http://{address}")
}

#[tokio::test]
async fn more_tasks_end_at_once_than_fit_into_one_call() {
    const TASKS: usize = 1_200;
    let scene = Scene::local();
    let barrier = Arc::new(Barrier::new(TASKS));
    let handler = move |Input(job): Input<Hello>| {
        let barrier = Arc::clone(&barrier);
        async move {
            barrier.wait().await;
            job.name
        }
    };
    let worker = Worker::new(scene.client.clone())
        .concurrency(TASKS)
        .task(handler)
        .build()
        .unwrap();
    let working = Working::new(&worker);
    let mut runs = Vec::new();
    for _ in 0..TASKS {
        runs.push(scene.client.submit(Hello::ana()).await.unwrap());
    }
    for run in runs {
        assert_eq!(run.result().await.unwrap(), "Ana");
    }
    working.end().await.unwrap();
}

#[tokio::test]
async fn what_is_too_large_fails_for_good() {
    let scene = Scene::local();
    let handler = |Input(job): Input<Hello>, ctx: Ctx| async move {
        let large = "x".repeat(2 * 1024 * 1024);
        match job.name.as_str() {
            "step" => ctx.step("large", |_| async { Ok(large) }).await,
            _ => Ok(large),
        }
    };
    let working = working(scene.client.clone(), handler);
    for (name, told) in [
        ("step", "step large#0 could not be recorded"),
        ("result", "was refused"),
    ] {
        let task = Hello { name: name.to_owned() };
        let run = scene.client.submit(task).retries(3).await.unwrap();
        let reason = reason(&run).await;
        assert!(reason.contains(told), "{reason}");
    }
    working.end().await.unwrap();
}

#[tokio::test]
async fn a_long_journal_is_read_in_parts_by_who_may_only_work() {
    let scene = Scene::local();
    let url = serve_workers(&scene).await;
    let calls = Arc::new(AtomicUsize::new(0));
    let handler = {
        let calls = Arc::clone(&calls);
        move |_: Input<Hello>, ctx: Ctx| {
            let calls = Arc::clone(&calls);
            async move {
                let mut bytes = 0;
                for _ in 0..20 {
                    let page = ctx.step("page", |_| async {
                        calls.fetch_add(1, Ordering::SeqCst);
                        Ok("x".repeat(100_000))
                    });
                    bytes += page.await?.len();
                }
                match ctx.attempt() {
                    0 => Err(TaskError::transient("again")),
                    _ => Ok(bytes.to_string()),
                }
            }
        }
    };
    let working = working(Client::connect(url).open().unwrap(), handler);
    let submit = scene.client.submit(Hello::ana()).retries(1).fixed_backoff(secs(1));
    let run = submit.await.unwrap();
    until(|| async { run.state().await.unwrap() == PublicState::Delayed }).await;
    scene.pass(secs(1)).await;
    assert_eq!(run.result().await.unwrap(), "2000000");
    assert_eq!(calls.load(Ordering::SeqCst), 20);
    working.end().await.unwrap();
}

#[tokio::test]
async fn steps_whose_answers_are_lost_are_recorded_once() {
    let scene = Scene::local();
    let (shaky, _told) = Shaky::new(scene.engine.clone());
    let (calls, door) = (Arc::new(AtomicUsize::new(0)), Door::default());
    let handler = {
        let (calls, door) = (Arc::clone(&calls), door.clone());
        move |_: Input<Hello>, ctx: Ctx| {
            let (calls, door) = (Arc::clone(&calls), door.clone());
            async move {
                door.pass().await;
                let count = ctx
                    .step("count", |_| async { Ok(calls.fetch_add(1, Ordering::SeqCst)) })
                    .await?;
                ctx.emit("note", "once").await?;
                Ok::<_, TaskError>(count.to_string())
            }
        }
    };
    let working = Working::new(&Worker::new(shaky.clone()).task(handler).build().unwrap());
    let run = scene.client.submit(Hello::ana()).await.unwrap();
    door.reached().await;
    shaky.set(Line::Deaf);
    let before = shaky.exchanges();
    door.open();
    until(|| async { shaky.exchanges() > before + 2 }).await;
    shaky.set(Line::Up);
    assert_eq!(run.result().await.unwrap(), "0");
    assert_eq!((calls.load(Ordering::SeqCst), run.steps().await.unwrap().len()), (1, 1));
    let mut frames = run.frames().await.unwrap();
    assert!(frames.next().await.is_some());
    assert!(frames.next().await.is_none(), "one frame was put out");
    working.end().await.unwrap();
}

#[tokio::test]
async fn after_the_handler_has_ended_its_context_answers_nothing() {
    let scene = Scene::local();
    let (told, telling) = oneshot::channel();
    let told = Arc::new(std::sync::Mutex::new(Some(told)));
    let handler = move |_: Input<Hello>, ctx: Ctx| {
        let told = told.lock().unwrap().take();
        async move {
            let begun = Arc::new(tokio::sync::Notify::new());
            let beside = Arc::clone(&begun);
            tokio::spawn(async move {
                let left = ctx.step("left", |_| async {
                    beside.notify_one();
                    std::future::pending::<Result<(), TaskError>>().await
                });
                let left = left.await.unwrap_err().to_string();
                let late = ctx.step("late", |_| async { Ok(1) }).await.unwrap_err().to_string();
                told.unwrap().send((left, late)).unwrap();
            });
            begun.notified().await;
            "done".to_owned()
        }
    };
    let working = working(scene.client.clone(), handler);
    let run = scene.client.submit(Hello::ana()).await.unwrap();
    assert_eq!(run.result().await.unwrap(), "done");
    let (left, late) = telling.await.unwrap();
    assert!(
        left.contains("has ended") && late.contains("has ended"),
        "{left}, {late}"
    );
    working.end().await.unwrap();
}
