use axum::http::{Method, StatusCode};
use serde_json::json;

use crate::scene::{Scene, request, under, with_json};

#[tokio::test]
async fn the_body_is_the_input_and_the_query_says_the_rest() {
    let scene = Scene::new();
    let path = "/v1/submit/job?lane=web&priority=7&tag.tenant=a&tag.team=b%20c&namespace=n&key=k1";
    let created = scene.send(request(Method::POST, path), r#"{"n": 1}"#).await;
    assert_eq!(created.status, StatusCode::CREATED, "{:?}", created.json());
    let view = scene.get(created.header("location")).await.json();
    assert_eq!(
        (&view["lane_id"], &view["priority"], &view["namespace"]),
        (&json!("web"), &json!(7), &json!("n"))
    );
    assert_eq!(view["tags"], json!({ "team": "b c", "tenant": "a" }));
    let again = scene.send(request(Method::POST, path), r#"{"n": 1}"#).await;
    assert_eq!(again.json()["status"], json!("duplicate"));
}

#[tokio::test]
async fn any_bytes_are_an_input_and_keep_what_they_are() {
    let scene = Scene::new();
    let cases: [(Option<&str>, &[u8], &str); 6] = [
        (None, b"[1, 2]", "application/json"),
        (Some("application/x-www-form-urlencoded"), b"{}", "application/json"),
        (
            Some("application/x-www-form-urlencoded"),
            b"a=b",
            "application/octet-stream",
        ),
        (None, b"\x00\xff", "application/octet-stream"),
        (Some("text/csv"), b"1,2", "text/csv"),
        (
            Some("application/json"),
            b" 12345678901234567890.50 ",
            "application/json",
        ),
    ];
    for (given, body, kept) in cases {
        let mut submit = request(Method::POST, "/v1/submit/job");
        if let Some(content_type) = given {
            submit = submit.header("content-type", content_type);
        }
        let created = scene.send(submit, body).await;
        let input = scene.get(&format!("{}/input", created.header("location"))).await;
        assert_eq!(
            (input.header("content-type"), &input.body[..]),
            (kept, body),
            "{given:?}"
        );
    }
}

#[tokio::test]
async fn options_nobody_knows_are_refused_and_nothing_is_submitted() {
    let scene = Scene::new();
    for bad in [
        "lanes=a",
        "priority=x",
        "wait_ms=-1",
        "wait_ms=30001",
        "delay_ms=soon",
        "tag.A=1",
        "lane=a&lane=b",
    ] {
        let refused = scene
            .send(request(Method::POST, &format!("/v1/submit/job?{bad}")), "{}")
            .await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{bad}");
    }
    let typed = request(Method::POST, "/v1/submit/job").header("content-type", "application/json");
    assert_eq!(scene.send(typed, "{").await.code(), (400, "invalid_input".into()));
    assert_eq!(scene.get("/v1/executions").await.json()["items"], json!([]));
}

#[tokio::test]
async fn who_waits_is_answered_the_result() {
    let scene = Scene::new();
    let finish = async {
        let (task, fence) = loop {
            let (task, fence) = scene.claimed().await;
            if task.is_object() {
                break (task, fence);
            }
            tokio::task::yield_now().await;
        };
        let path = format!(
            "/v1/executions/{}/lease/complete",
            crate::scene::in_path(&task["execution_id"])
        );
        scene
            .post(&path, under(&fence, json!({ "result": { "words": 3 } })))
            .await;
    };
    let submit = scene.send(request(Method::POST, "/v1/submit/job?wait_ms=30000"), "{}");
    let (answer, ()) = tokio::join!(submit, finish);
    assert_eq!((answer.status, answer.json()), (StatusCode::OK, json!({ "words": 3 })));
    assert!(answer.header("location").starts_with("/v1/executions/fp:"));
}

#[tokio::test]
async fn who_waited_too_short_is_told_where_to_look() {
    let scene = Scene::new();
    let body = json!({ "execution_kind": "job" });
    let answer = scene.post("/v1/executions?wait_ms=1", body).await;
    assert_eq!(
        (answer.status, &answer.json()["status"]),
        (StatusCode::CREATED, &json!("created"))
    );
    let location = answer.header("location").to_owned();
    assert_eq!(scene.get(&location).await.json()["public_state"], json!("waiting"));
    let pending = scene.get(&format!("{location}/result?wait_ms=1")).await;
    assert_eq!(pending.code(), (404, "result_not_available".into()));
}

#[tokio::test]
async fn what_was_there_before_and_has_not_ended_is_no_result() {
    let scene = Scene::new();
    let submit = async |path| {
        let request = with_json(path).header("idempotency-key", "once");
        let answer = scene.send(request, r#"{"execution_kind":"job"}"#).await;
        (answer.status, answer.json()["status"].clone())
    };
    assert_eq!(submit("/v1/executions").await, (StatusCode::CREATED, json!("created")));
    assert_eq!(submit("/v1/executions").await, (StatusCode::OK, json!("duplicate")));
    let waited = submit("/v1/executions?wait_ms=1").await;
    assert_eq!(waited, (StatusCode::ACCEPTED, json!("duplicate")));
}

#[tokio::test]
async fn who_waits_for_what_failed_is_told_why() {
    let scene = Scene::new();
    let keyed = || with_json("/v1/executions?wait_ms=1000").header("idempotency-key", "once");
    scene
        .send(
            with_json("/v1/executions").header("idempotency-key", "once"),
            r#"{"execution_kind":"job"}"#,
        )
        .await;
    let (task, fence) = scene.claimed().await;
    let path = format!(
        "/v1/executions/{}/lease/fail",
        crate::scene::in_path(&task["execution_id"])
    );
    scene
        .post(
            &path,
            under(&fence, json!({ "reason": "no luck", "category": "permanent" })),
        )
        .await;
    let answer = scene.send(keyed(), r#"{"execution_kind":"job"}"#).await;
    assert_eq!(answer.code(), (404, "result_not_available".into()));
    let problem = answer.json();
    assert_eq!(
        (&problem["public_state"], &problem["failure"]["reason"]),
        (&json!("failed"), &json!("no luck"))
    );
    assert_eq!(answer.header("idempotency-replayed"), "true");
}
