//! The ring of keys a store keeps.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::seal::{Message, Seal};
use super::secret::Secret;
use crate::name::Kid;
use crate::record::Carried;
use crate::time::Timestamp;

/// One key of a ring.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RingKey {
    /// What it signs with.
    pub secret: Secret,
    /// The end of its grace; absent for the current key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_until: Option<Timestamp>,
}

impl RingKey {
    /// Whether its seals still hold at `now`.
    pub fn is_valid(&self, now: Timestamp) -> bool {
        self.valid_until.is_none_or(|until| !until.has_come(now))
    }
}

/// The current key, which signs, and the keys in grace, which still verify.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "UncheckedRing")]
pub struct KeyRing {
    pub(super) current: Kid,
    pub(super) keys: BTreeMap<Kid, RingKey>,
    /// What a later format holds besides.
    #[serde(skip)]
    pub(crate) carried: Carried,
}

#[derive(Deserialize)]
struct UncheckedRing {
    current: Kid,
    keys: BTreeMap<Kid, RingKey>,
}

impl TryFrom<UncheckedRing> for KeyRing {
    type Error = &'static str;

    fn try_from(ring: UncheckedRing) -> Result<Self, Self::Error> {
        let UncheckedRing { current, keys } = ring;
        match keys.get(&current) {
            Some(RingKey { valid_until: None, .. }) => Ok(Self::of(current, keys)),
            Some(_) => Err("the current key of the ring is in grace"),
            None => Err("the current key of the ring is not in it"),
        }
    }
}

/// Whether the key a process was configured with is the one the store signs with. The store's is used either way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reconciled {
    /// They are the same.
    Agree,
    /// They differ, which deserves a warning.
    StoredWins,
}

impl KeyRing {
    /// A ring of one key.
    pub fn first(kid: Kid, secret: Secret) -> Self {
        let key = RingKey {
            secret,
            valid_until: None,
        };
        let keys = BTreeMap::from([(kid.clone(), key)]);
        Self::of(kid, keys)
    }

    fn of(current: Kid, keys: BTreeMap<Kid, RingKey>) -> Self {
        Self {
            current,
            keys,
            carried: Carried::default(),
        }
    }

    /// The key that signs now.
    pub fn current_kid(&self) -> &Kid {
        &self.current
    }

    /// Whether seals under `kid` can be checked at `now`; if not, the ring may be an old copy worth reloading.
    pub fn knows(&self, kid: &Kid, now: Timestamp) -> bool {
        self.valid(kid, now).is_some()
    }

    /// Seals `message` under the current key.
    pub fn sign(&self, message: &Message) -> Seal {
        Seal::new(self.current.clone(), message.mac(&self.current_key().secret))
    }

    /// Whether `seal` was made for `message` by a key that is current or in grace at `now`.
    pub fn verify(&self, message: &Message, seal: &Seal, now: Timestamp) -> bool {
        let key = self.valid(seal.kid(), now);
        key.is_some_and(|key| seal.has_mac(&message.mac(&key.secret)))
    }

    /// Covers bytes under the key of the seal that vouches for them, or uncovers them. `false`: the ring does not have that key.
    pub fn cover(&self, seal: &Seal, bytes: &mut [u8]) -> bool {
        let key = self.keys.get(seal.kid());
        key.map(|key| seal.cover(&key.secret, bytes)).is_some()
    }

    /// Compares this stored ring with the `configured` one.
    pub fn reconcile(&self, configured: &KeyRing) -> Reconciled {
        if self.current == configured.current && self.current_key() == configured.current_key() {
            Reconciled::Agree
        } else {
            Reconciled::StoredWins
        }
    }

    pub(super) fn current_key(&self) -> &RingKey {
        // Every constructor puts the current key into the ring.
        &self.keys[&self.current]
    }

    pub(super) fn valid(&self, kid: &Kid, now: Timestamp) -> Option<&RingKey> {
        self.keys.get(kid).filter(|key| key.is_valid(now))
    }
}

#[cfg(test)]
mod tests {
    use super::super::seal::Purpose;
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_000);

    fn kid(text: &str) -> Kid {
        Kid::parse(text).unwrap()
    }

    fn ring(name: &str, byte: u8) -> KeyRing {
        KeyRing::first(kid(name), Secret::from_random([byte; 32]))
    }

    fn message(text: &str) -> Message {
        Message::new(Purpose::Grant, [text])
    }

    #[test]
    fn a_seal_verifies_for_its_message_and_no_other() {
        let ring = ring("k1", 1);
        let seal = ring.sign(&message("a"));
        assert_eq!(seal.kid(), &kid("k1"));
        assert!(ring.verify(&message("a"), &seal, NOW));
        assert!(!ring.verify(&message("b"), &seal, NOW));
        assert!(!ring.verify(&Message::new(Purpose::Cursor, ["a"]), &seal, NOW));
    }

    #[test]
    fn a_seal_of_an_unknown_kid_or_another_secret_does_not_verify() {
        let seal = ring("k1", 1).sign(&message("a"));
        assert!(!ring("k2", 1).verify(&message("a"), &seal, NOW));
        assert!(!ring("k1", 2).verify(&message("a"), &seal, NOW));
        assert!(!ring("k2", 1).knows(seal.kid(), NOW));
    }

    #[test]
    fn a_key_verifies_until_its_grace_ends() {
        let mut ring = ring("k1", 1);
        let seal = ring.sign(&message("a"));
        ring.keys.get_mut(&kid("k1")).unwrap().valid_until = Some(Timestamp::from_millis(2_000));
        assert!(ring.verify(&message("a"), &seal, Timestamp::from_millis(1_999)));
        assert!(!ring.verify(&message("a"), &seal, Timestamp::from_millis(2_000)));
    }

    #[test]
    fn the_stored_ring_wins_over_a_configured_key() {
        assert_eq!(ring("k1", 1).reconcile(&ring("k1", 1)), Reconciled::Agree);
        assert_eq!(ring("k1", 1).reconcile(&ring("k1", 2)), Reconciled::StoredWins);
        assert_eq!(ring("k1", 1).reconcile(&ring("k2", 1)), Reconciled::StoredWins);
    }

    #[test]
    fn a_ring_comes_back_from_storage_as_it_was() {
        let ring = ring("k1", 1);
        let json = serde_json::to_string(&ring).unwrap();
        assert_eq!(serde_json::from_str::<KeyRing>(&json).unwrap(), ring);
        assert!(!format!("{ring:?}").contains("0101"));
    }

    #[test]
    fn a_stored_ring_without_a_signing_key_is_refused() {
        let secret = "01".repeat(32);
        for keys in [
            "{}".to_owned(),
            format!(r#"{{"k2":{{"secret":"{secret}"}}}}"#),
            format!(r#"{{"k1":{{"secret":"{secret}","valid_until":5}}}}"#),
        ] {
            let json = format!(r#"{{"current":"k1","keys":{keys}}}"#);
            assert!(serde_json::from_str::<KeyRing>(&json).is_err(), "{json}");
        }
    }
}
