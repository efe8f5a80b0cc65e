//! Steps: what was done is not done again, whatever happens to the handler.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use ff_core::command::steps::ReadSteps;
use ff_core::fabric::On;
use ff_core::id::ExecutionId;
use ff_core::record::StepState;
use ff_core::state::PublicState;
use ff_sdk::{Ctx, Drain, Error, Fabric, Handler, Input, Run, TaskError, Worker, WorkerBuilder, secs};
use futures::future::join_all;

use crate::scene::Scene;
use crate::working::{Door, Hello, Working, until};

/// Counts how often something runs.
#[derive(Clone, Default)]
struct Count(Arc<AtomicUsize>);

impl Count {
    fn up(&self) -> usize {
        self.0.fetch_add(1, Ordering::SeqCst)
    }

    fn get(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

fn worker(scene: &Scene) -> WorkerBuilder {
    Worker::new(scene.client.clone())
}

fn working<H: Handler<Args>, Args: 'static>(scene: &Scene, handler: H) -> Working {
    Working::new(&worker(scene).task(handler).build().unwrap())
}

/// The keys that are recorded, with how each ended.
async fn recorded(scene: &Scene, id: ExecutionId) -> Vec<(String, StepState)> {
    let page = scene
        .engine
        .read_steps(On::new(id, ReadSteps::default()))
        .await
        .unwrap();
    page.items
        .iter()
        .map(|step| (step.key.to_string(), step.state))
        .collect()
}

async fn reason(run: &Run<String>) -> String {
    match run.result().await.unwrap_err() {
        Error::Ended(ended) => ended.failure.unwrap().reason,
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn what_was_recorded_is_not_done_again_by_a_retry() {
    for scene in Scene::each() {
        let (drafts, tries) = (Count::default(), Count::default());
        let handler = {
            let (drafts, tries) = (drafts.clone(), tries.clone());
            move |Input(job): Input<Hello>, ctx: Ctx| {
                let (drafts, tries) = (drafts.clone(), tries.clone());
                async move {
                    let draft = ctx
                        .step("draft", |_| async { Ok(format!("{} {}", job.name, drafts.up())) })
                        .await?;
                    if tries.up() == 0 {
                        return Err(TaskError::transient("the first time it breaks"));
                    }
                    ctx.step("post", |s| async move { Ok(format!("{draft}, {}", s.number_of_try())) })
                        .await
                }
            }
        };
        let working = working(&scene, handler);
        let run = scene
            .client
            .submit(Hello::ana())
            .retries(1)
            .fixed_backoff(secs(1))
            .await
            .unwrap();
        until(|| async { run.state().await.unwrap() == PublicState::Delayed }).await;
        scene.pass(secs(1)).await;
        assert_eq!(run.result().await.unwrap(), "Ana 0, 0");
        assert_eq!((drafts.get(), tries.get()), (1, 2));
        let done = |key: &str| (key.to_owned(), StepState::Done);
        assert_eq!(recorded(&scene, run.id()).await, [done("draft#0"), done("post#0")]);
        working.end().await.unwrap();
    }
}

#[tokio::test]
async fn another_worker_goes_on_where_a_dropped_one_was() {
    let scene = Scene::local();
    let (calls, door) = (Count::default(), Door::default());
    let handler = {
        let (calls, door) = (calls.clone(), door.clone());
        move |_: Input<Hello>, ctx: Ctx| {
            let (calls, door) = (calls.clone(), door.clone());
            async move {
                for _ in 0..3 {
                    ctx.step("llm", |_| async { Ok(calls.up()) }).await?;
                }
                door.pass().await;
                ctx.step("last", |_| async { Ok(calls.up().to_string()) }).await
            }
        }
    };
    let first = working(&scene, handler.clone());
    let run = scene.client.submit(Hello::ana()).await.unwrap();
    door.reached().await;
    first.abort().await;
    let second = working(&scene, handler);
    door.reached().await;
    door.open();
    assert_eq!(run.result().await.unwrap(), "3");
    assert_eq!(calls.get(), 4);
    second.end().await.unwrap();
}

#[tokio::test]
async fn a_permanent_failure_is_what_a_step_comes_to_every_time() {
    let scene = Scene::local();
    let (calls, tries) = (Count::default(), Count::default());
    let handler = {
        let (calls, tries) = (calls.clone(), tries.clone());
        move |_: Input<Hello>, ctx: Ctx| {
            let (calls, tries) = (calls.clone(), tries.clone());
            async move {
                let refused = ctx
                    .step("ask", |_| async {
                        calls.up();
                        Err::<(), _>(TaskError::permanent("not allowed"))
                    })
                    .await;
                let error = refused.unwrap_err();
                assert!(error.is_permanent());
                match tries.up() {
                    0 => Err(TaskError::transient("again")),
                    _ => Ok(error.to_string()),
                }
            }
        }
    };
    let working = working(&scene, handler);
    let run = scene
        .client
        .submit(Hello::ana())
        .retries(1)
        .fixed_backoff(secs(1))
        .await
        .unwrap();
    until(|| async { run.state().await.unwrap() == PublicState::Delayed }).await;
    scene.pass(secs(1)).await;
    assert_eq!(run.result().await.unwrap(), "not allowed");
    assert_eq!(calls.get(), 1);
    assert_eq!(
        recorded(&scene, run.id()).await,
        [("ask#0".to_owned(), StepState::Failed)]
    );
    working.end().await.unwrap();
}

#[tokio::test]
async fn a_body_is_tried_again_in_place_and_only_what_it_gives_is_recorded() {
    let scene = Scene::local();
    let handler = |_: Input<Hello>, ctx: Ctx| async move {
        let short = Duration::from_millis(1)..Duration::from_millis(2);
        let tries = ctx
            .step("flaky", |s| async move {
                match s.number_of_try() {
                    2 => Ok(s.number_of_try()),
                    _ => Err(TaskError::transient("not yet")),
                }
            })
            .retry(5, short)
            .await?;
        let stuck = ctx
            .step("stuck", |_| std::future::pending::<Result<(), TaskError>>())
            .timeout(Duration::from_millis(5));
        let late = stuck.await.unwrap_err();
        assert_eq!(late.category_name(), "timeout");
        Ok::<_, TaskError>(format!("{tries}: {late}"))
    };
    let working = working(&scene, handler);
    let run = scene.client.submit(Hello::ana()).await.unwrap();
    let told = run.result().await.unwrap();
    assert!(told.starts_with("2: step stuck#0 took longer"), "{told}");
    assert_eq!(
        recorded(&scene, run.id()).await,
        [("flaky#0".to_owned(), StepState::Done)]
    );
    working.end().await.unwrap();
}

#[tokio::test]
async fn many_steps_at_once_are_recorded_in_few_calls() {
    let scene = Scene::local();
    let handler = |_: Input<Hello>, ctx: Ctx| async move {
        let steps = (0..250).map(|number| ctx.step("page", move |_| async move { Ok(number) }));
        let values: Result<Vec<u32>, TaskError> = join_all(steps).await.into_iter().collect();
        Ok::<_, TaskError>(values?.iter().sum::<u32>().to_string())
    };
    let working = working(&scene, handler);
    let run = scene.client.submit(Hello::ana()).await.unwrap();
    assert_eq!(run.result().await.unwrap(), (0..250).sum::<u32>().to_string());
    let read = ReadSteps {
        limit: Some(1_000),
        ..ReadSteps::default()
    };
    let page = scene.engine.read_steps(On::new(run.id(), read)).await.unwrap();
    assert_eq!(page.items.len(), 250);
    working.end().await.unwrap();
}

#[tokio::test]
async fn whoever_looks_sees_the_steps_that_are_under_way() {
    for scene in Scene::each() {
        let door = Door::default();
        let behind = door.clone();
        let handler = move |_: Input<Hello>, ctx: Ctx| {
            let door = behind.clone();
            async move {
                let (first, second) = (door.clone(), door.clone());
                let both = futures::join!(
                    ctx.step("fetch", |_| async move {
                        first.pass().await;
                        Ok(())
                    }),
                    ctx.step("draft", |_| async move {
                        second.pass().await;
                        Ok(())
                    }),
                );
                both.0.and(both.1)?;
                door.pass().await;
                Ok::<_, TaskError>(String::new())
            }
        };
        let working = Working::new(&worker(&scene).lease(secs(1)).task(handler).build().unwrap());
        let run = scene.client.submit(Hello::ana()).await.unwrap();
        let doing = async || {
            let view = scene.engine.get_execution(run.id()).await.unwrap();
            let steps = view.doing.into_iter().map(|doing| doing.step);
            steps.collect::<Vec<_>>()
        };
        until(|| async { doing().await == ["fetch#0", "draft#0"] }).await;
        door.open();
        until(|| async { doing().await == ["draft#0"] }).await;
        door.open();
        until(|| async { doing().await.is_empty() }).await;
        door.open();
        run.result().await.unwrap();
        working.end().await.unwrap();
    }
}

/// What the handler of a run fails with.
async fn mistake<H: Handler<Args, Task = Hello>, Args: 'static>(handler: H) -> String {
    let scene = Scene::local();
    let working = working(&scene, handler);
    let run = scene
        .client
        .submit(Hello::ana())
        .retries(3)
        .fixed_backoff(secs(1))
        .await
        .unwrap();
    until(|| async {
        scene.pass(secs(1)).await;
        run.state().await.unwrap() == PublicState::Failed
    })
    .await;
    let told = reason(&run).await;
    working.end().await.unwrap();
    told
}

#[tokio::test]
async fn mistakes_with_keys_fail_for_good_and_name_the_steps() {
    async fn one() -> Result<u8, TaskError> {
        Ok(1)
    }
    let told = mistake(|_: Input<Hello>, ctx: Ctx| async move {
        ctx.step("tool", |_| one()).key("a").await?;
        ctx.step("tool", |_| one()).key("a").await?;
        Ok::<_, TaskError>(String::new())
    });
    assert!(told.await.starts_with("step tool[a] was called before"));
    let told = mistake(|_: Input<Hello>, ctx: Ctx| async move {
        ctx.step("outer", |_| async { ctx.step("inner", |_| one()).await })
            .await?;
        Ok::<_, TaskError>(String::new())
    });
    assert!(told.await.starts_with("step inner#0 was called inside step outer#0"));
    let told = mistake(|_: Input<Hello>, ctx: Ctx| async move {
        let door = Door::default();
        let slow = async {
            ctx.step("fetch", |_| async {
                door.pass().await;
                one().await
            })
            .await?;
            ctx.step("parse", |_| one()).await
        };
        let fast = async {
            door.reached().await;
            ctx.step("fetch", |_| one()).await?;
            let parsed = ctx.step("parse", |_| one()).await;
            door.open();
            parsed
        };
        let (slow, fast) = futures::future::join(slow, fast).await;
        slow?;
        fast?;
        Ok::<_, TaskError>(String::new())
    });
    let told = told.await;
    assert!(
        told.starts_with("ambiguous step: parse#0") && told.contains("fetch#0"),
        "{told}"
    );
}

#[tokio::test]
async fn branches_side_by_side_have_scopes() {
    let scene = Scene::local();
    let handler = |_: Input<Hello>, ctx: Ctx| async move {
        let branch = |ctx: Ctx| async move {
            let page = ctx.step("fetch", |_| async { Ok(2) }).await?;
            ctx.step("parse", |_| async { Ok(page * 2) }).await
        };
        let (a, b) = futures::future::join(branch(ctx.scope("a")), branch(ctx.scope("b"))).await;
        Ok::<_, TaskError>((a? + b?).to_string())
    };
    let working = working(&scene, handler);
    let run = scene.client.submit(Hello::ana()).await.unwrap();
    assert_eq!(run.result().await.unwrap(), "8");
    let mut keys: Vec<String> = recorded(&scene, run.id())
        .await
        .into_iter()
        .map(|(key, _)| key)
        .collect();
    keys.sort();
    assert_eq!(keys, ["a/fetch#0", "a/parse#0", "b/fetch#0", "b/parse#0"]);
    working.end().await.unwrap();
}

#[tokio::test]
async fn a_step_that_is_called_with_something_else_runs_again() {
    let scene = Scene::local();
    let (calls, tries) = (Count::default(), Count::default());
    let handler = {
        let (calls, tries) = (calls.clone(), tries.clone());
        move |_: Input<Hello>, ctx: Ctx| {
            let (calls, tries) = (calls.clone(), tries.clone());
            async move {
                let turn = tries.up();
                let arguments = [turn / 2, 7];
                let told = ctx
                    .step_with("tool", &arguments, |_, arguments| {
                        calls.up();
                        async move { Ok(format!("{arguments:?}")) }
                    })
                    .await?;
                match turn {
                    0 | 1 => Err(TaskError::transient("again")),
                    _ => Ok(told),
                }
            }
        }
    };
    let working = working(&scene, handler);
    let run = scene
        .client
        .submit(Hello::ana())
        .retries(2)
        .fixed_backoff(secs(1))
        .await
        .unwrap();
    for _ in 0..2 {
        until(|| async { run.state().await.unwrap() == PublicState::Delayed }).await;
        scene.pass(secs(1)).await;
    }
    assert_eq!(run.result().await.unwrap(), "[1, 7]");
    assert_eq!(calls.get(), 2);
    working.end().await.unwrap();
}

#[tokio::test]
async fn a_record_that_the_code_cannot_read_any_more_says_what_to_do() {
    let told = mistake({
        let tries = Count::default();
        move |_: Input<Hello>, ctx: Ctx| {
            let tries = tries.clone();
            async move {
                if tries.up() == 0 {
                    ctx.step("llm", |_| async { Ok("text".to_owned()) }).await?;
                    return Err(TaskError::transient("again"));
                }
                ctx.step("llm", |_| async { Ok(vec![1_u8]) }).await?;
                Ok(String::new())
            }
        }
    });
    let told = told.await;
    assert!(
        told.starts_with("step llm#0 was recorded as run on 2027-01-15 08:0"),
        "{told}"
    );
    assert!(told.ends_with("rename the step or replay with steps=none"), "{told}");
}

#[tokio::test]
async fn a_worker_that_shuts_down_begins_no_further_step_and_another_goes_on_there() {
    let scene = Scene::local();
    let calls = Count::default();
    let handler = {
        let calls = calls.clone();
        move |_: Input<Hello>, ctx: Ctx| {
            let calls = calls.clone();
            async move {
                ctx.step("first", |_| async {
                    calls.up();
                    ctx.stopped().await;
                    Ok(())
                })
                .await?;
                ctx.step("second", |_| async { Ok(calls.up().to_string()) }).await
            }
        }
    };
    let first = Working::new(
        &worker(&scene)
            .drain(Drain::AT_STEP)
            .task(handler.clone())
            .build()
            .unwrap(),
    );
    let run = scene.client.submit(Hello::ana()).await.unwrap();
    until(|| async { calls.get() == 1 }).await;
    first.end().await.unwrap();
    assert_eq!((run.state().await.unwrap(), calls.get()), (PublicState::Waiting, 1));
    let second = working(&scene, handler);
    assert_eq!(run.result().await.unwrap(), "1");
    second.end().await.unwrap();
}

#[tokio::test]
async fn a_task_that_a_handler_submits_is_submitted_once() {
    let scene = Scene::local();
    let tries = Count::default();
    let handler = {
        let tries = tries.clone();
        move |Input(job): Input<Hello>, ctx: Ctx| {
            let tries = tries.clone();
            async move {
                if job.name != "Ana" {
                    return Ok(format!("hello {}", job.name));
                }
                let other = ctx.submit("greet", Hello { name: "Bo".to_owned() }).await?;
                match tries.up() {
                    0 => Err(TaskError::transient("again")),
                    _ => Ok(other.id().to_string()),
                }
            }
        }
    };
    let working = working(&scene, handler);
    let run = scene
        .client
        .submit(Hello::ana())
        .retries(1)
        .fixed_backoff(secs(1))
        .await
        .unwrap();
    until(|| async { run.state().await.unwrap() == PublicState::Delayed }).await;
    scene.pass(secs(1)).await;
    let other = run.result().await.unwrap().parse().unwrap();
    assert_eq!(scene.client.run::<Hello>(other).result().await.unwrap(), "hello Bo");
    working.end().await.unwrap();
}

#[tokio::test]
async fn frames_come_in_order_and_those_of_a_step_carry_its_key() {
    let scene = Scene::local();
    let handler = |_: Input<Hello>, ctx: Ctx| async move {
        ctx.emit("note", "begin").await?;
        ctx.summary(&serde_json::json!({ "words": 100 })).await?;
        ctx.step("llm", |_| async {
            let mut out = ctx.frames("token");
            for word in 0..100 {
                out.push(&word).await?;
            }
            Ok(())
        })
        .await?;
        Ok::<_, TaskError>("done".to_owned())
    };
    let working = working(&scene, handler);
    let run = scene.client.submit(Hello::ana()).await.unwrap();
    run.result().await.unwrap();
    let mut frames = run.frames().await.unwrap();
    let (mut words, mut notes) = (Vec::new(), 0);
    while let Some(frame) = frames.next().await {
        let frame = frame.unwrap();
        match frame.frame_type.as_str() {
            "token" => {
                assert_eq!(frame.correlation_id.as_deref(), Some("llm#0/0"));
                words.push(frame.json::<u32>().unwrap());
            }
            "note" => notes += 1,
            _ => {}
        }
    }
    assert_eq!((words, notes), ((0..100).collect(), 1));
    working.end().await.unwrap();
}
