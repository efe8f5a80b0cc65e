//! Flows from a file to their end.

use ff_core::command::lease::Complete;
use ff_core::fabric::{Fabric, On};

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
