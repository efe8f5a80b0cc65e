//! A server in this process, and a client of it.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::request::Builder;
use axum::http::{HeaderMap, Method, Request, StatusCode};
use ff_backend::Backend;
use ff_backend::memory::MemoryBackend;
use ff_core::partition::PartitionCounts;
use ff_core::time::Timestamp;
use ff_engine::{Config, Engine, TokioHost};
use ff_server::Settings;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tower::ServiceExt;

/// A server on a store that stands still.
pub(crate) struct Scene {
    pub(crate) engine: Engine,
    /// Its time passes when it is told to.
    pub(crate) store: Arc<MemoryBackend>,
    pub(crate) router: Router,
}

/// A whole answer.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Answer {
    pub(crate) async fn of(response: axum::response::Response) -> Self {
        let (head, body) = response.into_parts();
        Self {
            status: head.status,
            headers: head.headers,
            body: body.collect().await.unwrap().to_bytes(),
        }
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// Its status and, if it is a problem, the code.
    pub(crate) fn code(&self) -> (u16, String) {
        let code = self.json()["code"].as_str().unwrap_or_default().to_owned();
        (self.status.as_u16(), code)
    }
}

impl Scene {
    /// Without keys.
    pub(crate) fn new() -> Self {
        Self::with(Settings::loopback())
    }

    pub(crate) fn with(settings: Settings) -> Self {
        Self::over(|store| store, Config::new(PartitionCounts::default()), settings)
    }

    /// With something around the store.
    pub(crate) fn over(
        around: impl FnOnce(Arc<MemoryBackend>) -> Arc<dyn Backend>,
        config: Config,
        settings: Settings,
    ) -> Self {
        let start = Timestamp::from_millis(1_800_000_000_000);
        let store = Arc::new(MemoryBackend::new(start, config.counts));
        let engine = Engine::new(around(Arc::clone(&store)), Arc::new(TokioHost::new()), config);
        engine.start();
        Self {
            router: ff_server::router(engine.clone(), settings),
            engine,
            store,
        }
    }

    pub(crate) async fn open(&self, request: Request<Body>) -> axum::response::Response {
        self.router.clone().oneshot(request).await.unwrap()
    }

    pub(crate) async fn send(&self, request: Builder, body: impl Into<Body>) -> Answer {
        Answer::of(self.open(request.body(body.into()).unwrap()).await).await
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send(request(Method::GET, path), Body::empty()).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Answer {
        self.send(with_json(path), body.to_string()).await
    }

    /// The id of a new execution, as it stands in a path.
    pub(crate) async fn submitted(&self) -> String {
        let created = self.post("/v1/executions", json!({ "execution_kind": "job" })).await;
        assert_eq!(created.status, StatusCode::CREATED);
        in_path(&created.json()["execution_id"])
    }

    /// The next task, with its fence.
    pub(crate) async fn claimed(&self) -> (Value, Value) {
        let claim = json!({ "worker_id": "me", "lanes": ["default"] });
        let task = self.post("/v1/workers/me-1/tasks", claim).await.json()["tasks"][0].clone();
        let fence = json!({
            "lease_id": task["lease_id"], "lease_epoch": task["lease_epoch"], "attempt_id": task["attempt_id"],
        });
        (task, fence)
    }
}

pub(crate) fn request(method: Method, path: &str) -> Builder {
    Request::builder()
        .method(method)
        .uri(path)
        .header("host", "localhost:7117")
}

pub(crate) fn with_json(path: &str) -> Builder {
    request(Method::POST, path).header("content-type", "application/json")
}

/// The form of an id that needs no quoting.
pub(crate) fn in_path(id: &Value) -> String {
    id.as_str().unwrap().replace(['{', '}'], "")
}

/// The path of something about an execution.
pub(crate) fn at(id: &str, rest: &str) -> String {
    format!("/v1/executions/{id}{rest}")
}

/// A fence with further fields.
pub(crate) fn under(fence: &Value, mut command: Value) -> Value {
    command
        .as_object_mut()
        .unwrap()
        .extend(fence.as_object().unwrap().clone());
    command
}

/// A path with something in the place of every field.
pub(crate) fn filled(path: &str) -> String {
    let uuid = "01999999-0000-7000-8000-000000000000";
    let value = |part: &str| match part {
        "{execution_id}" => format!("fp:0:{uuid}"),
        "{attempt_index}" | "{seq}" => "0".to_owned(),
        part if part.starts_with('{') => uuid.to_owned(),
        part => part.to_owned(),
    };
    let parts: Vec<_> = path.split('/').map(value).collect();
    format!("/v1{}", parts.join("/"))
}
