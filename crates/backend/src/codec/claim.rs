//! A claim kept beside a body.
//!
//! A store need not work out what a hand-out does to an execution: it writes down who claimed it, when, and behind which
//! gate. Whoever reads the record applies [`hand_out`] to both, so that the rule stands in one place.

use ff_core::id::{AttemptId, GrantId, LeaseId};
use ff_core::machine::claim::{Claimant, HandOut, Reserved, Surroundings, hand_out};
use ff_core::name::{WorkerId, WorkerInstanceId};
use ff_core::record::{Execution, GateState};
use ff_core::time::{Duration, Timestamp};
use serde::{Deserialize, Serialize};

use super::{Result, Unreadable, state};

/// A claim that is not part of the body yet.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// When it was made.
    pub at: Timestamp,
    /// What was made of the execution.
    pub mode: HandOut,
    /// The gate of its flow at that moment.
    pub gate: Option<GateState>,
    /// Who got it.
    pub claimant: Claimant,
}

impl Claim {
    /// The claim a text stands for: `<at> <lease or grant> <gate or -> <claimant>`; nothing: there is none.
    pub fn parse(text: &str) -> Result<Option<Self>> {
        if text.is_empty() {
            return Ok(None);
        }
        // It holds a lease id, so it is not repeated.
        Self::of_parts(text)
            .map(Some)
            .ok_or_else(|| Unreadable::new("a claim cannot be read"))
    }

    fn of_parts(text: &str) -> Option<Self> {
        let mut parts = text.splitn(4, ' ');
        let at = parts.next()?.parse().ok()?;
        let mode = match parts.next()? {
            "lease" => HandOut::Lease,
            "grant" => HandOut::Grant,
            _ => return None,
        };
        let gate = gate(parts.next()?).ok()?;
        let mut document = serde_json::Deserializer::from_str(parts.next()?);
        let claimant = ClaimantFields::deserialize(&mut document).ok()?;
        document.end().ok()?;
        Some(Self {
            at: Timestamp::from_millis(at),
            mode,
            gate,
            claimant,
        })
    }

    /// The execution as it stands with this claim.
    pub fn apply(&self, execution: &Execution) -> Execution {
        self.reserved(execution).execution
    }

    /// What the rules make of the claim.
    pub fn reserved(&self, execution: &Execution) -> Reserved {
        let surroundings = Surroundings {
            now: self.at,
            gate: self.gate,
        };
        hand_out(execution, &self.claimant, self.mode, surroundings)
    }
}

/// The state of a gate that a store found; `-` and nothing: there is none.
pub fn gate(word: &str) -> Result<Option<GateState>> {
    match word {
        "" | "-" => Ok(None),
        word => state::gate(word).map(Some),
    }
}

/// A claimant to be kept.
pub fn claimant_text(claimant: &Claimant) -> String {
    let mut text = Vec::new();
    let written = ClaimantFields::serialize(claimant, &mut serde_json::Serializer::new(&mut text));
    written.expect("a claimant is a document");
    String::from_utf8(text).expect("a document is text")
}

/// A claimant as it is kept.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Claimant")]
struct ClaimantFields {
    worker: WorkerId,
    instance: WorkerInstanceId,
    grant_id: GrantId,
    lease_id: LeaseId,
    attempt_id: AttemptId,
    #[serde(rename = "lease_ttl_ms")]
    lease_ttl: Duration,
    #[serde(rename = "grant_ttl_ms")]
    grant_ttl: Duration,
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn claimant() -> Claimant {
        Claimant {
            worker: WorkerId::parse("a{\"b\"}").unwrap(),
            instance: WorkerInstanceId::parse("a-1").unwrap(),
            grant_id: GrantId::from_uuid(Uuid::from_u128(1)),
            lease_id: LeaseId::from_uuid(Uuid::from_u128(0xfeed)),
            attempt_id: AttemptId::from_uuid(Uuid::from_u128(3)),
            lease_ttl: Duration::from_secs(30),
            grant_ttl: Duration::from_millis(1),
        }
    }

    #[test]
    fn a_claim_reads_as_it_was_written() {
        let gates = state::GATES.map(Some).into_iter().chain([None]);
        for (mode, word) in [(HandOut::Lease, "lease"), (HandOut::Grant, "grant")] {
            for gate in gates.clone() {
                let claim = Claim {
                    at: Timestamp::from_millis(7),
                    mode,
                    gate,
                    claimant: claimant(),
                };
                let gate = gate.map_or("-", state::gate_word);
                let text = format!("7 {word} {gate} {}", claimant_text(&claim.claimant));
                assert_eq!(Claim::parse(&text), Ok(Some(claim)));
            }
        }
        assert_eq!(Claim::parse(""), Ok(None));
    }

    #[test]
    fn a_claim_that_cannot_be_read_is_not_repeated() {
        let text = format!("7 lease - {}", claimant_text(&claimant()));
        for broken in [&text[1..], &text[..text.len() - 1], "7 loan - {}", "7 lease ajar {}"] {
            let error = Claim::parse(broken).unwrap_err().to_string();
            assert!(!error.contains("feed"), "{error}");
        }
    }
}
