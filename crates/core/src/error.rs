//! What a caller is told when an operation is refused.

mod help;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use help::Help;

macro_rules! codes {
    ($($status:literal { $($variant:ident => $text:literal),+ $(,)? })+) => {
        /// A stable error code: the same string in JSON, logs, docs and tests.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum Code {
            $($(
                #[doc = concat!("`", $text, "` (HTTP ", stringify!($status), ").")]
                #[serde(rename = $text)]
                $variant,
            )+)+
        }

        impl Code {
            /// Every code there is, in the order of the interface's table.
            pub const ALL: &[Code] = &[$($(Code::$variant,)+)+];

            /// The code as it appears on the wire.
            pub const fn as_str(self) -> &'static str {
                match self { $($(Code::$variant => $text,)+)+ }
            }

            /// The code of this text.
            pub fn parse(text: &str) -> Option<Code> {
                match text { $($($text => Some(Code::$variant),)+)+ _ => None }
            }

            /// The HTTP status the code is served with.
            pub const fn status(self) -> u16 {
                match self { $($(Code::$variant => $status,)+)+ }
            }
        }
    };
}

codes! {
    400 {
        InvalidInput => "invalid_input",
        InvalidId => "invalid_id",
        InvalidCapabilities => "invalid_capabilities",
        InvalidPolicy => "invalid_policy",
        InvalidTagKey => "invalid_tag_key",
        InvalidCondition => "invalid_condition",
        InvalidKid => "invalid_kid",
        InvalidSecretHex => "invalid_secret_hex",
        InvalidCursor => "invalid_cursor",
        PartitionMismatch => "partition_mismatch",
        SelfReferencingEdge => "self_referencing_edge",
        FenceRequired => "fence_required",
        GraphTooLarge => "graph_too_large",
    }
    401 { Unauthenticated => "unauthenticated" }
    403 { Forbidden => "forbidden", InvalidToken => "invalid_token" }
    404 {
        NotFound => "not_found",
        ExecutionNotFound => "execution_not_found",
        FlowNotFound => "flow_not_found",
        EdgeNotFound => "edge_not_found",
        AttemptNotFound => "attempt_not_found",
        KeyNotFound => "key_not_found",
        WaitpointNotFound => "waitpoint_not_found",
        StepNotFound => "step_not_found",
        BudgetNotFound => "budget_not_found",
        QuotaPolicyNotFound => "quota_policy_not_found",
        LaneNotFound => "lane_not_found",
        WorkerNotFound => "worker_not_found",
        ResultNotAvailable => "result_not_available",
    }
    405 { MethodNotAllowed => "method_not_allowed" }
    408 { RequestTimeout => "request_timeout" }
    409 {
        ExecutionNotActive => "execution_not_active",
        ExecutionNotTerminal => "execution_not_terminal",
        ExecutionNotSuspended => "execution_not_suspended",
        ExecutionNotEligible => "execution_not_eligible",
        ExecutionNotReclaimable => "execution_not_reclaimable",
        StaleLease => "stale_lease",
        LeaseExpired => "lease_expired",
        LeaseRevoked => "lease_revoked",
        NoActiveLease => "no_active_lease",
        InvalidClaimGrant => "invalid_claim_grant",
        ClaimGrantExpired => "claim_grant_expired",
        CapabilityMismatch => "capability_mismatch",
        AlreadyExists => "already_exists",
        AlreadySuspended => "already_suspended",
        WaitpointClosed => "waitpoint_closed",
        WaitpointAlreadyExists => "waitpoint_already_exists",
        PendingWaitpointExpired => "pending_waitpoint_expired",
        TargetNotSignalable => "target_not_signalable",
        SignalLimitExceeded => "signal_limit_exceeded",
        StaleGraphRevision => "stale_graph_revision",
        CycleDetected => "cycle_detected",
        DependencyAlreadyExists => "dependency_already_exists",
        ExecutionNotInFlow => "execution_not_in_flow",
        AlreadyMemberOfDifferentFlow => "already_member_of_different_flow",
        FlowAlreadyTerminal => "flow_already_terminal",
        GroupPolicyFixed => "group_policy_fixed",
        MaxReplaysExhausted => "max_replays_exhausted",
        MaxReclaimsExceeded => "max_reclaims_exceeded",
        DuplicateWorkerInstance => "duplicate_worker_instance",
        RotationConflict => "rotation_conflict",
        LaneNotAccepting => "lane_not_accepting",
        StreamClosed => "stream_closed",
        StepConflict => "step_conflict",
        StepLimitExceeded => "step_limit_exceeded",
        StaleOwnerCannotAppend => "stale_owner_cannot_append",
        Contention => "contention",
    }
    410 { CursorExpired => "cursor_expired", CallbackClosed => "callback_closed" }
    413 {
        PayloadTooLarge => "payload_too_large",
        FrameTooLarge => "frame_too_large",
        BatchTooLarge => "batch_too_large",
    }
    415 { UnsupportedMediaType => "unsupported_media_type" }
    429 {
        RateLimited => "rate_limited",
        TooManyStreams => "too_many_streams",
        TooManySignatures => "too_many_signatures",
    }
    500 { Internal => "internal" }
    503 { Unavailable => "unavailable", ShuttingDown => "shutting_down" }
    504 { Timeout => "timeout" }
}

