//! What the server does wrong on purpose. It goes round rather than by luck: whoever repeats a call gets through.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use ff_core::command::operator::RevokeLease;
use ff_core::fabric::{Fabric, On};
use ff_core::id::ExecutionId;
use ff_engine::Engine;
use futures::stream;
use serde::Deserialize;
use serde_json::json;

/// A larger answer is not looked into.
const ANSWER_BYTES_MAX: usize = 16 * 1024 * 1024;

/// What goes wrong, and what was asked. Clones are the same.
#[derive(Clone, Default)]
pub(super) struct Faults(Arc<Inner>);

#[derive(Default)]
struct Inner {
    /// Every so manieth call is refused; 0: none.
    refused: AtomicU64,
    /// Every so manieth answer is lost; 0: none.
    lost: AtomicU64,
    calls: AtomicU64,
    faults: AtomicU64,
}

impl Faults {
    /// Answers every `nth` call with 503, and does nothing of what it asks.
    pub(super) fn refuse_every(&self, nth: u64) {
        self.0.refused.store(nth, Ordering::Relaxed);
    }

    /// Does what every `nth` call asks, and loses the answer on its way.
    pub(super) fn lose_every(&self, nth: u64) {
        self.0.lost.store(nth, Ordering::Relaxed);
    }

    /// Calls that arrived.
    pub(super) fn calls(&self) -> u64 {
        self.0.calls.load(Ordering::Relaxed)
    }

    /// Calls that went wrong.
    pub(super) fn happened(&self) -> u64 {
        self.0.faults.load(Ordering::Relaxed)
    }

    /// Whether it is the turn of this call.
    fn is_turn(&self, call: u64, every: &AtomicU64) -> bool {
        let nth = every.load(Ordering::Relaxed);
        let is_turn = nth > 0 && call.is_multiple_of(nth);
        self.0.faults.fetch_add(u64::from(is_turn), Ordering::Relaxed);
        is_turn
    }
}

/// Passes a call on, or not.
pub(super) async fn misbehave(
    State((faults, engine)): State<(Faults, Engine)>,
    request: Request,
    next: Next,
) -> Response {
    let call = faults.0.calls.fetch_add(1, Ordering::Relaxed) + 1;
    if faults.is_turn(call, &faults.0.refused) {
        return refused();
    }
    let answer = next.run(request).await;
    if answer.status() == StatusCode::NO_CONTENT || !faults.is_turn(call, &faults.0.lost) {
        return answer;
    }
    let (_, body) = answer.into_parts();
    if let Ok(bytes) = axum::body::to_bytes(body, ANSWER_BYTES_MAX).await {
        take_back(&engine, &bytes).await;
    }
    broken_off()
}

fn refused() -> Response {
    let problem = json!({
        "type": "about:blank", "title": "Unavailable", "status": 503, "code": "unavailable", "retryable": true,
        "detail": "the check refuses this call on purpose",
    });
    let kind = [(header::CONTENT_TYPE, "application/problem+json")];
    (StatusCode::SERVICE_UNAVAILABLE, kind, problem.to_string()).into_response()
}

/// An answer that begins and does not go on: the connection breaks.
fn broken_off() -> Response {
    let broken = std::io::Error::other("the check loses this answer on purpose");
    Body::from_stream(stream::iter([
        Ok::<_, std::io::Error>(Bytes::from_static(b"{")),
        Err(broken),
    ]))
    .into_response()
}

/// What an answer may have handed out.
#[derive(Deserialize)]
struct Handed {
    #[serde(default)]
    tasks: Vec<HandedTask>,
}

#[derive(Deserialize)]
struct HandedTask {
    execution_id: ExecutionId,
    lease_epoch: u64,
}

/// Nobody runs tasks whose handing out got lost. Their leases would run out if time passed; here it stands still.
async fn take_back(engine: &Engine, answer: &[u8]) {
    let Ok(handed) = serde_json::from_slice::<Handed>(answer) else {
        return;
    };
    for task in handed.tasks {
        let revoke = RevokeLease {
            reason: Some("the answer that handed it out was lost".to_owned()),
            expected_lease_epoch: Some(task.lease_epoch),
            request_id: None,
        };
        if let Err(refused) = engine.revoke_lease(On::new(task.execution_id, revoke)).await {
            tracing::warn!(%refused, "a task whose handing out got lost could not be taken back");
        }
    }
}
