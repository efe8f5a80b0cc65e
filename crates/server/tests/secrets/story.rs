//! Somebody with a key submits, a worker claims, streams, suspends, is signalled and called back, completes; much of it goes wrong.

use serde_json::{Value, json};

use crate::scene::{Scene, fence_of, found, of};

pub(crate) const PAYLOADS: [&str; 11] = [
    "input-7d1f",
    "result-81ac",
    "frame-55e0",
    "signal-90bd",
    "progress-payload-1c",
    "refused-payload-44",
    "submit-c0de",
    "callback-77aa",
    "decision-3e1d",
    "exchange-0b5f",
    "batch-9ad2",
];
const SIGNING_KEY: &str = "5ec4e75ec4e75ec4e75ec4e75ec4e75ec4e75ec4e75ec4e75ec4e75ec4e75ec4";

pub(crate) async fn work_through(scene: &mut Scene) {
    let made = scene
        .post("/v1/admin/keys", json!({ "name": "tester", "role": "admin" }))
        .await;
    let key = scene.keep("key", &made["key"]);
    scene.key = Some(key);
    scene.secrets.push(("signing key", SIGNING_KEY.to_owned()));
    let rotation = json!({ "new_kid": "second", "new_secret_hex": SIGNING_KEY });
    scene.post("/v1/admin/rotate-waitpoint-secret", rotation).await;

    scene
        .post(
            "/v1/executions",
            json!({ "execution_kind": "secret", "input": PAYLOADS[0] }),
        )
        .await;
    let task = claimed(scene).await;
    work(scene, &task).await;
    signalled(scene, &task).await;
    refused(scene, &task).await;
    let task = claimed(scene).await;
    complete(scene, &task).await;
    called_back(scene).await;
    decided(scene).await;
    granted(scene).await;
    exchanged(scene).await;

    let key = scene.key.take().unwrap();
    let unknown = format!("{}x", &key[..key.len() - 1]);
    scene.key = Some(unknown);
    assert_eq!(scene.ask("GET", "/v1/executions", &[], "").await.0, 401);
}

/// The next task, whose lease nobody else may know.
async fn claimed(scene: &mut Scene) -> Value {
    let claim = json!({ "worker_id": "w", "lanes": ["default"], "max": 1, "wait_ms": 5000 });
    let tasks = scene.post("/v1/workers/w-1/tasks", claim).await;
    let task = tasks["tasks"][0].clone();
    scene.keep("lease id", found(&task, "lease_id"));
    task
}

/// A command under the lease of a task.
fn under(task: &Value, mut command: Value) -> Value {
    let fence = fence_of(task).as_object().unwrap().clone();
    command.as_object_mut().unwrap().extend(fence);
    command
}

fn at(task: &Value, rest: &str) -> String {
    of(&task["execution_id"], rest)
}

async fn work(scene: &Scene, task: &Value) {
    scene.post(&at(task, "/lease/renew"), under(task, json!({}))).await;
    let progress = json!({ "message": PAYLOADS[4] });
    scene.post(&at(task, "/lease/progress"), under(task, progress)).await;
    for mode in ["durable", "summary"] {
        let frame = json!({ "frame_type": "word", "payload": { "said": PAYLOADS[2] }, "mode": mode });
        scene.post(&at(task, "/lease/frames"), under(task, frame)).await;
    }
}

/// Suspends a task; its waitpoint with token and path.
async fn suspended(scene: &mut Scene, task: &Value) -> Value {
    let suspend = json!({
        "waitpoints": [{ "fresh": { "waitpoint_key": "wp" } }], "reason_code": "waiting_for_signal",
        "resume_condition": { "single": { "waitpoint_key": "wp", "matcher": "any" } },
    });
    let suspended = scene.post(&at(task, "/lease/suspend"), under(task, suspend)).await;
    let waitpoint = suspended["waitpoints"][0].clone();
    let token = scene.keep("token", &waitpoint["waitpoint_token"]);
    let (_, signature) = token.split_once(':').unwrap();
    scene.secrets.push(("signature of a token", signature.to_owned()));
    let path = scene.keep("callback path", &waitpoint["callback_path"]);
    let sealed = path.rsplit('/').next().unwrap().to_owned();
    scene.secrets.push(("sealed callback", sealed));
    waitpoint
}

