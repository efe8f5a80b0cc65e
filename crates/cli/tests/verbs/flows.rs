//! Flows from a file to their end.

use ff_core::command::lease::Complete;
use ff_core::fabric::{Fabric, On};

use serde_json::{Value, json};

use super::printed::Session;
use super::scene::{Scene, uuid};

/// A plan, three pages, a report; fixed ids.
fn flow() -> String {
    let member = |number: u128, key: &str| {
        let id = uuid(number);
        format!("  - {{ key: {key}, execution_kind: {key}, execution_uuid: {id}, tags: {{ name: {key} }} }}\n")
    };
    let keys = ["plan", "page-1", "page-2", "page-3", "report"];
    let members: String = (1..).zip(keys).map(|(number, key)| member(number, key)).collect();
    let edge = |from: &str, to: &str| format!("  - {{ upstream: {from}, downstream: {to} }}\n");
    let pages = &keys[1..4];
    let edges: String = pages
        .iter()
        .flat_map(|page| [edge("plan", page), edge(page, "report")])
        .collect();
    format!(
        "flow_kind: magazine\nflow_id: {}\nmembers:\n{members}edges:\n{edges}",
        uuid(0x77)
    )
}

#[test]
fn a_flow_is_submitted_from_a_file_drawn_and_cancelled() {
    let scene = Scene::empty();
    std::fs::write(scene.folder.path().join("flow.yaml"), flow()).unwrap();
    let mut session = Session::default();
    let mut run = |line: &str| {
        session.run(scene.ff(&line.split(' ').collect::<Vec<_>>()), line);
    };
    run("flow graph --file flow.yaml");
    run("flow submit flow.yaml --name issue-7");
    let plan = scene.claim("default");
    let complete = Complete {
        fence: Some(plan.fence),
        ..Complete::default()
    };
    scene.with(async |engine| engine.complete(On::new(plan.execution_id, complete)).await.unwrap());
    let page = scene.claim("default");
    assert_eq!(page.execution_kind.as_str(), "page-1");
    scene.pass(5);
    run("flow list");
    run("flow get issue-7");
    run("flow graph 00000077");
    run("flow cancel issue-7");
    run("flow cancel issue-7");
    run("flow graph issue-7");
    run("flow get nobody");
    session.is_as_expected("flow");
}

/// A beginning, 2,498 pages that wait for it, and an end in a lane of its own that waits for all of them. The end stands first, and
/// the beginning has an id of its own.
fn large() -> Value {
    let keys: Vec<String> = (1..2_499).map(|number| format!("page-{number}")).collect();
    let pages = keys.iter().map(|key| json!({ "key": key, "execution_kind": "page" }));
    let ends = [
        json!({ "key": "end", "execution_kind": "end", "lane_id": "slow" }),
        json!({ "key": "begin", "execution_kind": "begin", "execution_uuid": uuid(0x71) }),
    ];
    let edge = |from: &str, to: &str| json!({ "upstream": from, "downstream": to });
    let edges = keys.iter().flat_map(|key| [edge("begin", key), edge(key, "end")]);
    json!({
        "flow_kind": "book",
        "members": ends.into_iter().chain(pages).collect::<Vec<_>>(),
        "edges": edges.collect::<Vec<_>>(),
    })
}

#[test]
fn a_large_flow_is_sent_in_parts_and_nothing_runs_before_all_of_it_is_there() {
    let scene = Scene::empty();
    std::fs::write(scene.folder.path().join("book.json"), large().to_string()).unwrap();
    let run = |line: &str| scene.ff(&line.split(' ').collect::<Vec<_>>()).output().unwrap();

    assert!(run("lane disable slow").status.success());
    let refused = run("flow submit book.json --name book");
    assert_eq!(refused.status.code(), Some(3));
    assert!(refused.stdout.is_empty());
    let told = String::from_utf8(refused.stderr).unwrap();
    assert!(told.contains("lane slow takes no new work"), "{told}");
    let (sent, how) = told
        .split_once(" of 2500 members are there, and none of them runs.")
        .expect(&told);
    assert_eq!(sent, "2000");
    let id = how.split_once("--id ").expect(&told).1.split(' ').next().unwrap();
    let interrupted = scene.json(&["flow", "get", "book", "-o", "json"]);
    assert_eq!(
        (&interrupted["flow_id"], &interrupted["counts"]["members"]),
        (&json!(id), &json!(2_000))
    );
    assert!(
        scene.claim_now("default").is_none(),
        "the beginning is there, and does not run"
    );

    assert!(run("lane resume slow").status.success());
    let again = [
        "flow",
        "submit",
        "book.json",
        "--name",
        "book",
        "--id",
        id,
        "-o",
        "json",
    ];
    let created = scene.json(&again);
    assert_eq!(created["flow_id"], id);
    let ids = created["execution_ids"].as_array().unwrap();
    assert_eq!(ids.len(), 2_500);
    let kind = |id: &Value| scene.json(&["get", id.as_str().unwrap(), "-o", "json"])["execution_kind"].clone();
    assert_eq!(
        [&ids[0], &ids[1], &ids[2]].map(kind),
        ["end", "begin", "page"],
        "in the order of the file"
    );
    assert_eq!(scene.json(&again), created, "it is the same flow");
    let whole = scene.json(&["flow", "get", "book", "-o", "json"]);
    assert_eq!(whole["counts"]["members"], 2_500);
    assert_eq!(scene.claim("default").execution_kind.as_str(), "begin");
    assert!(
        scene.claim_now("default").is_none(),
        "everything else waits for the beginning"
    );
    let end = scene.json(&["get", ids[0].as_str().unwrap(), "-o", "json"]);
    assert_eq!(end["public_state"], "waiting_children");
}

#[test]
fn a_file_that_is_no_flow_is_explained() {
    let scene = Scene::empty();
    let file = |name: &str, text: &str| std::fs::write(scene.folder.path().join(name), text).unwrap();
    file(
        "typo.yaml",
        "flow_kind: x\nmembers:\n  - { key: a, execution_knid: x }\n",
    );
    file("open.yaml", "flow_kind: [\n");
    file(
        "cycle.json",
        r#"{"flow_kind": "x", "flow_id": "0190c5d4-7a6b-7c3d-8e9f-000000000078", "members": [{"key": "a", "execution_kind": "x"}, {"key": "b", "execution_kind": "x"}],
        "edges": [{"upstream": "a", "downstream": "b"}, {"upstream": "b", "downstream": "a"}]}"#,
    );
    scene.prints(
        "flow_errors",
        &[
            "flow submit typo.yaml",
            "flow submit open.yaml",
            "flow submit cycle.json",
            "flow submit nowhere.yaml",
        ],
    );
}
