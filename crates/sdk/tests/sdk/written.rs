//! Handlers as people write them: an approval with a typed note, and an agent that streams, pays and stops.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ff_core::id::BudgetId;
use ff_core::name::Dimension;
use ff_core::state::PublicState;
use ff_sdk::OnTimeout::Escalate;
use ff_sdk::{Ctx, Fabric, Input, State, Task, TaskError, Tier, Worker, days, secs, tier};
use serde::{Deserialize, Serialize};

use crate::scene::Scene;
use crate::working::{Working, until};

#[derive(Serialize, Deserialize, Task)]
#[task(kind = "publish", output = String)]
struct Publish {
    title: String,
}

#[derive(Serialize, Deserialize)]
struct Note {
    text: String,
}

#[derive(Clone, Default)]
struct Cms(Arc<AtomicUsize>);

impl Cms {
    async fn post(&self, draft: &str, key: String) -> Result<String, TaskError> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Ok(format!("blog/{draft}?{}", key.ends_with("/post#0")))
    }
}

async fn write_draft(job: &Publish) -> Result<String, TaskError> {
    Ok(job.title.to_lowercase())
}

async fn publish(Input(job): Input<Publish>, State(cms): State<Cms>, ctx: Ctx) -> Result<String, TaskError> {
    let draft = ctx.step("draft", |_| write_draft(&job)).await?;
    let decision = ctx
        .approval::<Note>("review")
        .show(&draft)
        .expires(days(7))
        .on_timeout(Escalate)
        .await?;
    if !decision.approved {
        return Err(TaskError::permanent(format!("rejected by {}", decision.by)));
    }
    ctx.step("post", |s| cms.post(&draft, s.key())).await
}

#[tokio::test]
async fn a_draft_is_published_when_a_person_agrees() {
    let scene = Scene::local();
    let cms = Cms::default();
    let working = Working::new(
        &Worker::new(scene.engine.clone())
            .state(cms.clone())
            .task(publish)
            .build()
            .unwrap(),
    );
    let submit = || {
        scene.client.submit(Publish {
            title: "Hello".to_owned(),
        })
    };
    let run = submit().await.unwrap();
    until(|| async { run.state().await.unwrap() == PublicState::Suspended }).await;
    run.approve("review")
        .note(&Note { text: "go".to_owned() })
        .await
        .unwrap();
    assert_eq!(run.result().await.unwrap(), "blog/hello?true");
    let other = submit().await.unwrap();
    until(|| async { other.state().await.unwrap() == PublicState::Suspended }).await;
    other.reject("review").await.unwrap();
    let error = other.result().await.unwrap_err().to_string();
    assert!(error.contains("rejected by"), "{error}");
    assert_eq!(cms.0.load(Ordering::SeqCst), 1);
    working.end().await.unwrap();
}

#[tokio::test]
async fn the_same_handler_runs_without_an_engine() {
    let decided = ff_sdk::Decided {
        approved: true,
        by: "ana".to_owned(),
        verified: true,
        note: None::<()>,
        reason: None,
    };
    let job = Publish {
        title: "Hello".to_owned(),
    };
    let ctx = Ctx::detached().with("review#0", &decided);
    let url = publish(Input(job), State(Cms::default()), ctx).await.unwrap();
    assert_eq!(url, "blog/hello?true");
}

#[derive(Serialize, Deserialize, Task)]
#[task(kind = "agent", output = String)]
struct Ask {
    question: String,
    budget: BudgetId,
}

#[derive(Clone, Default)]
struct Llm(Arc<AtomicUsize>);

#[derive(Serialize, Deserialize)]
struct Reply {
    text: String,
    tokens: u64,
}

struct Tokens(Vec<&'static str>, Reply);

impl Tokens {
    async fn next(&mut self) -> Option<Result<&'static str, TaskError>> {
        self.0.pop().map(Ok)
    }

    fn finish(self) -> Result<Reply, TaskError> {
        Ok(self.1)
    }
}

impl Llm {
    async fn stream(&self, model: &str, talk: &Talk) -> Result<Tokens, TaskError> {
        self.0.fetch_add(1, Ordering::SeqCst);
        let text = if talk.0.len() < 3 { "tool" } else { "answer" };
        let reply = Reply {
            text: format!("{text} of {model}"),
            tokens: 2,
        };
        Ok(Tokens(vec!["b", "a"], reply))
    }
}

struct Talk(Vec<String>);

enum Said {
    Tools(Vec<Call>),
    Done(String),
}

struct Call(String);

impl Call {
    async fn run(&self) -> Result<String, TaskError> {
        Ok(format!("did {}", self.0))
    }
}

impl Talk {
    fn take(&mut self, reply: Reply) -> Said {
        self.0.push(reply.text.clone());
        match reply.text.starts_with("tool") {
            true => Said::Tools(vec![Call("x".to_owned())]),
            false => Said::Done(reply.text),
        }
    }

    fn tool(&mut self, result: String) {
        self.0.push(result);
    }
}

async fn agent(
    Input(job): Input<Ask>,
    State(llm): State<Llm>,
    Tier(tier): Tier,
    ctx: Ctx,
) -> Result<String, TaskError> {
    let mut talk = Talk(vec![job.question]);
    loop {
        let reply = ctx
            .step("llm", |_| async {
                let (mut out, mut tokens) = (ctx.frames("token"), llm.stream(&tier.model, &talk).await?);
                loop {
                    tokio::select! {
                        stop = ctx.stopped() => return Err(stop.into()),
                        token = tokens.next() => match token {
                            Some(t) => out.push(&t?).await?,
                            None => break tokens.finish(),
                        },
                    }
                }
            })
            .charge(job.budget, |r| [("tokens", r.tokens)])
            .await?;
        match talk.take(reply) {
            Said::Tools(calls) => {
                for c in calls {
                    talk.tool(ctx.step("tool", |_| c.run()).await?);
                }
            }
            Said::Done(answer) => return Ok(answer),
        }
    }
}

#[tokio::test]
async fn an_agent_streams_and_pays_for_what_it_does_once() {
    let scene = Scene::local();
    let tokens = Dimension::parse("tokens").unwrap();
    let budget = scene.client.new_budget("an agent").hard("tokens", 1_000).await.unwrap();
    let llm = Llm::default();
    let working = Working::new(
        &Worker::new(scene.engine.clone())
            .state(llm.clone())
            .task(agent)
            .build()
            .unwrap(),
    );
    let ask = Ask {
        question: "why?".to_owned(),
        budget,
    };
    let submit = scene.client.submit(ask).tiers([tier("openai", "big", secs(60))]);
    let run = submit.await.unwrap();
    assert_eq!(run.result().await.unwrap(), "answer of big");
    scene.settle().await;
    assert_eq!(
        scene.engine.get_budget(budget).await.unwrap().dimensions[&tokens].usage,
        4
    );
    assert_eq!(llm.0.load(Ordering::SeqCst), 2);
    let mut frames = run.frames().await.unwrap();
    let mut texts = String::new();
    while let Some(frame) = frames.next().await {
        texts += &frame.unwrap().json::<String>().unwrap();
    }
    assert_eq!(texts, "abab");
    working.end().await.unwrap();
}
