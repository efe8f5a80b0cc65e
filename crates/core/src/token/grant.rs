//! A grant as the worker carries it from the claim to the lease.

use serde::{Deserialize, Serialize};

use super::envelope::{self, Label};
use super::opaque_text;
use crate::error::{Code, Rejection};
use crate::id::{ExecutionId, GrantId};
use crate::keyring::{KeyRing, Purpose};
use crate::name::{Kid, WorkerId, WorkerInstanceId};
use crate::time::Timestamp;

const LABEL: Label<'static> = Label {
    purpose: Purpose::Grant,
    scope: "",
};

/// What a grant says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrantClaims {
    /// What may be leased.
    pub execution_id: ExecutionId,
    /// Which grant of that execution this is.
    pub grant_id: GrantId,
    /// Who may take the lease.
    #[serde(flatten)]
    pub holder: GrantHolder,
    /// From when on it is worth nothing.
    pub expires_at: Timestamp,
    /// Whether it takes over from an earlier lease.
    pub reclaim: bool,
}

/// The one worker instance that may use a grant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrantHolder {
    /// The worker.
    pub worker_id: WorkerId,
    /// Its instance.
    pub worker_instance_id: WorkerInstanceId,
}

/// Why a grant was refused, precisely enough for the log; as a [`Rejection`] it tells the caller no more than it should.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GrantRefusal {
    /// Malformed, forged, or signed with a key unknown or past its grace.
    #[error("the grant is malformed or not signed by a valid key")]
    NotSigned,
    /// Genuine, but in the wrong hands.
    #[error("the grant belongs to another worker or instance")]
    OtherHolder,
    /// Genuine and in the right hands, too late.
    #[error("the grant expired at {0}")]
    Expired(Timestamp),
}

impl From<GrantRefusal> for Rejection {
    fn from(refusal: GrantRefusal) -> Rejection {
        match refusal {
            GrantRefusal::NotSigned | GrantRefusal::OtherHolder => {
                Code::InvalidClaimGrant.because("the grant cannot be used by this worker instance; claim again")
            }
            GrantRefusal::Expired(at) => {
                Code::ClaimGrantExpired.because(format!("the grant expired at {at}; claim again"))
            }
        }
    }
}

opaque_text!(
    /// A signed [`GrantClaims`].
    SignedGrant
);

impl SignedGrant {
    /// Signs `claims` under the current key.
    pub fn mint(ring: &KeyRing, claims: &GrantClaims) -> Self {
        let payload = serde_json::to_vec(claims).expect("claims are strings, a number and a flag");
        Self(envelope::close(ring, LABEL, payload))
    }

    /// What the grant says, if it is genuine, `holder`'s and not expired at `now`.
    pub fn open(&self, ring: &KeyRing, holder: &GrantHolder, now: Timestamp) -> Result<GrantClaims, GrantRefusal> {
        let payload = envelope::open(&self.0, ring, LABEL, now).ok_or(GrantRefusal::NotSigned)?;
        let claims: GrantClaims = serde_json::from_slice(&payload).map_err(|_| GrantRefusal::NotSigned)?;
        if claims.holder != *holder {
            return Err(GrantRefusal::OtherHolder);
        }
        if claims.expires_at.has_come(now) {
            return Err(GrantRefusal::Expired(claims.expires_at));
        }
        Ok(claims)
    }

    /// The key it claims to be signed with.
    pub fn kid(&self) -> Option<Kid> {
        envelope::kid(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::keyring::Secret;
    use crate::token::SignedCursor;

    const NOW: Timestamp = Timestamp::from_millis(1_000);

    fn ring() -> KeyRing {
        KeyRing::first(Kid::parse("k1").unwrap(), Secret::from_random([1; 32]))
    }

    fn holder(worker: &str, instance: &str) -> GrantHolder {
        GrantHolder {
            worker_id: WorkerId::parse(worker).unwrap(),
            worker_instance_id: WorkerInstanceId::parse(instance).unwrap(),
        }
    }

    fn claims() -> GrantClaims {
        GrantClaims {
            execution_id: ExecutionId::new(3, Uuid::from_u128(1)),
            grant_id: GrantId::from_uuid(Uuid::from_u128(2)),
            holder: holder("w", "w-1"),
            expires_at: Timestamp::from_millis(6_000),
            reclaim: false,
        }
    }

    fn refusal(grant: &SignedGrant, holder: &GrantHolder, now: Timestamp) -> GrantRefusal {
        grant.open(&ring(), holder, now).unwrap_err()
    }

    #[test]
    fn a_grant_opens_for_its_holder_until_it_expires() {
        let grant = SignedGrant::mint(&ring(), &claims());
        assert_eq!(grant.open(&ring(), &holder("w", "w-1"), NOW).unwrap(), claims());
        let last = Timestamp::from_millis(5_999);
        assert!(grant.open(&ring(), &holder("w", "w-1"), last).is_ok());
        let expired = refusal(&grant, &holder("w", "w-1"), claims().expires_at);
        assert_eq!(Rejection::from(expired).code, Code::ClaimGrantExpired);
    }

    #[test]
    fn a_grant_is_invalid_in_other_hands_even_when_expired() {
        let grant = SignedGrant::mint(&ring(), &claims());
        for other in [holder("w", "w-2"), holder("x", "w-1")] {
            for now in [NOW, Timestamp::MAX] {
                assert_eq!(refusal(&grant, &other, now), GrantRefusal::OtherHolder);
            }
        }
    }

    #[test]
    fn a_forged_or_malformed_grant_is_invalid() {
        let text = SignedGrant::mint(&ring(), &claims()).expose().to_owned();
        let foreign_ring = KeyRing::first(Kid::parse("k1").unwrap(), Secret::from_random([2; 32]));
        let foreign = SignedGrant::mint(&foreign_ring, &claims());
        let cursor = SignedCursor::mint(&ring(), "", &serde_json::to_vec(&claims()).unwrap());
        for bad in [
            "",
            "a.b.c",
            "é",
            &text[..text.len() - 2],
            foreign.expose(),
            cursor.expose(),
        ] {
            let refused = refusal(&SignedGrant::from_text(bad), &holder("w", "w-1"), NOW);
            assert_eq!(refused, GrantRefusal::NotSigned, "{bad}");
            assert_eq!(Rejection::from(refused).code, Code::InvalidClaimGrant);
        }
    }

    #[test]
    fn the_caller_cannot_tell_a_forged_grant_from_one_of_another_worker() {
        assert_eq!(
            Rejection::from(GrantRefusal::NotSigned),
            Rejection::from(GrantRefusal::OtherHolder)
        );
    }

    #[test]
    fn a_grant_is_text_that_never_prints_itself() {
        let grant = SignedGrant::mint(&ring(), &claims());
        assert_eq!(format!("{grant:?} {grant}"), "SignedGrant(redacted) redacted");
        assert_eq!(serde_json::to_value(&grant).unwrap(), grant.expose());
        assert_eq!(grant.kid(), Some(ring().current_kid().clone()));
    }
}
