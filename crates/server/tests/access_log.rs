//! The line a request leaves: enough to find it, nothing that should not be read.

#![expect(clippy::unwrap_used, reason = "a test that cannot set its scene has failed")]

use std::sync::{Arc, Mutex};

use axum::body::Body;
use axum::http::Request;
use ff_backend::memory::MemoryBackend;
use ff_core::partition::PartitionCounts;
use ff_core::time::Timestamp;
use ff_engine::{Config, Engine, TokioHost};
use ff_server::Settings;
use tower::ServiceExt;

/// What was logged.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn a_request_leaves_one_line_without_ids_queries_or_secrets() {
    let log = Log::default();
    let writer = log.clone();
    let lines = tracing_subscriber::fmt()
        .with_ansi(false)
        .with_writer(move || writer.clone());
    let _captured = tracing::subscriber::set_default(lines.finish());
    let counts = PartitionCounts::default();
    let store = Arc::new(MemoryBackend::new(Timestamp::from_millis(1_800_000_000_000), counts));
    let engine = Engine::new(store, Arc::new(TokioHost::new()), Config::new(counts));
    let server = ff_server::router(engine, Settings::loopback());
    let uuid = "0190c5d4-7a6b-7c3d-8e9f-a0b1c2d3e4f5";
    for path in [
        format!("/v1/executions/%7Bfp:1%7D:{uuid}/state?wait=s3cret"),
        "/v1/s3cret".to_owned(),
    ] {
        let request = Request::get(path)
            .header("x-request-id", "mine-7")
            .header("authorization", "Bearer s3cret");
        let request = request.body(Body::empty()).unwrap();
        assert_ne!(server.clone().oneshot(request).await.unwrap().status(), 200);
    }
    let told = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    let mut lines = told.lines().filter(|line| line.contains("ff::access"));
    let first = lines.next().unwrap();
    for word in [
        "method=GET",
        "operation=\"get_state\"",
        "route=\"/v1/executions/{execution_id}/state\"",
        "status=401",
        "code=\"unauthenticated\"",
        "duration_ms=",
        "request_id=\"mine-7\"",
    ] {
        assert!(first.contains(word), "{word} is missing in {first}");
    }
    assert!(lines.next().unwrap().contains("route=\"none\"") && lines.next().is_none());
    assert!(!told.contains("s3cret") && !told.contains(uuid), "{told}");
}
