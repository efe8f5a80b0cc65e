use axum::http::{Method, StatusCode};
use serde_json::json;

use crate::scene::{Scene, request, with_json};

#[tokio::test]
async fn a_body_that_is_no_command_is_refused_and_says_where() {
    let scene = Scene::new();
    let cases = [
        ("{", ""),
        ("[]", ""),
        ("\"x\"", ""),
        (r#"{"execution_kind":3}"#, "/execution_kind"),
        (r#"{"execution_kind":"job","priority":"x"}"#, "/priority"),
        (r#"{"execution_kind":"job","execution_kind":"b"}"#, "/execution_kind"),
        (r#"{"execution_kind":"job","tags":{"a":"1","a":"2"}}"#, "/tags/a"),
        (
            r#"{"execution_kind":"job","policy":{"retry_policy":{"max_retries":-1}}}"#,
            "/policy/retry_policy/max_retries",
        ),
        (r#"{"execution_kind":"job","unheard_of":1}"#, "/unheard_of"),
        (r#"{"execution_kind":"job","input_base64":"?"}"#, "/input_base64"),
    ];
    for (body, pointer) in cases {
        let refused = scene.send(with_json("/v1/executions"), body).await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{body}");
        assert_eq!(refused.header("content-type"), "application/problem+json");
        let problem = refused.json();
        assert_eq!(problem["errors"][0]["pointer"], json!(pointer), "{body}: {problem}");
        let code = problem["code"].as_str().unwrap();
        assert_eq!(problem["help"], json!(format!("/docs/errors#{code}")));
        assert_eq!(problem["request_id"].as_str(), Some(refused.header("x-request-id")));
    }
    assert_eq!(scene.get("/v1/executions").await.json()["items"], json!([]));
}

#[tokio::test]
async fn json_nests_only_so_deep() {
    let scene = Scene::new();
    let nested = |depth| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let submit = |depth| {
        let body = format!(r#"{{"execution_kind":"job","input":{}}}"#, nested(depth));
        scene.send(with_json("/v1/executions"), body)
    };
    assert_eq!(submit(127).await.status, StatusCode::CREATED);
    for depth in [128, 100_000] {
        let refused = submit(depth).await;
        assert_eq!(refused.code(), (400, "invalid_input".into()));
        assert!(refused.json()["detail"].as_str().unwrap().contains("at most 128 deep"));
    }
    // Bytes are bytes: as those they nest as they like, and no reader of JSON meets them.
    let raw = scene
        .send(request(Method::POST, "/v1/submit/job"), nested(10_000))
        .await;
    let input = scene.get(&format!("{}/input", raw.header("location"))).await;
    assert_eq!(input.header("content-type"), "application/octet-stream");
}

#[tokio::test]
async fn only_json_is_taken_for_json() {
    let scene = Scene::new();
    let body = r#"{"execution_kind":"job"}"#;
    let post = |content_type: Option<&'static str>| {
        let mut post = request(Method::POST, "/v1/executions");
        if let Some(content_type) = content_type {
            post = post.header("content-type", content_type);
        }
        scene.send(post, body)
    };
    for good in [
        "application/json",
        "Application/JSON; charset=utf-8",
        "application/vnd.x+json",
    ] {
        assert_eq!(post(Some(good)).await.status, StatusCode::CREATED, "{good}");
    }
    for bad in [
        None,
        Some("text/plain"),
        Some("application/x-www-form-urlencoded"),
        Some("application/jsonx"),
    ] {
        assert_eq!(
            post(bad).await.code(),
            (415, "unsupported_media_type".into()),
            "{bad:?}"
        );
    }
    let id = scene.submitted().await;
    let hold = scene
        .send(request(Method::POST, &format!("/v1/executions/{id}/hold")), "")
        .await;
    assert_eq!(hold.status, StatusCode::OK, "nothing is as good as an empty object");
}

#[tokio::test]
async fn a_path_or_query_that_is_no_text_is_refused() {
    let scene = Scene::new();
    for bad in [
        "/v1/executions?kind=%ff",
        "/v1/executions?kind=%2",
        "/v1/executions/%ff",
        "/v1/executions/%zz",
    ] {
        assert_eq!(scene.get(bad).await.code(), (400, "invalid_input".into()), "{bad}");
    }
    for (odd, code) in [
        ("/v1/executions/..%2F..%2Fhealthz", (400, "invalid_id")),
        ("/v1/executions/", (404, "not_found")),
        ("/v1//executions", (404, "not_found")),
        (
            "/v1/executions/fp:1:0190c5d4-7a6b-7c3d-8e9f-a0b1c2d3e4f5?x=1",
            (400, "invalid_input"),
        ),
        (
            "/v1/executions/fp:60000:0190c5d4-7a6b-7c3d-8e9f-a0b1c2d3e4f5",
            (400, "invalid_id"),
        ),
        ("/v1/executions?limit=1&limit=2", (400, "invalid_input")),
    ] {
        assert_eq!(scene.get(odd).await.code(), (code.0, code.1.to_owned()), "{odd}");
    }
}

#[tokio::test]
async fn what_may_be_secret_does_not_stand_in_a_query() {
    let scene = Scene::new();
    let id = scene.submitted().await;
    let path = format!("/v1/executions/{id}/lease/renew?lease_id=0190c5d4-7a6b-7c3d-8e9f-a0b1c2d3e4f5");
    let refused = scene.post(&path, json!({})).await;
    assert_eq!(refused.code(), (400, "invalid_input".into()));
    assert!(!refused.json()["detail"].as_str().unwrap().contains("0190"));
}

#[tokio::test]
async fn a_lease_is_shown_in_a_header_that_can_be_read() {
    let scene = Scene::new();
    let id = scene.submitted().await;
    let get = |fence: String| {
        let get = request(Method::GET, &format!("/v1/executions/{id}/input")).header("x-fence", fence);
        scene.send(get, "")
    };
    assert_eq!(get("nonsense".into()).await.code(), (400, "invalid_input".into()));
    let (task, _) = scene.claimed().await;
    let words = ["execution_id", "lease_id", "lease_epoch", "attempt_id"].map(|name| match &task[name] {
        serde_json::Value::String(text) => text.clone(),
        number => number.to_string(),
    });
    assert_eq!(get(words.join(" ")).await.status, StatusCode::OK);
    let other = words
        .join(" ")
        .replace(&words[1], "7d1fd2b8-63c8-4e6c-9d1c-3a4f0b6f9e21");
    assert_eq!(get(other).await.code(), (409, "stale_lease".into()));
}
