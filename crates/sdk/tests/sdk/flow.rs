//! Flows as code.

use ff_core::machine::flow::FlowState;
use ff_core::state::PublicState;
use ff_sdk::flow::{Any, Quorum};
use ff_sdk::{Error, Flow, FromInputs, NamedInputs, Node, Submission, Task};
use serde::{Deserialize, Serialize};

use crate::scene::Scene;

#[derive(Serialize, Deserialize, Task)]
#[task(kind = "fetch", output = Page)]
struct Fetch {
    url: String,
}

impl Fetch {
    fn of(url: impl Into<String>) -> Self {
        Self { url: url.into() }
    }
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Page {
    text: String,
}

#[derive(Serialize, Deserialize, Task)]
#[task(kind = "merge", output = String, inputs = MergeInputs)]
struct Merge {}

#[derive(FromInputs)]
struct MergeInputs {
    pages: Vec<Page>,
}

#[derive(Serialize, Deserialize, Task)]
#[task(kind = "render", output = Report, inputs = RenderInputs)]
struct Render {}

#[derive(FromInputs)]
struct RenderInputs {
    text: String,
    #[input(name = "style")]
    _style: Option<String>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Report(String);

/// Fetches so many pages, merges and renders them.
fn report(pages: usize) -> (Flow, Vec<Node<Page>>, Node<String>, Node<Report>) {
    let mut flow = Flow::new("report");
    let pages: Vec<_> = (0..pages).map(|page| flow.add(Fetch::of(page.to_string()))).collect();
    let merged = flow.add(Merge {}).collect("pages", &pages);
    let report = flow.add(Render {}).input("text", &merged);
    (flow, pages, merged, report)
}

/// Runs every task there is, as a worker with handlers for the three kinds would; how many there were.
async fn work(scene: &Scene) -> usize {
    let tasks = scene.claim(&["default"], &[]).await;
    for task in &tasks {
        let inputs = task
            .inputs
            .iter()
            .map(|(name, payload)| (name.to_string(), payload.clone()));
        let inputs = NamedInputs::new(inputs);
        match task.execution_kind.as_str() {
            "fetch" => {
                let job: Fetch = ff_sdk::json::read(&task.input).unwrap();
                scene.complete(task, &Page { text: job.url }).await;
            }
            "merge" => {
                let pages = MergeInputs::from_inputs(&inputs).unwrap().pages;
                let texts: Vec<_> = pages.into_iter().map(|page| page.text).collect();
                scene.complete(task, &texts.join("+")).await;
            }
            _ => {
                scene
                    .complete(task, &Report(RenderInputs::from_inputs(&inputs).unwrap().text))
                    .await;
            }
        }
    }
    tasks.len()
}

#[tokio::test]
async fn results_are_passed_on_by_name_from_fan_out_to_fan_in() {
    for scene in Scene::each() {
        let (flow, pages, _, report) = report(12);
        let run = scene.client.submit_flow(flow).await.unwrap();
        assert_eq!(work(&scene).await, 12, "the pages are fetched at once");
        assert_eq!(work(&scene).await, 1);
        assert_eq!(work(&scene).await, 1);
        let text = run.result(&report).await.unwrap();
        assert_eq!(text, Report("0+1+2+3+4+5+6+7+8+9+10+11".to_owned()));
        assert_eq!(run.result(&pages[3]).await.unwrap(), Page { text: "3".to_owned() });
        assert_eq!(run.state().await.unwrap(), FlowState::Completed);
    }
}

#[tokio::test]
async fn a_quorum_goes_on_with_the_first_that_are_there() {
    for scene in Scene::each() {
        let mut flow = Flow::new("report");
        let pages: Vec<_> = (0..3).map(|page| flow.add(Fetch::of(page.to_string()))).collect();
        let merged = flow
            .add(Merge {})
            .collect("pages", &pages)
            .join(Quorum(2))
            .cancel_rest();
        let run = scene.client.submit_flow(flow).await.unwrap();
        let tasks = scene.claim(&["default"], &[]).await;
        for page in [2, 0] {
            let id = run.run(&pages[page]).unwrap().id();
            let task = tasks.iter().find(|task| task.execution_id == id).unwrap();
            scene.complete(task, &Page { text: page.to_string() }).await;
        }
        work(&scene).await;
        assert_eq!(run.result(&merged).await.unwrap(), "0+2");
        let rest = run.run(&pages[1]).unwrap();
        assert_eq!(rest.state().await.unwrap(), PublicState::Cancelled);
    }
}

#[tokio::test]
async fn a_member_waits_for_another_without_being_handed_anything() {
    let scene = Scene::local();
    let mut flow = Flow::new("order");
    let first = flow.add(Fetch::of("first"));
    let second = flow.add(Fetch::of("second")).after(&first).lane("other").named("last");
    let third = flow.add(Fetch::of("third")).after_end_of(&first).join(Any);
    let run = scene.client.submit_flow(flow).await.unwrap();
    let task = scene.claim_one().await;
    assert!(scene.claim(&["other"], &[]).await.is_empty());
    scene.fail(&task, "permanent", "no").await;
    assert_eq!(run.run(&second).unwrap().state().await.unwrap(), PublicState::Skipped);
    assert_eq!(work(&scene).await, 1);
    assert_eq!(run.result(&third).await.unwrap().text, "third");
}

#[tokio::test]
async fn names_that_a_task_does_not_read_and_names_it_misses_are_told_together() {
    let scene = Scene::local();
    let mut flow = Flow::new("wrong");
    let page = flow
        .add(Fetch::of("a"))
        .input("x", &Flow::new("other").add(Fetch::of("b")));
    let _merged = flow.add(Merge {}).input("pages", &page).lane("two words");
    let _render = flow
        .add(Render {})
        .named("render")
        .input("txt", &page)
        .input("style", &page);
    let again = flow.add(Fetch::of("c")).named("render");
    let _loop = again.clone().after(&again);
    let error = scene.client.submit_flow(flow).await.unwrap_err();
    let Error::Invalid { problems, .. } = &error else {
        panic!("{error}")
    };
    let expected = [
        "fetch-0: it waits for a member of another flow",
        "merge-1: the input \"pages\" collects many: .collect(\"pages\", &nodes)",
        "render: one member hands its result over to it twice, as \"txt\" and as \"style\"; a result has one name",
        "render: it reads no input named \"txt\"; it reads \"text\", \"style\"",
        "render: it reads an input named \"text\" that nobody hands over: .input(\"text\", &node)",
        "two members are named \"render\"",
        "render: it waits for itself",
        "merge-1: lane contains a byte that is not printable ASCII",
    ];
    assert_eq!(problems, &expected, "{error}");
}

#[tokio::test]
async fn an_empty_flow_is_refused() {
    let error = Scene::local().client.submit_flow(Flow::new("empty")).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "flow \"empty\" cannot be submitted: it has no members: add a task"
    );
}

#[tokio::test]
async fn a_circle_is_refused() {
    let scene = Scene::local();
    let mut flow = Flow::new("circle");
    let one = flow.add(Fetch::of("1"));
    let two = flow.add(Fetch::of("2")).after(&one);
    let _one = one.after(&two);
    let refused = scene.client.submit_flow(flow).await.unwrap_err();
    assert_eq!(refused.code(), Some(ff_core::error::Code::CycleDetected));
}

#[tokio::test]
async fn a_cancelled_flow_runs_nothing_more() {
    for scene in Scene::each() {
        let (flow, pages, ..) = report(2);
        let run = scene.client.submit_flow(flow).await.unwrap();
        run.cancel("enough").await.unwrap();
        scene.settle().await;
        assert_eq!(work(&scene).await, 0);
        let error = run.result(&pages[0]).await.unwrap_err();
        assert!(
            matches!(&error, Error::Ended(ended) if ended.state == PublicState::Cancelled),
            "{error}"
        );
    }
}

#[tokio::test]
async fn a_flow_with_an_id_is_submitted_once() {
    for scene in Scene::each() {
        let id = ff_core::id::FlowId::from_uuid(uuid::Uuid::from_u128(5));
        let [one, again] = [(); 2].map(|()| {
            let (flow, pages, ..) = report(2);
            (flow.id(id), pages)
        });
        let one_run = scene.client.submit_flow(one.0).await.unwrap();
        let again_run = scene.client.submit_flow(again.0).await.unwrap();
        let ids = [
            one_run.run(&one.1[1]).unwrap().id(),
            again_run.run(&again.1[1]).unwrap().id(),
        ];
        assert_eq!(ids[0], ids[1]);
        assert_eq!(work(&scene).await, 2);
    }
}

#[tokio::test]
async fn a_node_of_another_flow_has_no_run() {
    let scene = Scene::local();
    let (flow, ..) = report(1);
    let (_, other, ..) = report(1);
    let run = scene.client.submit_flow(flow).await.unwrap();
    assert!(matches!(run.run(&other[0]).unwrap_err(), Error::Invalid { .. }));
}

#[tokio::test]
async fn a_flow_is_found_again_by_its_id_and_its_members_by_their_names() {
    for scene in Scene::each() {
        let (flow, pages, ..) = report(2);
        let run = scene.client.submit_flow(flow).await.unwrap();
        scene.settle().await;
        let again = scene.client.flow(run.id());
        let member = again.member::<Fetch>("fetch-1").await.unwrap();
        assert_eq!(member.id(), run.run(&pages[1]).unwrap().id());
        assert_eq!(again.state().await.unwrap(), FlowState::Running);
        let nobody = again.member::<Fetch>("fetch-7").await.unwrap_err();
        assert_eq!(nobody.code(), Some(ff_sdk::Code::ExecutionNotFound));
        let other = again.member::<Merge>("fetch-1").await.unwrap_err().to_string();
        assert!(other.contains("is a fetch, not a merge"), "{other}");
        assert!(again.run(&pages[1]).is_err(), "it was not submitted with these nodes");
    }
}

#[tokio::test]
async fn a_member_has_a_name_and_no_key() {
    let scene = Scene::local();
    let mut flow = Flow::new("keyed");
    flow.add(Submission::new(Fetch::of("a")).idempotency_key("a"));
    let refused = scene.client.submit_flow(flow).await.unwrap_err().to_string();
    assert!(refused.contains("its name makes it unique"), "{refused}");
}
