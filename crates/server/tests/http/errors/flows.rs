//! What a graph refuses.

use ff_core::error::Code;
use ff_core::limits::{BATCH_ITEMS_MAX, GRAPH_SEARCH_NODES_MAX};
use ff_core::partition::PartitionCounts;
use ff_engine::Config;
use ff_server::Settings;
use serde_json::{Value, json};

use super::book::{Ask, Book, get, post, put};
use super::scene;
use crate::scene::Scene;

const NOBODY: &str = "0190c5d4-7a6b-7c3d-8e9f-000000000009";

pub(super) async fn add_to(book: &mut Book) {
    dependencies(book).await;
    members(book).await;
    large(book).await;
}

/// The id of an open flow, and of two members.
async fn flow(scene: &Scene) -> (String, Value, Value) {
    let created = scene.post("/v1/flows", json!({ "flow_kind": "report" })).await.json();
    let id = created["flow_id"].as_str().unwrap().to_owned();
    let (one, other) = (member(scene, &id).await, member(scene, &id).await);
    (id, one, other)
}

async fn member(scene: &Scene, flow: &str) -> Value {
    let member = json!({ "execution_kind": "job", "flow_id": flow });
    scene.post("/v1/executions", member).await.json()["execution_id"].clone()
}

fn stage(flow: &str, edge: Value) -> Ask {
    post(format!("/v1/flows/{flow}/edges"), edge)
}

async fn dependencies(book: &mut Book) {
    let scene = scene();
    let (id, one, other) = flow(&scene).await;
    let (_, stranger, _) = flow(&scene).await;
    let edge = |upstream: &Value, downstream: &Value| json!({ "upstream": upstream, "downstream": downstream });

    book.add(Code::FlowNotFound, "", &scene, get(format!("/v1/flows/{NOBODY}")))
        .await;
    let unknown = post(format!("/v1/flows/{id}/edges/apply"), json!({ "edge_id": NOBODY }));
    book.add(Code::EdgeNotFound, "", &scene, unknown).await;
    book.add(Code::SelfReferencingEdge, "", &scene, stage(&id, edge(&one, &one)))
        .await;
    let before = "The upstream is a member of another flow.";
    book.add(
        Code::ExecutionNotInFlow,
        before,
        &scene,
        stage(&id, edge(&stranger, &other)),
    )
    .await;

    scene.post(&format!("/v1/flows/{id}/edges"), edge(&one, &other)).await;
    let mut other_kind = edge(&one, &other);
    other_kind["dependency_kind"] = json!("any_terminal");
    let before = "The downstream depends on the upstream already, on its success.";
    book.add(Code::DependencyAlreadyExists, before, &scene, stage(&id, other_kind))
        .await;
    let before = "The upstream depends on the downstream already.";
    book.add(Code::CycleDetected, before, &scene, stage(&id, edge(&other, &one)))
        .await;
    let before = "A dependency of this member was applied.";
    let policy = put(
        format!("/v1/flows/{id}/groups/{}", crate::scene::in_path(&other)),
        json!({ "policy": { "any_of": { "on_satisfied": "let_run" } } }),
    );
    book.add(Code::GroupPolicyFixed, before, &scene, policy).await;
    let mut stale = edge(&one, &member(&scene, &id).await);
    stale["expected_graph_revision"] = json!(0);
    let before = "A dependency was added since revision 0.";
    book.add(Code::StaleGraphRevision, before, &scene, stage(&id, stale))
        .await;
}

async fn members(book: &mut Book) {
    let scene = scene();
    let (id, _, _) = flow(&scene).await;
    let (_, stranger, _) = flow(&scene).await;
    let join = post(format!("/v1/flows/{id}/members"), json!({ "execution_id": stranger }));
    let before = "The execution was submitted into another flow.";
    book.add(Code::AlreadyMemberOfDifferentFlow, before, &scene, join).await;

    let cancel = json!({ "policy": "cancel_all", "reason": "not needed" });
    scene.post(&format!("/v1/flows/{id}/cancel"), cancel).await;
    let late = post("/v1/executions", json!({ "execution_kind": "job", "flow_id": id }));
    book.add(Code::FlowAlreadyTerminal, "The flow was cancelled.", &scene, late)
        .await;

    let scene = Scene::over(
        |store| store,
        Config::new(PartitionCounts::default()),
        Settings::loopback(),
    );
    let created = json!({ "flow_kind": "report", "flow_id": NOBODY });
    scene.post("/v1/flows", created).await;
    let elsewhere = json!({
        "execution_kind": "job", "flow_id": NOBODY, "execution_id": "{fp:0}:0190c5d4-7a6b-7c3d-8e9f-000000000001",
    });
    book.add(Code::PartitionMismatch, "", &scene, post("/v1/executions", elsewhere))
        .await;
}

/// A member that everything else depends on.
async fn large(book: &mut Book) {
    let scene = scene();
    let part = |members: Vec<String>, edges: Vec<Value>| {
        let members: Vec<_> = members
            .iter()
            .map(|key| json!({ "key": key, "execution_kind": "job" }))
            .collect();
        json!({ "flow_id": NOBODY, "flow_kind": "report", "open": false, "members": members, "edges": edges })
    };
    let first = part(vec!["root".to_owned(), "new".to_owned()], Vec::new());
    let made = scene.post("/v1/flows/graph", first).await.json()["execution_ids"].clone();
    for n in 0..=GRAPH_SEARCH_NODES_MAX / BATCH_ITEMS_MAX {
        let keys: Vec<_> = (0..BATCH_ITEMS_MAX).map(|m| format!("{n}-{m}")).collect();
        let edges = keys
            .iter()
            .map(|key| json!({ "upstream": "root", "downstream": key }))
            .collect();
        let answer = scene.post("/v1/flows/graph", part(keys, edges)).await;
        assert!(answer.status.is_success(), "{}", answer.json());
    }
    let edge = json!({ "upstream": made[1], "downstream": made[0] });
    let before = "11,000 members depend on the downstream, and have to be searched for the upstream.";
    book.add(Code::GraphTooLarge, before, &scene, stage(NOBODY, edge)).await;
}
