//! What a call is recognised by when it is sent twice.
//!
//! Whatever creates something names it, so that its second copy finds the first one's work; whatever else acts has a key in a
//! header. What the caller has named is left as it is.

use ff_core::fabric::{Method, Operation, Result, op};
use ff_core::wire::Fields;
use serde::Deserialize;
use serde_json::value::RawValue;
use uuid::Uuid;

/// What names a submission: any of these.
const SUBMISSION: [&str; 3] = ["execution_id", "execution_uuid", "idempotency_key"];

/// Names what a call creates.
pub(super) fn add(operation: &Operation, fields: &mut Fields<'_>) {
    let id = match operation.name {
        name if name == op::create_execution.name => return add_uuid(fields),
        name if name == op::create_flow.name || name == op::create_flow_graph.name => "flow_id",
        name if name == op::create_budget.name => "budget_id",
        name if name == op::create_quota_policy.name => "quota_policy_id",
        _ => return,
    };
    fields.add_missing(id, Uuid::now_v7().to_string());
}

fn add_uuid(submission: &mut Fields<'_>) {
    if !SUBMISSION.iter().any(|name| submission.is_given(name)) {
        submission.add_missing("execution_uuid", Uuid::now_v7().to_string());
    }
}

/// A batch of submissions with each of them named; `None` for every other call.
pub(super) fn batch(operation: &Operation, json: &[u8]) -> Result<Option<Vec<u8>>> {
    #[derive(Deserialize)]
    struct Batch<'a> {
        #[serde(borrow)]
        executions: Vec<&'a RawValue>,
    }
    if operation.name != op::create_executions.name {
        return Ok(None);
    }
    let unreadable = |error: serde_json::Error| ff_core::error::Code::Internal.because(error.to_string());
    let batch: Batch<'_> = serde_json::from_slice(json).map_err(unreadable)?;
    let mut named = Vec::from(*br#"{"executions":["#);
    for (index, submission) in batch.executions.iter().enumerate() {
        if index > 0 {
            named.push(b',');
        }
        let mut submission = Fields::of_json(submission.get().as_bytes())?;
        add_uuid(&mut submission);
        named.append(&mut submission.into_json()?);
    }
    named.extend_from_slice(b"]}");
    Ok(Some(named))
}

/// Calls that have no key of ours: a submission's would be kept with it for a day, and a suspend is known by the lease it ends.
const WITHOUT_KEY: [&str; 3] = ["create_execution", "create_executions", "suspend"];

/// The key of a call that creates nothing.
pub(super) fn header(operation: &Operation) -> Option<String> {
    let has_key = matches!(operation.method, Method::POST) && !WITHOUT_KEY.contains(&operation.name);
    has_key.then(|| Uuid::now_v7().to_string())
}
