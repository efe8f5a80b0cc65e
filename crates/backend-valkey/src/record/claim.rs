//! What `reserve` leaves beside a body, and what it needs to know of one.
//!
//! The store does not work out what a hand-out does to an execution: it writes down who claimed it, when, and behind which
//! gate. Whoever reads the record applies [`hand_out`] to both, so that the rule stands in one place.

use ff_backend::Result;
use ff_core::id::{AttemptId, GrantId, LeaseId};
use ff_core::machine::claim::{Claimant, HandOut, Reserved, Surroundings, hand_out};
use ff_core::name::{WorkerId, WorkerInstanceId};
use ff_core::record::{Execution, GateState};
use ff_core::time::{Duration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::error::corrupt;
use crate::reply::document;

/// A claim that is not part of the body yet.
#[derive(Clone, Debug)]
pub(crate) struct Claim {
    pub(crate) at: Timestamp,
    pub(crate) mode: HandOut,
    pub(crate) gate: Option<GateState>,
    pub(crate) claimant: Claimant,
}

impl Claim {
    /// The claim a text stands for: `<at> <lease or grant> <gate or -> <claimant>`.
    pub(crate) fn parse(text: &str) -> Result<Option<Self>> {
        if text.is_empty() {
            return Ok(None);
        }
        let unknown = || corrupt("a claim cannot be read");
        let mut parts = text.splitn(4, ' ');
        let mut next = || parts.next().ok_or_else(unknown);
        let at = next()?.parse().map_err(corrupt)?;
        let mode = match next()? {
            "lease" => HandOut::Lease,
            "grant" => HandOut::Grant,
            _ => return Err(unknown()),
        };
        let gate = gate_state(next()?)?;
        let claimant: ClaimantText = document(next()?)?;
        Ok(Some(Self {
            at: Timestamp::from_millis(at),
            mode,
            gate,
            claimant: claimant.into(),
        }))
    }

    /// The execution as it stands with this claim.
    pub(crate) fn apply(&self, execution: &Execution) -> Execution {
        self.reserved(execution).execution
    }

    /// What the rules make of the claim.
    pub(crate) fn reserved(&self, execution: &Execution) -> Reserved {
        let surroundings = Surroundings {
            now: self.at,
            gate: self.gate,
        };
        hand_out(execution, &self.claimant, self.mode, surroundings)
    }
}

/// The state of a gate that stands in plain text; `-` and nothing: there is none.
pub(crate) fn gate_state(text: &str) -> Result<Option<GateState>> {
    match text {
        "" | "-" => Ok(None),
        text => serde_json::from_value(text.into()).map(Some).map_err(corrupt),
    }
}

/// A claimant as it is kept.
#[derive(Serialize, Deserialize)]
struct ClaimantText {
    worker: WorkerId,
    instance: WorkerInstanceId,
    grant_id: GrantId,
    lease_id: LeaseId,
    attempt_id: AttemptId,
    lease_ttl_ms: Duration,
    grant_ttl_ms: Duration,
}

impl From<ClaimantText> for Claimant {
    fn from(text: ClaimantText) -> Self {
        Self {
            worker: text.worker,
            instance: text.instance,
            grant_id: text.grant_id,
            lease_id: text.lease_id,
            attempt_id: text.attempt_id,
            lease_ttl: text.lease_ttl_ms,
            grant_ttl: text.grant_ttl_ms,
        }
    }
}

/// A claimant to be kept.
pub(crate) fn claimant_text(claimant: &Claimant) -> String {
    let text = ClaimantText {
        worker: claimant.worker.clone(),
        instance: claimant.instance.clone(),
        grant_id: claimant.grant_id,
        lease_id: claimant.lease_id,
        attempt_id: claimant.attempt_id,
        lease_ttl_ms: claimant.lease_ttl,
        grant_ttl_ms: claimant.grant_ttl,
    };
    serde_json::to_string(&text).expect("a claimant is a document")
}
