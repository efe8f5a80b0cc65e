//! What handlers put out: frames, gathered and in order, and how far they are.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use ff_sdk::{Ctx, Fabric, Handler, Input, Run, State, TaskError, Worker};

use crate::scene::Scene;
use crate::shaky::{Line, Shaky};
use crate::working::{Door, Hello, Working, until};

/// How long frames are gathered, and how much of them.
const GATHER: (Duration, usize) = (Duration::from_millis(20), 16 * 1024);

fn working<H: Handler<Args>, Args: 'static>(shaky: &Shaky, door: &Door, handler: H) -> Working {
    let builder = Worker::new(shaky.clone()).state(door.clone()).task(handler);
    Working::new(&builder.build().unwrap())
}

async fn texts(run: &Run<String>) -> Vec<String> {
    let (mut frames, mut texts) = (run.frames().await.unwrap(), Vec::new());
    while let Some(frame) = frames.next().await {
        texts.push(frame.unwrap().json().unwrap());
    }
    texts
}

#[tokio::test]
async fn many_frames_take_few_calls() {
    const FRAMES: usize = 600;
    async fn streams(_: Input<Hello>, State(door): State<Door>, ctx: Ctx) -> Result<String, TaskError> {
        door.pass().await;
        let mut out = ctx.frames("token");
        for number in 0..FRAMES {
            out.push(&number.to_string()).await?;
        }
        Ok(String::new())
    }
    let scene = Scene::local();
    let (shaky, _told) = Shaky::new(scene.engine.clone());
    let door = Door::default();
    let working = working(&shaky, &door, streams);
    let run = scene.client.submit(Hello::ana()).await.unwrap();
    door.reached().await;
    let (begun, before) = (Instant::now(), shaky.exchanges());
    door.open();
    run.result().await.unwrap();
    let gathered = begun.elapsed().as_millis() / GATHER.0.as_millis() + (FRAMES * 100 / GATHER.1) as u128;
    let calls = (shaky.exchanges() - before) as u128;
    // Besides there is the end of the task, and the next call for tasks.
    assert!(calls <= gathered + 3, "{calls} calls in {:?}", begun.elapsed());
    let expected: Vec<String> = (0..FRAMES).map(|number| number.to_string()).collect();
    assert_eq!(texts(&run).await, expected);
    working.end().await.unwrap();
}

#[tokio::test]
async fn a_frame_that_nothing_follows_arrives_all_the_same() {
    async fn streams(_: Input<Hello>, State(door): State<Door>, ctx: Ctx) -> Result<String, TaskError> {
        ctx.frames("token").push("first").await?;
        door.pass().await;
        Ok(String::new())
    }
    let scene = Scene::local();
    let (shaky, _told) = Shaky::new(scene.engine.clone());
    let door = Door::default();
    let working = working(&shaky, &door, streams);
    let run = scene.client.submit(Hello::ana()).await.unwrap();
    door.reached().await;
    let mut frames = run.frames().await.unwrap();
    let first = frames.next().await.unwrap().unwrap();
    assert_eq!(first.json::<String>().unwrap(), "first");
    door.open();
    run.result().await.unwrap();
    working.end().await.unwrap();
}

#[tokio::test]
async fn frames_whose_answers_are_lost_arrive_once_and_before_their_step() {
    async fn streams(_: Input<Hello>, State(door): State<Door>, ctx: Ctx) -> Result<String, TaskError> {
        let step = ctx.step("llm", |_| async {
            let mut out = ctx.frames("token");
            for number in 0..100 {
                out.push(&number.to_string()).await?;
            }
            Ok(())
        });
        door.pass().await;
        step.await?;
        door.pass().await;
        Ok(String::new())
    }
    let scene = Scene::local();
    let (shaky, _told) = Shaky::new(scene.engine.clone());
    let door = Door::default();
    let working = working(&shaky, &door, streams);
    let run = scene.client.submit(Hello::ana()).await.unwrap();
    door.reached().await;
    shaky.set(Line::Deaf);
    let before = shaky.exchanges();
    door.open();
    until(|| async { shaky.exchanges() > before + 2 }).await;
    shaky.set(Line::Up);
    door.reached().await;
    // The step has ended: all of it can be read.
    let mut frames = run.frames().await.unwrap();
    for number in 0..100 {
        let frame = frames.next().await.unwrap().unwrap();
        assert_eq!(frame.json::<String>().unwrap(), number.to_string());
        assert_eq!(frame.correlation_id.as_deref(), Some("llm#0/0"));
    }
    door.open();
    run.result().await.unwrap();
    assert!(frames.next().await.is_none(), "none came twice");
    working.end().await.unwrap();
}

