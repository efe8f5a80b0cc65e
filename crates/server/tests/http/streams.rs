use axum::body::Body;
use axum::http::{Method, StatusCode};
use http_body_util::BodyExt;
use serde_json::{Value, json};

use crate::scene::{Scene, request, under};

/// An open stream of events.
struct Stream {
    body: Body,
    text: String,
}

impl Stream {
    async fn open(scene: &Scene, path: &str, last: Option<&str>) -> Self {
        let mut open = request(Method::GET, path).header("accept", "text/event-stream");
        if let Some(last) = last {
            open = open.header("last-event-id", last);
        }
        let response = scene.open(open.body(Body::empty()).unwrap()).await;
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self {
            body: response.into_body(),
            text: String::new(),
        }
    }

    /// The next event: its name, its id and what it says. `None`: it is over.
    async fn next(&mut self) -> Option<(String, String, Value)> {
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let field = |name: &str| {
                    let lines = event.lines().filter_map(|line| line.strip_prefix(name));
                    lines.map(str::trim_start).collect::<Vec<_>>().join("\n")
                };
                let told = (
                    field("event:"),
                    field("id:"),
                    serde_json::from_str(&field("data:")).unwrap_or_default(),
                );
                self.text = rest.to_owned();
                if told.0.is_empty() {
                    continue;
                }
                return Some(told);
            }
            let frame = self.body.frame().await?.unwrap().into_data().unwrap();
            self.text.push_str(std::str::from_utf8(&frame).unwrap());
        }
    }
}

async fn append(scene: &Scene, id: &str, fence: &Value, payload: Value) {
    let frame = under(fence, json!({ "frame_type": "token", "payload": payload }));
    let appended = scene.post(&format!("/v1/executions/{id}/lease/frames"), frame).await;
    assert_eq!(appended.status, StatusCode::OK, "{:?}", appended.json());
}

async fn end(scene: &Scene, id: &str, fence: &Value, how: &str, fields: Value) {
    let ended = scene
        .post(&format!("/v1/executions/{id}/lease/{how}"), under(fence, fields))
        .await;
    assert_eq!(ended.status, StatusCode::OK, "{:?}", ended.json());
}

/// An execution that is tried again at once.
async fn retried(scene: &Scene) -> String {
    let policy = json!({ "retry_policy": { "max_retries": 1, "backoff": { "fixed": { "delay_ms": 0 } } } });
    let job = json!({ "execution_kind": "job", "policy": policy });
    let created = scene.post("/v1/executions", job).await;
    crate::scene::in_path(&created.json()["execution_id"])
}

#[tokio::test]
async fn one_stream_tells_the_frames_of_every_attempt_and_the_end() {
    let scene = Scene::new();
    let id = retried(&scene).await;
    let path = format!("/v1/executions/{id}/stream");
    let mut stream = Stream::open(&scene, &path, None).await;
    let work = async {
        let (_, fence) = scene.claimed().await;
        append(&scene, &id, &fence, json!("a")).await;
        end(
            &scene,
            &id,
            &fence,
            "fail",
            json!({ "reason": "x", "category": "transient" }),
        )
        .await;
        let (_, fence) = scene.claimed().await;
        append(&scene, &id, &fence, json!({ "b": [1,2] })).await;
        end(&scene, &id, &fence, "complete", json!({})).await;
    };
    let read = async {
        let mut events = Vec::new();
        while let Some(event) = stream.next().await {
            events.push(event);
        }
        events
    };
    let ((), events) = tokio::join!(work, read);
    let names: Vec<&str> = events.iter().map(|(name, ..)| name.as_str()).collect();
    assert_eq!(names, ["attempt", "frame", "attempt", "frame", "end"]);
    assert_eq!(events[1].2["payload"], json!("a"));
    assert_eq!(
        (events[2].1.as_str(), &events[2].2),
        ("1/0-0", &json!({ "attempt_index": 1 }))
    );
    assert_eq!(events[3].1, format!("1/{}", events[3].2["id"].as_str().unwrap()));
    assert_eq!(events[4].2, json!({ "public_state": "completed" }));

    let mut resumed = Stream::open(&scene, &path, Some(&events[1].1)).await;
    let mut names = Vec::new();
    while let Some((name, ..)) = resumed.next().await {
        names.push(name);
    }
    assert_eq!(names, ["attempt", "frame", "end"]);
}

