//! Whatever is logged, at whatever level, by whomever: no key, token, lease id, payload or signing key is in it.

#![expect(clippy::unwrap_used, reason = "a test that cannot set its scene has failed")]

use std::io::Write;
use std::sync::{Arc, Mutex};

use ff_backend_sqlite::{Durability, Options, SqliteBackend};
use ff_core::partition::PartitionCounts;
use ff_engine::{Config, Engine, TokioHost};
use ff_server::{Server, Settings};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tracing_subscriber::fmt::MakeWriter;

/// Everything that was logged.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap()).into_owned()
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Log {
    type Writer = Log;

    fn make_writer(&self) -> Log {
        self.clone()
    }
}

/// A server on a socket of its own, and what must not be logged.
struct Scene {
    address: std::net::SocketAddr,
    /// What it is, and how it looks.
    secrets: Vec<(&'static str, String)>,
    /// The key that requests carry.
    key: Option<String>,
}

impl Scene {
    /// Sends a request as a client would, and reads the answer to its end.
    async fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> (u16, Value) {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let mut head = format!(
            "{method} {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n",
            self.address
        );
        head += &format!("content-type: application/json\r\ncontent-length: {}\r\n", body.len());
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        if let Some(key) = &self.key {
            head += &format!("authorization: Bearer {key}\r\n");
        }
        stream.write_all(format!("{head}\r\n{body}").as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.unwrap();
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let json = body.find(['{', '[']).map_or("null", |begin| &body[begin..]);
        let json = serde_json::Deserializer::from_str(json).into_iter().next();
        (status, json.and_then(Result::ok).unwrap_or(Value::Null))
    }

    async fn post(&self, path: &str, body: Value) -> Value {
        let (status, answer) = self.ask("POST", path, &[], &body.to_string()).await;
        assert!(status < 300, "POST {path}: {status} {answer}");
        answer
    }

    /// From now on, this must not be logged.
    fn keep(&mut self, what: &'static str, secret: &Value) -> String {
        let secret = secret
            .as_str()
            .unwrap_or_else(|| panic!("there is no {what}"))
            .to_owned();
        self.secrets.push((what, secret.clone()));
        secret
    }
}

/// The first field of this name, however deep it is.
fn found<'a>(json: &'a Value, name: &str) -> &'a Value {
    fn search<'a>(json: &'a Value, name: &str) -> Option<&'a Value> {
        match json {
            Value::Object(fields) => fields
                .get(name)
                .or_else(|| fields.values().find_map(|value| search(value, name))),
            Value::Array(items) => items.iter().find_map(|item| search(item, name)),
            _ => None,
        }
    }
    search(json, name).unwrap_or_else(|| panic!("no {name} in {json}"))
}

/// What a worker shows of a task.
fn fence_of(task: &Value) -> Value {
    let [lease_id, lease_epoch, attempt_id] = ["lease_id", "lease_epoch", "attempt_id"].map(|name| found(task, name));
    json!({ "lease_id": lease_id, "lease_epoch": lease_epoch, "attempt_id": attempt_id })
}

/// A path may say the id with its braces or percent-encoded.
fn of(id: &Value, rest: &str) -> String {
    let id = id.as_str().unwrap().replace('{', "%7B").replace('}', "%7D");
    format!("/v1/executions/{id}{rest}")
}

const PAYLOADS: [&str; 6] = [
    "input-7d1f",
    "result-81ac",
    "frame-55e0",
    "signal-90bd",
    "progress-payload-1c",
    "refused-payload-44",
];
const SIGNING_KEY: &str = "5ec4e75ec4e75ec4e75ec4e75ec4e75ec4e75ec4e75ec4e75ec4e75ec4e75ec4";

#[tokio::test(flavor = "multi_thread")]
async fn nothing_secret_is_logged_at_any_level() {
    let log = Log::default();
    let everything = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_ansi(false)
        .with_writer(log.clone());
    everything.init();

    let folder = tempfile::tempdir().unwrap();
    let options = Options {
        durability: Durability::Normal,
        ..Options::new(folder.path().join("store.db"))
    };
    let store = Arc::new(SqliteBackend::open(&options).unwrap());
    let engine = Engine::new(
        store,
        Arc::new(TokioHost::new()),
        Config::new(PartitionCounts::default()),
    );
    engine.start();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut scene = Scene {
        address: listener.local_addr().unwrap(),
        secrets: PAYLOADS.map(|payload| ("payload", payload.to_owned())).to_vec(),
        key: None,
    };
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let server = Server::new(engine, Settings::loopback());
    let serving = tokio::spawn(async move {
        let stopped = async { drop(stopped.await) };
        ff_server::serve(&server, listener, None, stopped).await;
    });

    work_through(&mut scene).await;
    stop.send(()).unwrap();
    serving.await.unwrap();

    let log = log.text();
    assert!(log.contains("create_execution"), "the log says what was asked for");
    for (what, secret) in &scene.secrets {
        let line = log.lines().find(|line| line.contains(secret.as_str()));
        assert_eq!(line, None, "a {what} is in the log");
    }
}

