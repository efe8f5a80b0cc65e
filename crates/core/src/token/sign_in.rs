//! What a browser shows in the place of a key, after somebody has signed in with it.

use serde::{Deserialize, Serialize};

use super::envelope::{self, Label};
use super::opaque_text;
use crate::digest::Digest;
use crate::keyring::{KeyRing, Purpose};
use crate::time::Timestamp;

const LABEL: Label<'static> = Label {
    purpose: Purpose::SignIn,
    scope: "",
};

/// What a ticket says: which key it stands for, and until when. It holds nothing that opens anything by itself: the key is looked up
/// each time, so it ends with the key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignedIn {
    /// The key that was shown. Another one of the same name is another key.
    pub digest: Digest,
    /// From when on the ticket is worth nothing.
    pub expires_at: Timestamp,
}

opaque_text!(
    /// A sealed [`SignedIn`].
    SignInTicket
);

impl SignInTicket {
    /// Seals `claims` under the current key.
    pub fn mint(ring: &KeyRing, claims: &SignedIn) -> Self {
        let payload = serde_json::to_vec(claims).expect("claims are a text and a number");
        Self(envelope::close(ring, LABEL, payload))
    }

    /// What the ticket says, if it is genuine and not expired at `now`.
    pub fn open(&self, ring: &KeyRing, now: Timestamp) -> Option<SignedIn> {
        let payload = envelope::open(&self.0, ring, LABEL, now)?;
        let claims: SignedIn = serde_json::from_slice(&payload).ok()?;
        (!claims.expires_at.has_come(now)).then_some(claims)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keyring::{RotateWaitpointSecret, Secret, rotate};
    use crate::name::Kid;
    use crate::time::Duration;
    use crate::token::{AccessKey, SignedCursor};

    const NOW: Timestamp = Timestamp::from_millis(1_000);

    fn ring(byte: u8) -> KeyRing {
        KeyRing::first(Kid::parse("k1").unwrap(), Secret::from_random([byte; 32]))
    }

    fn claims() -> SignedIn {
        SignedIn {
            digest: AccessKey::from_text("ff_one").digest(),
            expires_at: Timestamp::from_millis(6_000),
        }
    }

    #[test]
    fn a_ticket_opens_until_it_expires() {
        let ticket = SignInTicket::mint(&ring(1), &claims());
        assert_eq!(ticket.open(&ring(1), NOW), Some(claims()));
        assert!(ticket.open(&ring(1), Timestamp::from_millis(5_999)).is_some());
        assert_eq!(ticket.open(&ring(1), claims().expires_at), None);
    }

    #[test]
    fn nothing_else_is_a_ticket() {
        let text = SignInTicket::mint(&ring(1), &claims()).expose().to_owned();
        let foreign = SignInTicket::mint(&ring(2), &claims());
        let cursor = SignedCursor::mint(&ring(1), "", &serde_json::to_vec(&claims()).unwrap());
        let upper = text.to_uppercase();
        let (longer, shorter) = (format!("{text}0"), &text[..text.len() - 2]);
        for bad in [
            "",
            "..",
            "é",
            "ff_one",
            shorter,
            &longer,
            &upper,
            foreign.expose(),
            cursor.expose(),
        ] {
            assert_eq!(SignInTicket::from_text(bad).open(&ring(1), NOW), None, "{bad}");
        }
        for place in 0..text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[place] = if bytes[place] == b'0' { b'1' } else { b'0' };
            let changed = String::from_utf8(bytes).unwrap();
            assert_eq!(SignInTicket::from_text(changed).open(&ring(1), NOW), None, "{place}");
        }
    }

    #[test]
    fn a_ticket_ends_with_a_secret_that_others_know() {
        let ticket = SignInTicket::mint(&ring(1), &claims());
        let command = |compromised| RotateWaitpointSecret {
            new_kid: Kid::parse("k2").unwrap(),
            new_secret: Secret::from_random([2; 32]),
            grace: Duration::from_hours(1),
            compromised,
        };
        let (kept, _) = rotate(&ring(1), &command(false), NOW).unwrap();
        assert!(ticket.open(&kept, NOW).is_some());
        let (lost, _) = rotate(&ring(1), &command(true), NOW).unwrap();
        assert_eq!(ticket.open(&lost, NOW), None);
    }

    #[test]
    fn a_ticket_tells_nobody_which_key_it_stands_for_and_never_prints_itself() {
        let ticket = SignInTicket::mint(&ring(1), &claims());
        let digest = serde_json::to_string(&claims().digest).unwrap();
        assert!(!ticket.expose().contains(digest.trim_matches('"')));
        assert_eq!(format!("{ticket:?} {ticket}"), "SignInTicket(redacted) redacted");
    }
}
