//! What a lease holder sends.

use ff_core::command::lease::{Complete, Completed, Renew, Renewed};
use ff_core::error::Rejection;
use ff_core::id::{AttemptId, LeaseId};
use ff_core::record::{Fence, StopRequest};
use ff_core::time::{Duration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::payload::given;

/// The three values of a fence, each of which may be missing.
#[derive(Deserialize)]
pub(crate) struct FenceBody {
    lease_id: Option<LeaseId>,
    lease_epoch: Option<u64>,
    attempt_id: Option<AttemptId>,
}

impl FenceBody {
    /// The fence, if all of it was given.
    pub(crate) fn fence(&self) -> Option<Fence> {
        Some(Fence {
            lease_id: self.lease_id?,
            lease_epoch: self.lease_epoch?,
            attempt_id: self.attempt_id?,
        })
    }
}

/// Keeps the lease.
#[derive(Deserialize)]
pub(crate) struct RenewBody {
    #[serde(flatten)]
    fence: FenceBody,
    ttl_ms: Option<Duration>,
}

impl From<RenewBody> for Renew {
    fn from(body: RenewBody) -> Self {
        Renew {
            fence: body.fence.fence(),
            ttl: body.ttl_ms,
        }
    }
}

/// A renewed lease.
#[derive(Serialize)]
pub(crate) struct RenewedBody {
    status: &'static str,
    expires_at: Timestamp,
    stop_requested: Option<StopRequest>,
}

impl From<Renewed> for RenewedBody {
    fn from(renewed: Renewed) -> Self {
        Self {
            status: "renewed",
            expires_at: renewed.expires_at,
            stop_requested: renewed.stop_requested,
        }
    }
}

/// The work is done.
#[derive(Deserialize)]
pub(crate) struct CompleteBody {
    #[serde(flatten)]
    fence: FenceBody,
    result: Option<Box<RawValue>>,
    result_base64: Option<String>,
}

impl TryFrom<CompleteBody> for Complete {
    type Error = Rejection;

    fn try_from(body: CompleteBody) -> Result<Self, Rejection> {
        Ok(Complete {
            fence: body.fence.fence(),
            result: given(body.result, body.result_base64)?,
        })
    }
}

/// What became of it.
#[derive(Serialize)]
pub(crate) struct CompletedBody {
    status: &'static str,
}

impl From<Completed> for CompletedBody {
    fn from(completed: Completed) -> Self {
        let status = match completed {
            Completed::Now => "completed",
            Completed::Already => "already_completed",
        };
        Self { status }
    }
}
