//! The policy of an execution: how it reads and writes, what it refuses, and that every field does something.

mod fallback;
mod retry;
mod shape;
mod span;
mod timeout;

use crate::running::{Case, policy};
use ff_core::policy::Backoff;
use ff_core::time::Timestamp;
use serde_json::{Value, json};

fn backoff(json: &Value) -> Backoff {
    let retry = policy(&json!({"retry_policy": {"backoff": json}})).retry_policy;
    retry.unwrap().backoff
}

/// What the pause before each of the first `n` retries is, without luck.
fn pauses(backoff: &Backoff, n: u32) -> Vec<u64> {
    (0..n).map(|retry| backoff.delay(retry, 0).as_millis()).collect()
}

fn retrying(max_retries: u32) -> Value {
    json!({"max_retries": max_retries, "backoff": {"fixed": {"delay_ms": 1000}}})
}

fn timeout_at(case: &Case) -> Timestamp {
    case.lease_record().timeout_at.unwrap()
}