#[tokio::test]
async fn a_stream_ends_with_what_never_started() {
    let scene = Scene::new();
    let id = scene.submitted().await;
    let mut stream = Stream::open(&scene, &format!("/v1/executions/{id}/stream"), None).await;
    let cancel = format!("/v1/executions/{id}/cancel");
    let cancel = scene.post(&cancel, json!({ "reason": "no" }));
    let (cancelled, event) = tokio::join!(cancel, stream.next());
    assert_eq!(cancelled.status, StatusCode::OK);
    assert_eq!(event.unwrap().2, json!({ "public_state": "cancelled" }));
    assert!(stream.next().await.is_none());
}

#[tokio::test]
async fn what_was_trimmed_is_told_as_a_gap() {
    let scene = Scene::new();
    let policy = json!({ "stream_policy": { "retention_maxlen": 2 } });
    let created = scene
        .post("/v1/executions", json!({ "execution_kind": "job", "policy": policy }))
        .await;
    let id = crate::scene::in_path(&created.json()["execution_id"]);
    let (_, fence) = scene.claimed().await;
    append(&scene, &id, &fence, json!(0)).await;
    let path = format!("/v1/executions/{id}/stream");
    let mut stream = Stream::open(&scene, &path, None).await;
    stream.next().await.unwrap();
    let (_, seen, _) = stream.next().await.unwrap();
    drop(stream);
    for number in 1..4 {
        append(&scene, &id, &fence, json!(number)).await;
    }
    let mut resumed = Stream::open(&scene, &path, Some(&seen)).await;
    let (name, _, gap) = resumed.next().await.unwrap();
    assert_eq!((name.as_str(), &gap["attempt_index"]), ("gap", &json!(0)));
    assert_eq!(resumed.next().await.unwrap().2["payload"], json!(2));
}

#[tokio::test]
async fn the_tail_of_one_attempt_is_events_or_json_as_the_caller_accepts() {
    let scene = Scene::new();
    let id = scene.submitted().await;
    let (_, fence) = scene.claimed().await;
    append(&scene, &id, &fence, json!("a")).await;
    let path = format!("/v1/executions/{id}/attempts/0/stream/tail");
    let page = scene.get(&path).await.json();
    assert_eq!(page["frames"][0]["payload"], json!("a"));
    let mut stream = Stream::open(&scene, &path, None).await;
    let (name, place, frame) = stream.next().await.unwrap();
    assert_eq!((name.as_str(), &frame["payload"]), ("frame", &json!("a")));
    end(&scene, &id, &fence, "complete", json!({})).await;
    let mut resumed = Stream::open(&scene, &path, Some(&place)).await;
    let (name, _, told) = resumed.next().await.unwrap();
    assert_eq!((name.as_str(), &told["closed_reason"]), ("end", &json!("success")));
}

#[tokio::test]
async fn what_cannot_be_followed_is_refused_with_a_status() {
    let scene = Scene::new();
    let id = scene.submitted().await;
    let unknown = "fp:1:0190c5d4-7a6b-7c3d-8e9f-a0b1c2d3e4f5";
    assert_eq!(
        scene.get(&format!("/v1/executions/{unknown}/stream")).await.code(),
        (404, "execution_not_found".into())
    );
    let path = format!("/v1/executions/{id}/stream");
    for (last, refusal) in [("x", (400, "invalid_input")), ("3/1-0", (404, "attempt_not_found"))] {
        let answer = scene
            .send(request(Method::GET, &path).header("last-event-id", last), "")
            .await;
        assert_eq!(answer.code(), (refusal.0, refusal.1.to_owned()), "{last}");
    }
}
