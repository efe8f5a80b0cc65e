use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::scene::{Answer, Scene, in_path, under, with_json};

async fn keyed(scene: &Scene, path: &str, key: &str, body: Value) -> Answer {
    scene
        .send(with_json(path).header("idempotency-key", key), body.to_string())
        .await
}

#[tokio::test]
async fn a_submission_takes_the_key_of_its_request() {
    let scene = Scene::new();
    let job = json!({ "execution_kind": "job" });
    let first = keyed(&scene, "/v1/executions", "k", job.clone()).await;
    assert_eq!(
        (first.status, first.header("idempotency-replayed")),
        (StatusCode::CREATED, "")
    );
    let again = keyed(&scene, "/v1/executions", "k", job).await;
    assert_eq!(
        (again.status, again.header("idempotency-replayed")),
        (StatusCode::OK, "true")
    );
    assert_eq!(again.json()["execution_id"], first.json()["execution_id"]);
    let other = keyed(&scene, "/v1/executions", "k", json!({ "execution_kind": "other" })).await;
    assert_eq!(other.json()["content_differs"], json!(true));
    let own = json!({ "execution_kind": "job", "idempotency_key": "k" });
    assert_eq!(
        keyed(&scene, "/v1/executions", "k", own.clone()).await.json()["status"],
        json!("duplicate")
    );
    assert_eq!(
        keyed(&scene, "/v1/executions", "l", own).await.code(),
        (400, "invalid_input".into())
    );
}

#[tokio::test]
async fn each_item_of_a_batch_takes_a_key_of_its_own() {
    let scene = Scene::new();
    let batch =
        json!({ "executions": [{ "execution_kind": "a" }, { "execution_kind": "b", "idempotency_key": "own" }] });
    let statuses = |answer: &Answer| {
        let results = answer.json()["results"].as_array().unwrap().clone();
        results
            .iter()
            .map(|result| result["status"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let first = keyed(&scene, "/v1/executions/batch", "k", batch.clone()).await;
    assert_eq!(statuses(&first), ["created", "created"]);
    assert_eq!(
        statuses(&keyed(&scene, "/v1/executions/batch", "k", batch).await),
        ["duplicate", "duplicate"]
    );
    let single = json!({ "execution_kind": "a" });
    assert_eq!(
        keyed(&scene, "/v1/executions", "k/0", single).await.json()["status"],
        json!("duplicate")
    );
}

#[tokio::test]
async fn a_key_stands_for_one_call_about_one_thing() {
    let scene = Scene::new();
    let budget = async || {
        let created = scene
            .post("/v1/budgets", json!({ "dimensions": { "tokens": {} } }))
            .await;
        created.json()["budget_id"].as_str().unwrap().to_owned()
    };
    let (one, other) = (budget().await, budget().await);
    let spend = json!({ "deltas": { "tokens": 5 } });
    for (id, replayed) in [(&one, ""), (&one, "true"), (&other, ""), (&one, "true")] {
        let answer = keyed(&scene, &format!("/v1/budgets/{id}/usage"), "1", spend.clone()).await;
        assert_eq!(
            (answer.status, answer.header("idempotency-replayed")),
            (StatusCode::OK, replayed)
        );
    }
    let usage = scene.get(&format!("/v1/budgets/{one}")).await.json();
    assert_eq!(usage["dimensions"]["tokens"]["usage"], json!(5), "{usage}");
}

#[tokio::test]
async fn a_repeated_signal_is_known_by_the_key_of_its_request() {
    let scene = Scene::new();
    let id = scene.submitted().await;
    let (_, fence) = scene.claimed().await;
    let lease = format!("/v1/executions/{id}/lease/waitpoints");
    let hand_out = under(&fence, json!({ "waitpoint_key": "w", "expires_in_ms": 60_000 }));
    let waitpoint = scene.post(&lease, hand_out).await.json();
    let signal = json!({ "waitpoint_id": waitpoint["waitpoint_id"], "signal_name": "go" });
    let send = |id: String| {
        let request = with_json(&format!("/v1/executions/{id}/signal"))
            .header("idempotency-key", "1")
            .header("x-waitpoint-token", waitpoint["waitpoint_token"].as_str().unwrap());
        scene.send(request, signal.to_string())
    };
    let first = send(id.clone()).await;
    assert_eq!(first.json()["status"], json!("accepted"), "{:?}", first.json());
    let spelled = scene.get(&format!("/v1/executions/{id}")).await.json()["execution_id"].clone();
    let quoted = spelled.as_str().unwrap().replace('{', "%7B").replace('}', "%7D");
    let again = send(quoted).await;
    assert_eq!(
        (again.json()["status"].clone(), again.header("idempotency-replayed")),
        (json!("duplicate"), "true")
    );
    assert_eq!(in_path(&spelled), id);
}
