//! Lines about privileged acts, for whoever must be able to say later who did what: one event at the target `ff::audit` for each
//! act of an operator or admin that is not a read, and for each attempt of a key that was refused.

use ff_core::caller::{Caller, Role};
use ff_core::error::Code;
use ff_core::fabric::{Access, Method, Operation, Result};
use ff_core::record::Actor;
use serde_json::Value;

/// What names the thing an act is about, besides what stands in its path. None of it is a secret.
const NAMES: [&str; 3] = ["name", "new_kid", "namespace"];

/// Whether an operation leaves a line.
pub(crate) fn is_privileged(operation: &Operation) -> bool {
    let privileged = matches!(operation.access, Access::Role(Role::Operator | Role::Admin));
    privileged && operation.method != Method::GET
}

/// What a call is about: the ids and names of its command, as it travels; nothing else of it.
pub(crate) fn about(operation: &Operation, command: serde_json::Result<Vec<u8>>) -> String {
    let fields: Value = command
        .and_then(|json| serde_json::from_slice(&json))
        .unwrap_or_default();
    let named = operation.path_fields().chain(NAMES);
    let named = named.filter_map(|name| Some(format!("{name}={}", fields.get(name)?.as_str()?)));
    named.collect::<Vec<_>>().join(" ")
}

/// Writes the line.
pub(crate) fn note<T>(caller: &Caller, operation: &str, about: Option<&str>, answer: &Result<T>) {
    let refused = matches!(answer, Err(refusal) if refusal.code == Code::Forbidden);
    if about.is_none() && !(refused && matches!(caller.actor, Actor::Client(_))) {
        return;
    }
    let identity = caller.actor.identity();
    tracing::info!(
        target: "ff::audit",
        operation,
        caller = identity.as_ref().map_or("local", |identity| identity.as_str()),
        role = caller.role.as_str(),
        namespace = caller.namespace.as_ref().map_or("*", |namespace| namespace.as_str()),
        about = about.unwrap_or_default(),
        outcome = answer.as_ref().map_or_else(|refusal| refusal.code.as_str(), |_| "done"),
        "a privileged act"
    );
}
