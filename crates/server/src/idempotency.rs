//! `Idempotency-Key`: one header that makes any call one, however often it is sent.
//!
//! A submission takes it as its own key, unless it brings one; the items of a batch take `<key>/<index>`. Everything else
//! that knows a request id or a key takes a digest of it, so that two callers, or two calls about different things, that both
//! say "1" do not take each other's place. Which fields a command knows, its type says.

use ff_core::digest::Digest;
use ff_core::error::{Code, Rejection};
use ff_core::fabric::{Operation, op};
use ff_core::id::ExecutionId;
use ff_core::name::IdempotencyKey;
use ff_core::wire::Fields;

use crate::request::Asked;

const HEADER: &str = "idempotency-key";
const KEY: &str = "idempotency_key";
const REQUEST_ID: &str = "request_id";

/// The key a request carries.
pub(crate) fn key(asked: &Asked) -> Result<Option<IdempotencyKey>, Rejection> {
    asked.header(HEADER)?.map(IdempotencyKey::parse).transpose()
}

/// Offers the key of a request to its command.
pub(crate) fn offer(asked: &Asked, operation: &Operation, fields: &mut Fields<'_>) -> Result<(), Rejection> {
    let Some(key) = key(asked)? else { return Ok(()) };
    if operation.noun != op::create_execution.noun {
        let digest = digest(asked, operation.name, &key);
        fields.offer(REQUEST_ID, digest.as_str());
        fields.offer(KEY, digest);
        return Ok(());
    }
    if fields.text(KEY)?.is_some_and(|given| given != key.as_str()) {
        return Err(Code::InvalidInput.because(format!("{KEY} and the header Idempotency-Key are different keys")));
    }
    fields.offer(KEY, key.as_str());
    Ok(())
}

/// What stands for the key of a request for `what`: another one for every caller, call and thing it is about.
fn digest(asked: &Asked, what: &str, key: &IdempotencyKey) -> String {
    let caller = &asked.caller;
    let who = caller.actor.identity().map(String::from).unwrap_or_default();
    let namespace = caller.namespace.clone().map(String::from).unwrap_or_default();
    // An id may be spelled in two ways.
    let spelled = |value: &str| value.parse::<ExecutionId>().map_or(value.to_owned(), String::from);
    let told = [who, namespace, what.to_owned(), key.as_str().to_owned()];
    Digest::of(
        "idempotency key",
        told.into_iter().chain(asked.path_values().map(spelled)),
    )
    .to_string()
}
