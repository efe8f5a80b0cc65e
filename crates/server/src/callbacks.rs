//! Callbacks: a POST by somebody who was given a path and nothing else becomes a signal.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use ff_core::command::signal::{DeliverSignal, SendSignal};
use ff_core::digest::Digest;
use ff_core::error::{Code, Rejection};
use ff_core::fabric::On;
use ff_core::name::{IdempotencyKey, Identity, SignalName};
use ff_core::token::{Callback, WaitpointToken};

use crate::problem::Answer;
use crate::request::Asked;

/// What the signal is called, and what sent it.
const CALLBACK: &str = "callback";
/// Headers that tell one delivery from another.
const DELIVERY_IDS: [&str; 2] = ["webhook-id", "idempotency-key"];

/// `POST /callbacks/{sealed}`: taken, also when it was before.
pub(crate) async fn receive(asked: Asked) -> Answer<Response> {
    let sealed = asked.path_values().next().unwrap_or_default();
    let callback = Callback::open(sealed).ok_or_else(WaitpointToken::refused)?;
    let signal = DeliverSignal {
        waitpoint_id: callback.waitpoint_id,
        signal_id: None,
        signal_name: SignalName::parse(CALLBACK)?,
        category: CALLBACK.to_owned(),
        source_type: CALLBACK.to_owned(),
        source_identity: Identity::anonymous(),
        payload: asked.payload(),
        idempotency_key: Some(delivery(&asked, &callback)?),
        correlation_id: None,
    };
    let send = SendSignal {
        waitpoint_token: callback.token,
        signal,
    };
    let fabric = asked.fabric();
    let call = async {
        let delivered = fabric.deliver_signal(On::new(callback.execution_id, send)).await;
        delivered.map_err(told)
    };
    let limits = &asked.server.limits;
    limits
        .guessing(callback.waitpoint_id.to_string(), asked.peer, call)
        .await?;
    Ok(StatusCode::ACCEPTED.into_response())
}

/// What makes two deliveries one: the sender's id for it, or else that they say the same.
fn delivery(asked: &Asked, callback: &Callback) -> Result<IdempotencyKey, Rejection> {
    let mut named = (String::new(), asked.body.as_ref());
    for header in DELIVERY_IDS {
        if let Some(id) = asked.header(header)? {
            named = (header.to_owned(), id.as_bytes());
            break;
        }
    }
    let (by, id) = named;
    let waitpoint = callback.waitpoint_id.uuid();
    let digest = Digest::of("delivery of a callback", [waitpoint.as_bytes(), by.as_bytes(), id]);
    IdempotencyKey::parse(digest.to_string())
}

/// A callback that is over says so; whatever else is wrong with its path is told in one way.
fn told(refused: Rejection) -> Rejection {
    match refused.code {
        Code::WaitpointClosed | Code::PendingWaitpointExpired | Code::TargetNotSignalable => {
            Code::CallbackClosed.because("this callback is over: nobody waits for it any more")
        }
        Code::InvalidId | Code::ExecutionNotFound | Code::WaitpointNotFound => WaitpointToken::refused(),
        _ => refused,
    }
}