async fn signalled(scene: &mut Scene, task: &Value) {
    let waitpoint = suspended(scene, task).await;
    let token = waitpoint["waitpoint_token"].as_str().unwrap();
    let signal = |token: Option<&str>| {
        let mut signal = json!({
            "waitpoint_id": waitpoint["waitpoint_id"], "signal_name": "go", "payload": PAYLOADS[3],
        });
        if let Some(token) = token {
            signal["waitpoint_token"] = json!(token);
        }
        signal.to_string()
    };
    let path = at(task, "/signal");
    let wrong = format!("{}:{}", token.split(':').next().unwrap(), "ab".repeat(32));
    assert_eq!(scene.ask("POST", &path, &[], &signal(Some(&wrong))).await.0, 403);
    let in_query = format!("{path}?waitpoint_token={token}");
    assert_eq!(scene.ask("POST", &in_query, &[], &signal(None)).await.0, 400);
    let header = [("x-waitpoint-token", token)];
    assert_eq!(scene.ask("POST", &path, &header, &signal(None)).await.0, 200);
    assert_eq!(scene.ask("POST", &path, &[], &signal(Some(token))).await.0, 409);
    assert_eq!(scene.ask("GET", &at(task, "/signals"), &[], "").await.0, 200);
}

/// What is refused is not logged either: unknown fields, broken JSON, stale leases, secrets where they do not belong.
async fn refused(scene: &Scene, task: &Value) {
    for body in [
        format!(r#"{{"{}": 1}}"#, PAYLOADS[5]),
        format!(r#"{{"input": "{}"#, PAYLOADS[5]),
    ] {
        assert_eq!(scene.ask("POST", "/v1/executions", &[], &body).await.0, 400);
    }
    let path = format!("/v1/executions/{}?key={}", PAYLOADS[5], PAYLOADS[5]);
    scene.ask("GET", &path, &[("cookie", PAYLOADS[5])], "").await;
    let path = format!("/v1/callbacks/{}", PAYLOADS[5]);
    scene.ask("POST", &path, &[], "{}").await;
    scene.ask("GET", &format!("/{}", PAYLOADS[5]), &[], "").await;
    let complete = under(task, json!({ "result": PAYLOADS[1] }));
    let (status, _) = scene
        .ask("POST", &at(task, "/lease/complete"), &[], &complete.to_string())
        .await;
    assert_eq!(status, 409, "its lease was over");
}

/// Completes a task; its frames and its result are read.
async fn complete(scene: &Scene, task: &Value) {
    let complete = under(task, json!({ "result": PAYLOADS[1] }));
    scene.post(&at(task, "/lease/complete"), complete).await;
    let [id, lease_id, attempt_id] =
        ["execution_id", "lease_id", "attempt_id"].map(|name| task[name].as_str().unwrap());
    for attempt_id in ["x", attempt_id] {
        let fence = format!("{id} {lease_id} {} {attempt_id}", task["lease_epoch"]);
        scene.ask("GET", &at(task, "/result"), &[("x-fence", &fence)], "").await;
    }
    let events = [("accept", "text/event-stream")];
    for rest in [
        "/input",
        "/result",
        "/stream",
        "/attempts/0/stream",
        "/attempts/0/stream/tail",
        "/attempts/0/summary",
    ] {
        let (status, _) = scene.ask("GET", &at(task, rest), &events, "").await;
        assert!(status < 300, "{rest}: {status}");
    }
    scene.ask("GET", "/metrics", &[], "").await;
}

/// A submission for people, whose worker is called back.
async fn called_back(scene: &mut Scene) {
    let (status, _) = scene
        .ask(
            "POST",
            "/v1/submit/secret?tag.name=x",
            &[],
            &format!("{:?}", PAYLOADS[6]),
        )
        .await;
    assert_eq!(status, 201);
    let task = claimed(scene).await;
    let path = suspended(scene, &task).await["callback_path"]
        .as_str()
        .unwrap()
        .to_owned();
    let body = format!("{:?}", PAYLOADS[7]);
    assert_eq!(scene.ask("GET", &path, &[], "").await.0, 405);
    assert_eq!(scene.ask("POST", &format!("{path}x"), &[], &body).await.0, 403);
    assert_eq!(scene.ask("POST", &format!("{path}?x=1"), &[], &body).await.0, 202);
    assert_eq!(scene.ask("POST", &path, &[], "\"another\"").await.0, 410);
    assert_eq!(scene.ask("POST", &format!("{path}/more"), &[], &body).await.0, 404);
    let task = claimed(scene).await;
    complete(scene, &task).await;
}

/// An operator reads a token, and decides.
async fn decided(scene: &mut Scene) {
    let batch = json!({ "executions": [{ "execution_kind": "secret", "input": PAYLOADS[10] }] });
    scene.post("/v1/executions/batch", batch).await;
    let task = claimed(scene).await;
    let pending = json!({ "waitpoint_key": "early", "expires_in_ms": 60_000 });
    let pending = scene.post(&at(&task, "/lease/waitpoints"), under(&task, pending)).await;
    scene.keep("token", &pending["waitpoint_token"]);
    scene.keep("callback path", &pending["callback_path"]);
    let waitpoint = suspended(scene, &task).await;
    let at_waitpoint = at(
        &task,
        &format!("/waitpoints/{}", waitpoint["waitpoint_id"].as_str().unwrap()),
    );
    let (status, read) = scene.ask("GET", &format!("{at_waitpoint}/token"), &[], "").await;
    assert_eq!(status, 200);
    scene.keep("token", found(&read, "waitpoint_token"));
    let decision = json!({ "payload": PAYLOADS[8] });
    scene.post(&format!("{at_waitpoint}/approve"), decision).await;
    let task = claimed(scene).await;
    let revoked = at(&task, "/revoke-lease");
    scene.post(&revoked, json!({})).await;
    let complete = under(&task, json!({ "result": PAYLOADS[1] })).to_string();
    assert_eq!(
        scene.ask("POST", &at(&task, "/lease/complete"), &[], &complete).await.0,
        409
    );
    let cancel = at(&task, "/cancel");
    scene.post(&cancel, json!({ "reason": "enough" })).await;
}

/// A grant is redeemed by whom it was given to, and by nobody else.
async fn granted(scene: &mut Scene) {
    scene
        .post(
            "/v1/executions",
            json!({ "execution_kind": "secret", "lane_id": "grants", "input": PAYLOADS[0] }),
        )
        .await;
    let claim = json!({ "worker_instance_id": "w-1", "lane": "grants", "grant_ttl_ms": 60_000 });
    let issued = scene.post("/v1/workers/w/claim", claim).await;
    let grant = scene.keep("grant", &issued["grant"]);
    let redeem = |instance: &str, grant: &str| {
        json!({ "grant": grant, "worker_id": "w", "worker_instance_id": instance }).to_string()
    };
    let path = "/v1/grants/redeem";
    assert_eq!(scene.ask("POST", path, &[], &redeem("other", &grant)).await.0, 409);
    assert_eq!(
        scene
            .ask("POST", path, &[], &redeem("w-1", &format!("{grant}x")))
            .await
            .0,
        409
    );
    let (status, task) = scene.ask("POST", path, &[], &redeem("w-1", &grant)).await;
    assert_eq!(status, 200);
    scene.keep("lease id", found(&task, "lease_id"));
    scene.post(&at(&task, "/lease/release"), under(&task, json!({}))).await;
    let cancel = at(&task, "/cancel");
    scene.post(&cancel, json!({ "reason": "enough" })).await;
}

/// A worker's loop: it takes, renews, streams and finishes, once under its lease and once more when that is over.
async fn exchanged(scene: &mut Scene) {
    scene
        .post(
            "/v1/executions",
            json!({ "execution_kind": "secret", "input": PAYLOADS[9] }),
        )
        .await;
    let incarnation = "0190c5d4-7a6b-7c3d-8e9f-a0b1c2d3e4f5";
    let exchange = |mut round: Value| {
        round["worker_id"] = json!("x");
        round["incarnation"] = json!(incarnation);
        round
    };
    let path = "/v1/workers/x-1/exchange";
    let want = json!({ "want": { "lanes": ["default"], "max": 1 }, "wait_ms": 5000 });
    let task = scene.post(path, exchange(want)).await["tasks"][0].clone();
    scene.keep("lease id", found(&task, "lease_id"));
    let of = |command: Value| {
        let mut item = under(&task, command);
        item["execution_id"] = task["execution_id"].clone();
        item
    };
    let round = json!({
        "renew": [of(json!({}))],
        "frames": [of(json!({ "frame_type": "word", "payload": PAYLOADS[9] }))],
        "finished": [of(json!({ "op": "complete", "result": PAYLOADS[9] }))],
    });
    for _ in 0..2 {
        scene.post(path, exchange(round.clone())).await;
    }
}
