//! The token that authenticates a signal to a waitpoint: `<kid>:<hex>`.

use super::opaque_text;
use crate::digest::Digest;
use crate::error::{Code, Rejection};
use crate::id::{ExecutionId, WaitpointId};
use crate::keyring::{KeyRing, Message, Purpose, Seal};
use crate::name::{Kid, WaitpointKey};
use crate::time::Timestamp;

/// Changes when what is signed changes its meaning.
const VERSION: &str = "1";

/// The facts of a waitpoint that its token vouches for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitpointClaims {
    /// The execution that waits.
    pub execution_id: ExecutionId,
    /// The waitpoint.
    pub waitpoint_id: WaitpointId,
    /// The worker's name for it.
    pub waitpoint_key: WaitpointKey,
    /// When it was created.
    pub created_at: Timestamp,
}

impl WaitpointClaims {
    /// 8 hex digits that name the waitpoint's tokens in listings and logs and say nothing about what signs them.
    pub fn fingerprint(&self) -> String {
        Digest::of("waitpoint", self.parts()).short()
    }

    fn message(&self) -> Message {
        Message::new(Purpose::Waitpoint, self.parts())
    }

    fn parts(&self) -> [Vec<u8>; 5] {
        [
            VERSION.into(),
            self.execution_id.to_string().into_bytes(),
            self.waitpoint_id.uuid().into_bytes().into(),
            self.waitpoint_key.as_str().into(),
            self.created_at.as_millis().to_be_bytes().into(),
        ]
    }
}

opaque_text!(
    /// Whoever has it may signal its waitpoint.
    WaitpointToken
);

impl WaitpointToken {
    /// The token of a waitpoint under the current key.
    pub fn mint(ring: &KeyRing, claims: &WaitpointClaims) -> Self {
        let seal = ring.sign(&claims.message());
        Self(format!("{}:{}", seal.kid(), seal.expose_mac_hex()))
    }

    /// Refuses any token but one of this waitpoint, signed by a key current or in grace at `now`.
    pub fn verify(&self, ring: &KeyRing, claims: &WaitpointClaims, now: Timestamp) -> Result<(), Rejection> {
        let genuine = self
            .seal()
            .is_some_and(|seal| ring.verify(&claims.message(), &seal, now));
        if genuine { Ok(()) } else { Err(Self::refused()) }
    }

    /// `invalid_token`, the same for every cause: also the answer when there is no such waitpoint.
    pub fn refused() -> Rejection {
        Code::InvalidToken.because("the waitpoint token is not valid for this waitpoint")
    }

    /// The key it claims to be signed with.
    pub fn kid(&self) -> Option<Kid> {
        self.seal().map(|seal| seal.kid().clone())
    }

    fn seal(&self) -> Option<Seal> {
        let (kid, mac) = self.0.split_once(':')?;
        Seal::from_text(kid, mac)
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::keyring::{RotateWaitpointSecret, Secret, rotate};
    use crate::time::Duration;

    const NOW: Timestamp = Timestamp::from_millis(1_000);

    fn ring() -> KeyRing {
        KeyRing::first(Kid::parse("k1").unwrap(), Secret::from_random([1; 32]))
    }

    fn claims() -> WaitpointClaims {
        WaitpointClaims {
            execution_id: ExecutionId::new(3, Uuid::from_u128(1)),
            waitpoint_id: WaitpointId::from_uuid(Uuid::from_u128(2)),
            waitpoint_key: WaitpointKey::parse("approval").unwrap(),
            created_at: NOW,
        }
    }

    #[test]
    fn a_token_is_kid_colon_hex_and_opens_its_waitpoint() {
        let token = WaitpointToken::mint(&ring(), &claims());
        let mac = token.expose().strip_prefix("k1:").unwrap();
        assert!(mac.len() == 64 && mac.bytes().all(|b| b.is_ascii_hexdigit()));
        assert!(token.verify(&ring(), &claims(), NOW).is_ok());
    }

    #[test]
    fn a_token_opens_no_other_waitpoint() {
        let token = WaitpointToken::mint(&ring(), &claims());
        let others = [
            WaitpointClaims {
                execution_id: ExecutionId::new(4, Uuid::from_u128(1)),
                ..claims()
            },
            WaitpointClaims {
                waitpoint_id: WaitpointId::from_uuid(Uuid::from_u128(3)),
                ..claims()
            },
            WaitpointClaims {
                waitpoint_key: WaitpointKey::parse("callback").unwrap(),
                ..claims()
            },
            WaitpointClaims {
                created_at: Timestamp::from_millis(1_001),
                ..claims()
            },
        ];
        for other in others {
            let refused = token.verify(&ring(), &other, NOW).unwrap_err();
            assert_eq!(refused, WaitpointToken::refused());
        }
    }

    #[test]
    fn every_bad_token_gets_the_same_answer() {
        let text = WaitpointToken::mint(&ring(), &claims()).expose().to_owned();
        let upper = text.to_uppercase().replacen("K1", "k1", 1);
        let other_kid = text.replacen("k1", "k2", 1);
        for bad in [
            "",
            ":",
            "k1",
            "k1:",
            "k1:zz",
            &text[..66],
            &text[3..],
            &upper,
            &other_kid,
            &format!("{text} "),
        ] {
            let refused = WaitpointToken::from_text(bad)
                .verify(&ring(), &claims(), NOW)
                .unwrap_err();
            assert_eq!(refused, WaitpointToken::refused(), "{bad}");
            assert_eq!(refused.code, Code::InvalidToken);
        }
    }

    #[test]
    fn a_token_outlives_a_rotation_by_the_grace() {
        let token = WaitpointToken::mint(&ring(), &claims());
        let command = RotateWaitpointSecret {
            new_kid: Kid::parse("k2").unwrap(),
            new_secret: Secret::from_random([2; 32]),
            grace: Duration::from_hours(1),
            compromised: false,
        };
        let (ring, _) = rotate(&ring(), &command, NOW).unwrap();
        assert!(token.verify(&ring, &claims(), NOW).is_ok());
        assert!(token.verify(&ring, &claims(), NOW + Duration::from_hours(1)).is_err());
    }

    #[test]
    fn a_fingerprint_is_the_same_under_every_key_and_no_part_of_the_mac() {
        let token = WaitpointToken::mint(&ring(), &claims());
        let fingerprint = claims().fingerprint();
        assert_eq!(fingerprint.len(), 8);
        assert!(!token.expose().contains(&fingerprint));
    }

    #[test]
    fn a_token_is_read_from_any_text_and_never_prints_itself() {
        let token: WaitpointToken = serde_json::from_str("\"nonsense\"").unwrap();
        assert_eq!(token.kid(), None);
        assert_eq!(format!("{token:?} {token}"), "WaitpointToken(redacted) redacted");
    }
}
