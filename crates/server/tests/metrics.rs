//! `/metrics`, and the page that explains it.

#![expect(clippy::unwrap_used, reason = "a test that cannot set its scene has failed")]

use std::fmt::Write;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, StatusCode};
use ff_backend::memory::MemoryBackend;
use ff_core::partition::PartitionCounts;
use ff_core::time::Timestamp;
use ff_engine::metrics::{METRICS, Metric};
use ff_engine::{Config, Engine, TokioHost};
use ff_server::{HTTP_METRICS, Settings};
use http_body_util::BodyExt;
use tower::ServiceExt;

fn server() -> Router {
    let counts = PartitionCounts::default();
    let store = Arc::new(MemoryBackend::new(Timestamp::from_millis(1_800_000_000_000), counts));
    let engine = Engine::new(store, Arc::new(TokioHost::new()), Config::new(counts));
    ff_server::router(engine, Settings::loopback())
}

async fn ask(server: &Router, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> (StatusCode, String) {
    let mut request = Request::builder()
        .method(method)
        .uri(path)
        .header("host", "localhost:7117");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let response = server
        .clone()
        .oneshot(request.body(Body::from(body.to_owned())).unwrap());
    let (head, body) = response.await.unwrap().into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    (head.status, String::from_utf8(body.to_vec()).unwrap())
}

const JSON: (&str, &str) = ("content-type", "application/json");

#[tokio::test]
async fn requests_are_counted_by_operation_and_status() {
    let server = server();
    let submission = r#"{"execution_kind":"k","input":1}"#;
    assert_eq!(ask(&server, "POST", "/v1/executions", &[JSON], submission).await.0, 201);
    assert_eq!(ask(&server, "POST", "/v1/executions", &[JSON], "{").await.0, 400);
    assert_eq!(ask(&server, "GET", "/nowhere/secret-id", &[], "").await.0, 404);
    let (status, page) = ask(&server, "GET", "/metrics", &[], "").await;
    assert_eq!(status, 200, "{page}");
    let counted = |line: &str| assert!(page.lines().any(|found| found == line), "{line} is not in {page}");
    counted(r#"ff_http_requests_total{operation="create_execution",method="POST",status="2xx"} 1"#);
    counted(r#"ff_http_requests_total{operation="create_execution",method="POST",status="4xx"} 1"#);
    counted(r#"ff_http_requests_total{operation="none",method="GET",status="4xx"} 1"#);
    counted(r#"ff_http_request_seconds_count{operation="create_execution"} 2"#);
    counted(r#"ff_submitted_total{namespace="default"} 1"#);
    counted("ff_http_in_flight 1");
    counted("ff_http_streams 0");
    assert!(!page.contains("secret-id"));
}

#[tokio::test]
async fn a_trace_goes_from_the_request_to_the_tags_of_the_execution() {
    let server = server();
    let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let headers = [JSON, ("traceparent", trace)];
    let submission = r#"{"execution_kind":"k","input":1}"#;
    ask(&server, "POST", "/v1/executions", &headers, submission).await;
    let batch = format!(r#"{{"executions":[{submission}]}}"#);
    let (_, said) = ask(&server, "POST", "/v1/executions/batch", &headers, &batch).await;
    let claim = r#"{"worker_id":"w","lanes":["default"],"max":2}"#;
    let (status, tasks) = ask(&server, "POST", "/v1/workers/w-1/tasks", &[JSON], claim).await;
    assert_eq!(status, 200, "{tasks}");
    let carried = format!(r#""traceparent":"{trace}""#);
    assert_eq!(tasks.matches(&carried).count(), 2, "{said} {tasks}");

    let wrong = [JSON, ("traceparent", "00-0-0-0")];
    let (status, _) = ask(&server, "POST", "/v1/executions", &wrong, submission).await;
    assert_eq!(status, 201, "a trace that is none is no reason to refuse");
    let (_, tasks) = ask(&server, "POST", "/v1/workers/w-1/tasks", &[JSON], claim).await;
    assert!(!tasks.contains("traceparent"), "{tasks}");
}

/// The page is written from the tables: `UPDATE_DOCS=1` writes it anew.
#[test]
fn the_page_about_metrics_is_up_to_date() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/metrics.md");
    let page = page();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, &page).unwrap();
    }
    let found = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        found == page,
        "docs/reference/metrics.md is out of date: run `just pages`"
    );
}

const INTRODUCTION: &str = "\
# Metrics

Printed from `crates/engine/src/metrics/table.rs` and `crates/server/src/metrics.rs`; a test compares.

`GET /metrics` answers in the format of OpenMetrics, which Prometheus reads. It needs a key of the role reader, unless the server
has no keys or was told to open it. A key bound to a namespace sees what has the label `namespace`, and of that only its own.

```yaml
scrape_configs:
  - job_name: flowfabric
    authorization: { credentials_file: /etc/prometheus/flowfabric.key }
    static_configs: [{ targets: [\"localhost:7117\"] }]
```

Counters and durations are what this process saw; several servers on one store add up. What stands in the store (executions,
ages, causes, budgets, problems) is the same whoever is asked: take the maximum over servers, not the sum. It is read at most
every 5 s, however often a server is scraped, and less often when reading takes long. The first 1,000 lanes by name have series of
their own, the others are summed under `_other`; the same holds for namespaces.
";

fn page() -> String {
    let mut page = INTRODUCTION.to_owned();
    for (title, metrics) in [("What the engine knows", METRICS), ("What HTTP adds", HTTP_METRICS)] {
        write!(
            page,
            "\n## {title}\n\n| metric | labels | what | the question |\n|---|---|---|---|\n"
        )
        .unwrap();
        metrics.iter().for_each(|metric| page.push_str(&row(metric)));
    }
    page
}

fn row(metric: &Metric) -> String {
    let labels: Vec<String> = metric.labels.iter().map(|label| format!("`{label}`")).collect();
    let (name, kind, labels) = (metric.name, metric.kind.as_str(), labels.join(" "));
    format!(
        "| `{name}` ({kind}) | {labels} | {} | {} |\n",
        metric.help, metric.question
    )
}
