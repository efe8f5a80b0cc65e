//! suspend: what a worker waits for once it gives up its lease.

use serde::{Deserialize, Serialize};

use crate::command::steps::StepReport;
use crate::digest::Digest;
use crate::id::{SuspensionId, WaitpointId};
use crate::name::{IdempotencyKey, StepKey, WaitpointKey};
use crate::record::{Fence, ReasonCode, ResumeCondition, TimeoutBehavior};
use crate::time::{Duration, Timestamp};
use crate::wire;

/// Gives up the lease until a condition over signals holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Suspend {
    /// Proof of the lease, as the task carried it.
    #[serde(rename = "..fence", deserialize_with = "wire::fence")]
    pub fence: Option<Fence>,
    /// Where signals arrive: 1 to 100, none named twice.
    pub waitpoints: Vec<WaitpointChoice>,
    /// What must hold for the execution to go on.
    pub resume_condition: ResumeCondition,
    /// Why it waits; reads show it as what blocks the execution.
    pub reason_code: ReasonCode,
    /// When waiting ends, not in the past; absent: as the policy says, or never.
    pub timeout_at: Option<Timestamp>,
    /// What happens then; absent: as the policy says, or `fail`, or for `timeout_only` to go on.
    pub timeout_behavior: Option<TimeoutBehavior>,
    /// Pause between the condition holding and the execution being eligible; absent: none.
    #[serde(rename = "resume_delay_ms", default)]
    pub resume_delay: Duration,
    /// Tells a repetition from another suspend under the same lease.
    pub idempotency_key: Option<IdempotencyKey>,
    /// Id of the suspension; derived when absent, see [`Suspend::suspension_id`].
    pub suspension_id: Option<SuspensionId>,
    /// Steps to record with it, as record_steps takes them, or it is refused with them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<StepReport>,
    /// Makes it a wait of the handler's: recorded under this name, and done with what resumes it.
    pub step: Option<StepKey>,
}

/// A waitpoint of a suspension: made with it, or handed out before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum WaitpointChoice {
    /// Made by the suspend.
    Fresh {
        /// The worker's own name for it, which the resume condition uses.
        waitpoint_key: WaitpointKey,
        /// Its id; derived when absent, see [`Suspend::waitpoint_ids`].
        waitpoint_id: Option<WaitpointId>,
    },
    /// Handed out by create_pending_waitpoint; signals that came early count.
    UsePending {
        /// As create_pending_waitpoint answered it; it must be this execution's, and still open.
        waitpoint_id: WaitpointId,
    },
}

impl Suspend {
    /// The id of the suspension: as given, or derived, so that a repetition has the same.
    pub fn suspension_id(&self) -> SuspensionId {
        let derived = || SuspensionId::from_uuid(self.identity().uuid());
        self.suspension_id.unwrap_or_else(derived)
    }

    /// The ids of its waitpoints, in their order: as given, or derived, so that a repetition has the same.
    pub fn waitpoint_ids(&self) -> impl Iterator<Item = WaitpointId> {
        let suspend = self.identity().to_string();
        let derived = move |place: usize| {
            let digest = Digest::of("waitpoint of a suspension", [&suspend, &place.to_string()]);
            WaitpointId::from_uuid(digest.uuid())
        };
        let choices = self.waitpoints.iter().enumerate();
        choices.map(move |(place, choice)| match choice {
            WaitpointChoice::UsePending { waitpoint_id } => *waitpoint_id,
            WaitpointChoice::Fresh { waitpoint_id, .. } => waitpoint_id.unwrap_or_else(|| derived(place)),
        })
    }

    /// What tells this suspend from any other one. The lease id is a secret, so nobody else can know the ids in advance.
    fn identity(&self) -> Digest {
        let lease = self.fence.map(|fence| fence.lease_id.expose().to_string());
        let step = self.step.as_ref().map(|step| step.to_string());
        let told = [lease.unwrap_or_default(), self.key().to_owned()]
            .into_iter()
            .chain(step);
        Digest::of("suspension", told.chain(self.named()))
    }

    /// The idempotency key, empty when there is none.
    pub(crate) fn key(&self) -> &str {
        self.idempotency_key.as_ref().map_or("", |key| key.as_str())
    }

    /// What tells its waitpoints from those of another suspend, without what is fresh each time it is sent.
    pub(crate) fn named(&self) -> impl Iterator<Item = String> {
        self.waitpoints.iter().flat_map(|choice| match choice {
            WaitpointChoice::Fresh { waitpoint_key, .. } => ["fresh".to_owned(), waitpoint_key.to_string()],
            WaitpointChoice::UsePending { waitpoint_id } => ["pending".to_owned(), waitpoint_id.to_string()],
        })
    }
}
