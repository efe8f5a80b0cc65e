//! What a lease holder asks for. Every one of these carries a fence.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::command::steps::{ProgressNote, StepReport};
use crate::error::{Code, Rejection};
use crate::id::{BudgetId, ExecutionId};
use crate::name::{Category, Dimension, IdempotencyKey, RequestId, StepKey};
use crate::payload::Payload;
use crate::record::{Fence, StepUnderWay, StopRequest};
use crate::time::{Duration, Timestamp};
use crate::wire;

/// Somebody who runs an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Holder {
    /// The execution that is run.
    pub execution_id: ExecutionId,
    /// Proof of its lease, as the task carried it.
    #[serde(rename = "..fence")]
    pub fence: Fence,
}

impl Holder {
    /// One line: `<execution id> <lease id> <epoch> <attempt id>`. A secret, for whoever the lease is shown to.
    pub fn to_text(&self) -> String {
        let Fence {
            lease_id,
            lease_epoch,
            attempt_id,
        } = self.fence;
        format!("{} {} {lease_epoch} {attempt_id}", self.execution_id, lease_id.expose())
    }

    /// Reads what [`Holder::to_text`] writes. A refusal repeats nothing of it.
    pub fn from_text(text: &str) -> Result<Self, Rejection> {
        let mut words = text.split(' ');
        let mut next = || words.next().unwrap_or_default();
        let read = (|| {
            let (execution_id, lease_id) = (next().parse().ok()?, next().parse().ok()?);
            let (lease_epoch, attempt_id) = (next().parse().ok()?, next().parse().ok()?);
            next().is_empty().then_some(Self {
                execution_id,
                fence: Fence {
                    lease_id,
                    lease_epoch,
                    attempt_id,
                },
            })
        })();
        read.ok_or_else(|| {
            Code::InvalidInput.because("a lease is shown as <execution id> <lease id> <lease epoch> <attempt id>")
        })
    }
}

/// Keeps the lease.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Renew {
    /// Proof of the lease, as the task carried it.
    #[serde(rename = "..fence", deserialize_with = "wire::fence")]
    pub fence: Option<Fence>,
    /// A new time between renewals, 1 s to 24 h; absent: as before.
    #[serde(rename = "ttl_ms")]
    pub ttl: Option<Duration>,
    /// The steps the worker is at, up to 8, for whoever looks at the execution; absent: none. It replaces what was said before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doing: Vec<StepUnderWay>,
}

/// A renewed lease.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Renewed {
    /// When it ends now unless renewed again, on the store's clock.
    pub expires_at: Timestamp,
    /// Set while the worker is asked to stop, because a budget is used up.
    pub stop_requested: Option<StopRequest>,
}

/// Gives the task back.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Release {
    /// Proof of the lease, as the task carried it.
    #[serde(rename = "..fence", deserialize_with = "wire::fence")]
    pub fence: Option<Fence>,
    /// Steps to record with it, as record_steps takes them, or it is refused with them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<StepReport>,
}

/// What became of a task its worker let go without ending it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LetGo {
    /// The lease is over, and the execution waits as asked.
    Now,
    /// It was asked before under the same lease.
    Already,
    /// The flow is cancelled, so the execution was cancelled instead.
    Cancelled,
}

wire::repeatable!(LetGo, "done", Cancelled => "cancelled");

/// Says how far the work is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UpdateProgress {
    /// Proof of the lease, as the task carried it.
    #[serde(rename = "..fence", deserialize_with = "wire::fence")]
    pub fence: Option<Fence>,
    /// How far it is.
    #[serde(rename = "..progress")]
    pub progress: ProgressNote,
}

/// The work is done.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Complete {
    /// Proof of the lease, as the task carried it.
    #[serde(rename = "..fence", deserialize_with = "wire::fence")]
    pub fence: Option<Fence>,
    /// What came of it, up to 1 MiB unless configured otherwise; absent: it has no result.
    #[serde(rename = "result:bytes")]
    pub result: Option<Payload>,
    /// Steps to record with it, as record_steps takes them, or it is refused with them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<StepReport>,
}

