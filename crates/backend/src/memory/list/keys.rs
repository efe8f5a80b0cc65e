//! How sort keys without a text of their own are written into cursors.

use std::cmp::Reverse;

use ff_core::capability::Signature;
use ff_core::id::ExecutionId;
use ff_core::machine::placement::{QueueKey, Score};
use ff_core::name::{LaneId, Namespace};
use ff_core::time::Timestamp;
use serde::{Deserialize, Serialize};

/// A score that can be part of a cursor.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct ScoreText(#[serde(with = "ScoreFields")] pub(super) Score);

#[derive(Serialize, Deserialize)]
#[serde(remote = "Score")]
struct ScoreFields {
    priority: Reverse<u16>,
    created_at: Timestamp,
    id: ExecutionId,
}

/// A queue that can be part of a cursor.
#[derive(Serialize, Deserialize)]
pub(super) struct QueueText(#[serde(with = "QueueFields")] pub(super) QueueKey);

#[derive(Serialize, Deserialize)]
#[serde(remote = "QueueKey")]
struct QueueFields {
    namespace: Namespace,
    lane: LaneId,
    signature: Signature,
}