#[tokio::test]
async fn a_frame_that_is_refused_is_told_by_the_flush() {
    async fn streams(_: Input<Hello>, ctx: Ctx) -> Result<String, TaskError> {
        let mut out = ctx.frames("token");
        out.push(&"x".repeat(2 * 1024 * 1024)).await?;
        out.flush().await?;
        Ok(String::new())
    }
    let scene = Scene::local();
    let (shaky, _told) = Shaky::new(scene.engine.clone());
    let working = working(&shaky, &Door::default(), streams);
    let run = scene.client.submit(Hello::ana()).await.unwrap();
    let error = run.result().await.unwrap_err().to_string();
    assert!(error.contains("a frame was refused"), "{error}");
    working.end().await.unwrap();
}

async fn progress(scene: &Scene, run: &Run<String>) -> (Option<u8>, Option<String>) {
    let view = scene.engine.get_execution(run.id()).await.unwrap();
    view.progress
        .map_or((None, None), |progress| (progress.pct, progress.message))
}

fn at(pct: u8, message: &str) -> (Option<u8>, Option<String>) {
    (Some(pct), Some(message.to_owned()))
}

#[tokio::test]
async fn progress_goes_with_the_next_step_and_the_last_word_counts() {
    async fn works(_: Input<Hello>, State(door): State<Door>, ctx: Ctx) -> Result<String, TaskError> {
        for turn in 1..=3 {
            ctx.progress(turn * 20, "overtaken").await?;
            ctx.progress(turn * 30, format!("turn {turn}")).await?;
            ctx.step("turn", |_| async { Ok(()) }).await?;
        }
        door.pass().await;
        ctx.progress(100, "done").await?;
        Ok(String::new())
    }
    let scene = Scene::local();
    let (shaky, _told) = Shaky::new(scene.engine.clone());
    let door = Door::default();
    let working = working(&shaky, &door, works);
    let run = scene.client.submit(Hello::ana()).await.unwrap();
    door.reached().await;
    assert_eq!(progress(&scene, &run).await, at(90, "turn 3"));
    assert_eq!(shaky.calls("update_progress"), 0);
    door.open();
    run.result().await.unwrap();
    // No step takes the last one along; it is not lost for that.
    assert_eq!(progress(&scene, &run).await, at(100, "done"));
    assert_eq!(shaky.calls("update_progress"), 1);
    working.end().await.unwrap();
}

#[tokio::test]
async fn progress_that_nothing_follows_is_told_once_for_many_words() {
    async fn works(_: Input<Hello>, State(door): State<Door>, ctx: Ctx) -> Result<String, TaskError> {
        for pct in 1..=50 {
            ctx.progress(pct, "on the way").await?;
        }
        door.pass().await;
        Ok(String::new())
    }
    let scene = Scene::local();
    let (shaky, _told) = Shaky::new(scene.engine.clone());
    let door = Door::default();
    let working = working(&shaky, &door, works);
    let run = scene.client.submit(Hello::ana()).await.unwrap();
    door.reached().await;
    until(|| async { progress(&scene, &run).await == at(50, "on the way") }).await;
    assert_eq!(shaky.calls("update_progress"), 1);
    door.open();
    run.result().await.unwrap();
    working.end().await.unwrap();
}

#[tokio::test]
async fn progress_whose_answer_is_lost_keeps_no_end_back() {
    let ran = Arc::new(AtomicUsize::new(0));
    let handler = {
        let ran = Arc::clone(&ran);
        move |_: Input<Hello>, State(door): State<Door>, ctx: Ctx| {
            ran.fetch_add(1, Ordering::SeqCst);
            async move {
                door.pass().await;
                ctx.progress(100, "done").await?;
                Ok::<_, TaskError>("done".to_owned())
            }
        }
    };
    let scene = Scene::local();
    let (shaky, _told) = Shaky::new(scene.engine.clone());
    let door = Door::default();
    let working = working(&shaky, &door, handler);
    let run = scene.client.submit(Hello::ana()).await.unwrap();
    door.reached().await;
    shaky.set(Line::Deaf);
    door.open();
    until(|| async { shaky.calls("update_progress") > 1 }).await;
    shaky.set(Line::Up);
    assert_eq!(run.result().await.unwrap(), "done");
    assert_eq!(
        (progress(&scene, &run).await, ran.load(Ordering::SeqCst)),
        (at(100, "done"), 1)
    );
    working.end().await.unwrap();
}