/// A caller with a key submits, a worker claims, streams, suspends, is signalled, fails and completes; much of it goes wrong.
async fn work_through(scene: &mut Scene) {
    let made = scene
        .post("/v1/admin/keys", json!({ "name": "tester", "role": "admin" }))
        .await;
    let key = scene.keep("key", &made["key"]);
    scene.key = Some(key);
    scene.secrets.push(("signing key", SIGNING_KEY.to_owned()));
    let rotation = json!({ "new_kid": "second", "new_secret_hex": SIGNING_KEY });
    scene.post("/v1/admin/rotate-waitpoint-secret", rotation).await;

    let submission = json!({ "execution_kind": "secret", "input": PAYLOADS[0] });
    scene.post("/v1/executions", submission.clone()).await;
    let claim = json!({ "worker_id": "w", "lanes": ["default"], "max": 1, "wait_ms": 2000 });
    let tasks = scene.post("/v1/workers/w-1/tasks", claim.clone()).await;
    let task = &tasks["tasks"][0];
    let id = task["execution_id"].clone();
    scene.keep("lease id", found(task, "lease_id"));
    let fence = fence_of(task);
    let with = |more: Value| {
        let mut body = fence.as_object().unwrap().clone();
        body.extend(more.as_object().unwrap().clone());
        Value::Object(body)
    };
    scene.post(&of(&id, "/lease/renew"), with(json!({}))).await;
    scene
        .post(&of(&id, "/lease/progress"), with(json!({ "message": PAYLOADS[4] })))
        .await;
    scene
        .post(
            &of(&id, "/lease/frames"),
            with(json!({ "frame_type": "word", "payload": PAYLOADS[2] })),
        )
        .await;

    let condition = json!({ "single": { "waitpoint_key": "wp", "matcher": "any" } });
    let waitpoints = json!([{ "fresh": { "waitpoint_key": "wp" } }]);
    let suspend =
        json!({ "waitpoints": waitpoints, "reason_code": "waiting_for_signal", "resume_condition": condition });
    let suspended = scene.post(&of(&id, "/lease/suspend"), with(suspend)).await;
    let token = scene.keep("token", found(&suspended, "waitpoint_token"));
    let waitpoint_id = found(&suspended, "waitpoint_id").clone();
    let signal = |token: &str| {
        json!({
            "waitpoint_id": waitpoint_id, "waitpoint_token": token, "signal_name": "go",
            "payload": PAYLOADS[3],
        })
    };
    let wrong = format!("{}:{}", token.split(':').next().unwrap(), "ab".repeat(32));
    scene
        .ask("POST", &of(&id, "/signal"), &[], &signal(&wrong).to_string())
        .await;
    scene.post(&of(&id, "/signal"), signal(&token)).await;

    // What is refused is not logged either: unknown fields, broken JSON, stale leases, secrets where they do not belong.
    for body in [
        format!(r#"{{"{}": 1}}"#, PAYLOADS[5]),
        format!(r#"{{"input": "{}"#, PAYLOADS[5]),
    ] {
        assert_eq!(scene.ask("POST", "/v1/executions", &[], &body).await.0, 400);
    }
    let path = format!("/v1/executions/{}?key={}", PAYLOADS[5], PAYLOADS[5]);
    scene.ask("GET", &path, &[("cookie", PAYLOADS[5])], "").await;
    scene
        .ask("POST", &format!("/v1/callbacks/{}", PAYLOADS[5]), &[], "{}")
        .await;
    scene.ask("GET", &format!("/{}", PAYLOADS[5]), &[], "").await;
    scene
        .ask(
            "POST",
            &of(&id, "/lease/complete"),
            &[],
            &with(json!({ "result": PAYLOADS[1] })).to_string(),
        )
        .await;

    let tasks = scene.post("/v1/workers/w-1/tasks", claim).await;
    let task = &tasks["tasks"][0];
    let lease_id = scene.keep("lease id", found(task, "lease_id"));
    let mut complete = fence_of(task);
    complete["result"] = json!(PAYLOADS[1]);
    scene.post(&of(&id, "/lease/complete"), complete).await;
    let fence = format!("{} {lease_id} 2 x", id.as_str().unwrap());
    scene.ask("GET", &of(&id, "/result"), &[("x-fence", &fence)], "").await;
    scene.ask("GET", "/metrics", &[], "").await;

    let key = scene.key.take().unwrap();
    let revoked = format!("{}x", &key[..key.len() - 1]);
    scene.key = Some(revoked);
    assert_eq!(scene.ask("GET", "/v1/executions", &[], "").await.0, 401);
}