impl Code {
    /// Whether the same call may succeed later without the caller changing anything.
    pub const fn retryable(self) -> bool {
        matches!(self, Code::Contention) || matches!(self.status(), 408 | 429 | 503 | 504)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A refused operation: the code, a sentence for a person, and fields for a program. Nothing was changed.
///
/// As JSON it is a problem document (RFC 9457).
#[derive(Clone, Debug, PartialEq, thiserror::Error, Serialize, Deserialize)]
#[serde(try_from = "Map<String, Value>", into = "Map<String, Value>")]
#[error("{code}: {detail}")]
pub struct Rejection {
    /// Which refusal this is.
    pub code: Code,
    /// What happened, to which thing, and what to do now.
    pub detail: String,
    /// Further members of the problem document.
    pub fields: BTreeMap<Cow<'static, str>, Value>,
}

impl Rejection {
    /// A refusal with `code`, explained by `detail`.
    pub fn new(code: Code, detail: impl Into<String>) -> Self {
        Self {
            code,
            detail: detail.into(),
            fields: BTreeMap::new(),
        }
    }

    /// Adds a field a program can read.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        self.fields.insert(name.into(), value.into());
        self
    }
}

impl Code {
    /// A refusal with this code, explained by `detail`.
    pub fn because(self, detail: impl Into<String>) -> Rejection {
        Rejection::new(self, detail)
    }
}

/// Members of a problem document that follow from the code.
const DERIVED: [&str; 4] = ["type", "title", "status", "retryable"];

impl From<Rejection> for Map<String, Value> {
    fn from(rejection: Rejection) -> Self {
        let Rejection { code, detail, fields } = rejection;
        let mut document: Self = fields
            .into_iter()
            .map(|(name, value)| (name.into_owned(), value))
            .collect();
        document.extend([
            ("type".to_owned(), Value::from(format!("urn:flowfabric:error:{code}"))),
            ("title".to_owned(), Value::from(code.as_str().replace('_', " "))),
            ("status".to_owned(), Value::from(code.status())),
            ("detail".to_owned(), Value::from(detail)),
            ("code".to_owned(), Value::from(code.as_str())),
            ("retryable".to_owned(), Value::from(code.retryable())),
        ]);
        document
    }
}

impl TryFrom<Map<String, Value>> for Rejection {
    type Error = &'static str;

    fn try_from(mut document: Map<String, Value>) -> Result<Self, &'static str> {
        let mut text = |name| match document.remove(name) {
            Some(Value::String(text)) => Some(text),
            _ => None,
        };
        let code = text("code").ok_or("a problem document without a code")?;
        let detail = text("detail").unwrap_or_default();
        let (code, detail) = match Code::parse(&code) {
            Some(code) => (code, detail),
            None => (akin(&document), format!("{code}: {detail}")),
        };
        let further = document
            .into_iter()
            .filter(|(name, _)| !DERIVED.contains(&name.as_str()));
        Ok(Self {
            code,
            detail,
            fields: further.map(|(name, value)| (name.into(), value)).collect(),
        })
    }
}

/// What a code of a newer server means to us: the first we know with its status that may be tried again, or not, as it may.
fn akin(document: &Map<String, Value>) -> Code {
    let is_akin = |code: &&Code| {
        document.get("status") == Some(&Value::from(code.status()))
            && document.get("retryable") == Some(&Value::from(code.retryable()))
    };
    Code::ALL.iter().find(is_akin).copied().unwrap_or(Code::Internal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_a_problem_document_and_back() {
        for code in Code::ALL {
            let refusal = code.because("why: because").with("budget_id", "b").with("limit", 7);
            let json = serde_json::to_value(&refusal).unwrap();
            assert_eq!(json["code"], code.as_str());
            assert_eq!(json["status"], code.status());
            assert_eq!(serde_json::from_value::<Rejection>(json).unwrap(), refusal);
        }
    }

    #[test]
    fn a_code_of_a_newer_server_is_taken_for_one_like_it() {
        let json = r#"{"status": 429, "code": "too_fast", "detail": "slow down", "retryable": true, "type": "x"}"#;
        let refusal: Rejection = serde_json::from_str(json).unwrap();
        assert_eq!(refusal, Code::RateLimited.because("too_fast: slow down"));
    }
}