/// What became of a completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completed {
    /// It ended now.
    Now,
    /// It was completed before under the same lease.
    Already,
}

wire::repeatable!(Completed, "completed");

/// The attempt failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Fail {
    /// Proof of the lease, as the task carried it.
    #[serde(rename = "..fence", deserialize_with = "wire::fence")]
    pub fence: Option<Fence>,
    /// What went wrong, for a person: up to 4 KiB.
    pub reason: String,
    /// What the retry policy goes by: 1 to 64 of `a-z`, `0-9` and `_`, such as `transient` or `permanent`.
    pub category: Category,
    /// A retry comes neither before this much time has passed nor before its backoff is over; more than 24 h are cut. It
    /// makes no retry of a failure that the policy does not retry.
    #[serde(rename = "retry_after_ms")]
    pub retry_after: Option<Duration>,
    /// Steps to record with it, as record_steps takes them, or it is refused with them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<StepReport>,
}

/// What the policy made of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum Failed {
    /// It is tried again in a new attempt.
    RetryScheduled {
        /// When its backoff is over and a worker may take it.
        delay_until: Timestamp,
    },
    /// It ended as failed: no retry is left, or the category is not retried.
    TerminalFailed,
    /// The flow is cancelled, so the execution was cancelled instead of being retried.
    Cancelled,
}

/// Go on later.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DelayUntil {
    /// Proof of the lease, as the task carried it.
    #[serde(rename = "..fence", deserialize_with = "wire::fence")]
    pub fence: Option<Fence>,
    /// Not handed out before this moment; the same attempt goes on then.
    pub until: Timestamp,
    /// Steps to record with it, as record_steps takes them, or it is refused with them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<StepReport>,
    /// Makes it a sleep of the handler's: recorded under this name as done, so that whoever goes on does not sleep again.
    pub step: Option<StepKey>,
}

/// Usage to be charged to a budget.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReportUsage {
    /// Proof of the lease, as the task carried it.
    #[serde(rename = "..fence", deserialize_with = "wire::fence")]
    pub fence: Option<Fence>,
    /// The budget to charge, of the execution's namespace.
    pub budget_id: BudgetId,
    /// What was spent, by dimension: 1 to 64 of them, in the units of their limits.
    pub deltas: BTreeMap<Dimension, u64>,
    /// Makes repeated reports to this budget one, from any execution, for the policy's `dedup_window_ms`.
    pub dedup_key: Option<IdempotencyKey>,
    /// Makes repeated requests of this execution one; looked at only without a `dedup_key`.
    pub request_id: Option<RequestId>,
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "7d1fd2b8-63c8-4e6c-9d1c-3a4f0b6f9e21";
    const ATTEMPT: &str = "0190c5d4-7a6b-7c3d-8e9f-a0b1c2d3e4f5";

    #[test]
    fn a_lease_is_shown_in_one_line_and_read_back() {
        let text = format!("{{fp:3}}:{ATTEMPT} {SECRET} 7 {ATTEMPT}");
        let holder = Holder::from_text(&text).unwrap();
        assert_eq!(holder.fence.lease_epoch, 7);
        assert_eq!(holder.to_text(), text);
        assert!(!format!("{holder:?}").contains("7d1fd2b8"), "a lease id is a secret");
    }

    #[test]
    fn what_is_no_lease_is_refused_without_being_repeated() {
        let id = format!("{{fp:3}}:{ATTEMPT}");
        for bad in [
            String::new(),
            format!("{id} {SECRET} 7"),
            format!("{id} {SECRET} 7 {ATTEMPT} {ATTEMPT}"),
            format!("{id} {SECRET} -7 {ATTEMPT}"),
            format!("{id}  {SECRET} 7 {ATTEMPT}"),
            format!("{SECRET} {id} 7 {ATTEMPT}"),
        ] {
            let refusal = Holder::from_text(&bad).unwrap_err();
            assert_eq!(refusal.code, Code::InvalidInput, "{bad}");
            assert!(!refusal.detail.contains("7d1fd2b8"), "{refusal}");
        }
    }
}
