//! A flow as people write it, with the worker that runs it.

use ff_sdk::prelude::*;
use serde::{Deserialize, Serialize};

use crate::scene::Scene;
use crate::working::{Working, until};

#[derive(Serialize, Deserialize, Task)]
#[task(kind = "fetch", output = Page)]
struct Fetch {
    url: String,
}

impl Fetch {
    fn of(url: &str) -> Self {
        Self { url: url.to_owned() }
    }
}

#[derive(Serialize, Deserialize)]
struct Page {
    words: Vec<String>,
}

#[derive(Serialize, Deserialize, Task)]
#[task(kind = "merge", output = String, inputs = MergeInputs)]
struct Merge {}

#[derive(FromInputs)]
struct MergeInputs {
    pages: Vec<Page>,
}

#[derive(Serialize, Deserialize, Task)]
#[task(kind = "render", output = Report, inputs = RenderInputs, retries = 2)]
struct Render {}

#[derive(FromInputs)]
struct RenderInputs {
    text: String,
    style: Option<String>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Report {
    body: String,
}

async fn fetch(Input(job): Input<Fetch>) -> Page {
    Page {
        words: vec![job.url, "!".to_owned()],
    }
}

async fn merge(_: Input<Merge>, Inputs(up): Inputs<Merge>) -> Result<String, TaskError> {
    let pages = up.pages.into_iter().map(|page| page.words.concat());
    Ok(pages.collect::<Vec<_>>().join(" "))
}

async fn render(_: Input<Render>, Inputs(up): Inputs<Render>) -> Report {
    let style = up.style.unwrap_or_else(|| "plain".to_owned());
    Report {
        body: format!("{style}: {}", up.text),
    }
}

#[tokio::test]
async fn pages_are_fetched_merged_and_rendered() {
    for scene in Scene::each() {
        let ff = scene.client.clone();
        let worker = Worker::new(ff.clone()).name("web").task(fetch).task(merge).task(render);
        let working = Working::new(&worker.build().unwrap());
        let urls = ["a", "b", "c"];

        let mut flow = Flow::new("report");
        let pages: Vec<_> = urls.iter().map(|u| flow.add(Fetch::of(u))).collect();
        let merged = flow.add(Merge {}).collect("pages", &pages);
        let report = flow.add(Render {}).input("text", &merged);
        let run = ff.submit_flow(flow).await.unwrap();

        // The engine's background work is done by hand where time stands still.
        until(|| async {
            scene.settle().await;
            run.run(&report).unwrap().state().await.unwrap().is_terminal()
        })
        .await;
        let expected = Report {
            body: "plain: a! b! c!".to_owned(),
        };
        assert_eq!(run.result(&report).await.unwrap(), expected);
        working.end().await.unwrap();
    }
}
