//! Paths that try to be another one.

use axum::http::Method;
use serde_json::{Value, json};

use crate::scene::{Scene, request, with_json};

const ID: &str = "fp:1:0190c5d4-7a6b-7c3d-8e9f-a0b1c2d3e4f5";

#[tokio::test]
async fn a_path_means_what_it_says_and_nothing_else() {
    let scene = Scene::new();
    let id = scene.submitted().await;
    let long = "x".repeat(20_000);
    let cases = [
        ("/v1/executions/..", 400, "invalid_id"),
        ("/v1/executions/../executions", 404, "not_found"),
        ("/v1/executions/..%2fexecutions", 400, "invalid_id"),
        ("/v1/executions/%2e%2e/%2e%2e/healthz", 404, "not_found"),
        ("/v1/../healthz", 404, "not_found"),
        ("/v1/./executions", 404, "not_found"),
        ("/v1/executions/.", 400, "invalid_id"),
        ("//v1/executions", 404, "not_found"),
        ("/v1//executions", 404, "not_found"),
        ("/v1/executions//state", 400, "invalid_id"),
        (&format!("/v1/executions/{id}/"), 404, "not_found"),
        (&format!("/v1/executions/{id}/state/"), 404, "not_found"),
        (&format!("/v1/executions/{id}//state"), 404, "not_found"),
        (&format!("/v1/executions/{id}%2Fstate"), 400, "invalid_id"),
        (&format!("/v1/executions/{id}%00"), 400, "invalid_id"),
        (&format!("/v1/executions/{id};x=1"), 400, "invalid_id"),
        (&format!("/v1/executions/{}", id.to_uppercase()), 400, "invalid_id"),
        ("/V1/executions", 404, "not_found"),
        ("/v1/Executions", 404, "not_found"),
        ("/v1/EXECUTIONS/x", 404, "not_found"),
        ("/v1%2Fexecutions", 404, "not_found"),
        ("/v1/%65xecutions", 404, "not_found"),
        (&format!("/v1/executions/{long}"), 400, "invalid_id"),
        (&format!("/{long}"), 404, "not_found"),
        ("/healthz/", 404, "not_found"),
        ("/metrics/", 404, "not_found"),
        ("/%00", 404, "not_found"),
    ];
    for (path, status, code) in cases {
        let answer = scene.get(path).await;
        assert_eq!(answer.code(), (status, code.to_owned()), "{path:.80}");
        assert_eq!(answer.header("content-type"), "application/problem+json", "{path:.80}");
    }
}

#[tokio::test]
async fn a_name_in_a_path_is_a_name() {
    let scene = Scene::new();
    let cases = [
        ("lanes/%00/state", json!({ "state": "paused" })),
        ("lanes/%20/state", json!({ "state": "paused" })),
        ("lanes/%C3%A9/state", json!({ "state": "paused" })),
        (&format!("lanes/{}/state", "l".repeat(65)), json!({ "state": "paused" })),
        ("workers/a%0Ab", register()),
        ("workers/%00", register()),
        (&format!("workers/{}", "w".repeat(257)), register()),
    ];
    for (path, body) in cases {
        let put = request(Method::PUT, &format!("/v1/{path}")).header("content-type", "application/json");
        let answer = scene.send(put, body.to_string()).await;
        assert_eq!(answer.code(), (400, "invalid_input".into()), "{path}");
    }
    for kind in ["%00", "a%20b", "_ours", &"k".repeat(257)] {
        let answer = scene
            .send(request(Method::POST, &format!("/v1/submit/{kind}")), "{}")
            .await;
        assert_eq!(answer.code(), (400, "invalid_input".into()), "{kind}");
    }
    // What only looks like a part of a path is a name like any other.
    let put = request(Method::PUT, "/v1/workers/a%2Fb%3Fc%23d%252e").header("content-type", "application/json");
    let registered = scene.send(put, register().to_string()).await;
    assert_eq!(registered.json()["worker_instance_id"], json!("a/b?c#d%2e"));
    for (path, count) in [("executions", 0), ("lanes", 0), ("workers", 1)] {
        let listed = scene.get(&format!("/v1/{path}")).await.json();
        assert_eq!(listed["items"].as_array().unwrap().len(), count, "{path}: {listed}");
    }
}

fn register() -> Value {
    json!({ "worker_id": "w", "incarnation": "0190c5d4-7a6b-7c3d-8e9f-a0b1c2d3e4f5", "lanes": ["default"] })
}

#[tokio::test]
async fn an_id_of_a_store_with_more_partitions_is_refused_wherever_it_stands() {
    let scene = Scene::new();
    scene.submitted().await;
    let far = format!("{{fp:256}}:{}", ID.rsplit(':').next().unwrap());
    let in_url = far.replace(['{', '}'], "");
    let flow = scene.post("/v1/flows", json!({ "flow_kind": "f" })).await.json();
    let edges = format!("/v1/flows/{}/edges", flow["flow_id"].as_str().unwrap());
    let answers = [
        scene.get(&format!("/v1/executions/{in_url}")).await,
        scene.get(&format!("/v1/executions/{in_url}/stream")).await,
        scene
            .post(&format!("/v1/executions/{in_url}/lease/complete"), json!({}))
            .await,
        scene
            .post(
                "/v1/executions",
                json!({ "execution_kind": "job", "execution_id": far }),
            )
            .await,
        scene.post(&edges, json!({ "upstream": far, "downstream": far })).await,
    ];
    for (position, answer) in answers.iter().enumerate() {
        assert_eq!(
            answer.code(),
            (400, "invalid_id".into()),
            "{position}: {}",
            answer.json()
        );
    }
    let listed = scene.get("/v1/executions").await.json();
    assert_eq!(listed["items"].as_array().unwrap().len(), 1);
    let batch = json!({ "executions": [{ "execution_kind": "job", "execution_id": far }] });
    let batch = scene.send(with_json("/v1/executions/batch"), batch.to_string()).await;
    assert_eq!(
        batch.json()["results"][0]["error"]["code"],
        json!("invalid_id"),
        "{}",
        batch.json()
    );
}
