//! rotate_waitpoint_secret: another key signs from now on.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::ring::{KeyRing, RingKey};
use super::secret::Secret;
use crate::error::{Code, Rejection};
use crate::name::Kid;
use crate::time::{Duration, Timestamp};

/// How long an outgoing key verifies when the caller names no time.
const GRACE_DEFAULT: Duration = Duration::from_hours(24);
/// The shortest grace of a key nobody called compromised: other processes sign with it until they reload the ring.
const GRACE_MIN: Duration = Duration::from_secs(60);

/// Makes a new key the current one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RotateWaitpointSecret {
    /// A name no key of the ring has: up to 256 bytes, without `:`. Tokens show it.
    pub new_kid: Kid,
    /// What the new key signs with: a secret of 32 bytes or more, as hex.
    #[serde(rename = "new_secret_hex")]
    pub new_secret: Secret,
    /// How long the outgoing key still verifies, at least 60 s whatever is given; absent: 24 h.
    #[serde(rename = "grace_ms", default = "default_grace")]
    pub grace: Duration,
    /// Drops the outgoing key at once: whatever it signed is worth nothing.
    #[serde(default)]
    pub compromised: bool,
}

fn default_grace() -> Duration {
    GRACE_DEFAULT
}

/// What a rotation did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Rotated {
    /// Whether the new key became current by this call.
    pub status: RotationStatus,
    /// Name of the key that signs now.
    pub current_kid: Kid,
    /// The key that signed before; of an unchanged ring, the key in grace that verifies longest.
    pub previous_kid: Option<Kid>,
    /// Until when the previous key verifies; the moment of the rotation when it was compromised.
    pub previous_valid_until: Option<Timestamp>,
    /// Keys that left the ring: past their grace, or compromised.
    pub removed_kids: Vec<Kid>,
}

/// Whether a rotation changed the ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RotationStatus {
    /// The new key is current.
    Rotated,
    /// It was already.
    Unchanged,
}

/// The ring after `command`, and what to tell the caller. Safe to repeat while the new key is current.
///
/// A kid in grace is never made current again, not even with its own secret: a rotation repeated after a later one
/// must not bring a retired key back. That is a `rotation_conflict`, too.
pub fn rotate(
    ring: &KeyRing,
    command: &RotateWaitpointSecret,
    now: Timestamp,
) -> Result<(KeyRing, Rotated), Rejection> {
    let RotateWaitpointSecret {
        new_kid, new_secret, ..
    } = command;
    if let Some(key) = ring.valid(new_kid, now) {
        let repeated = *new_kid == ring.current && key.secret == *new_secret;
        return if repeated {
            Ok((ring.clone(), unchanged(ring, now)))
        } else {
            Err(taken(ring, new_kid, key))
        };
    }
    if command.compromised && ring.current_key().secret == *new_secret {
        return Err(Code::RotationConflict.because("the new secret is that of the compromised key; choose another one"));
    }
    Ok(replace_current(ring, command, now))
}

fn replace_current(ring: &KeyRing, command: &RotateWaitpointSecret, now: Timestamp) -> (KeyRing, Rotated) {
    let grace = if command.compromised {
        Duration::ZERO
    } else {
        command.grace.max(GRACE_MIN)
    };
    let previous_valid_until = now + grace;
    let mut keys = ring.keys.clone();
    if let Some(outgoing) = keys.get_mut(&ring.current) {
        outgoing.valid_until = Some(previous_valid_until);
    }
    let (kept, removed): (BTreeMap<_, _>, BTreeMap<_, _>) = keys.into_iter().partition(|(_, key)| key.is_valid(now));
    let mut next = KeyRing::first(command.new_kid.clone(), command.new_secret.clone());
    next.keys.extend(kept);
    next.carried = ring.carried.clone();

    let rotated = Rotated {
        status: RotationStatus::Rotated,
        current_kid: command.new_kid.clone(),
        previous_kid: Some(ring.current.clone()),
        previous_valid_until: Some(previous_valid_until),
        removed_kids: removed.into_keys().collect(),
    };
    (next, rotated)
}

fn unchanged(ring: &KeyRing, now: Timestamp) -> Rotated {
    let in_grace = ring
        .keys
        .iter()
        .filter(|(kid, key)| **kid != ring.current && key.is_valid(now));
    let previous = in_grace.max_by_key(|(_, key)| key.valid_until);
    Rotated {
        status: RotationStatus::Unchanged,
        current_kid: ring.current.clone(),
        previous_kid: previous.map(|(kid, _)| kid.clone()),
        previous_valid_until: previous.and_then(|(_, key)| key.valid_until),
        removed_kids: Vec::new(),
    }
}

fn taken(ring: &KeyRing, kid: &Kid, key: &RingKey) -> Rejection {
    let current = &ring.current;
    let detail = match key.valid_until {
        Some(until) => {
            format!("kid {kid} was retired and is in grace until {until}, {current} signs now; choose a new kid")
        }
        None => format!("kid {kid} signs now with another secret; choose a new kid"),
    };
    Code::RotationConflict.because(detail)
}

#[cfg(test)]
mod tests {
    use super::super::seal::{Message, Purpose};
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_000_000);
    const MINUTE: Duration = Duration::from_secs(60);

    fn kid(text: &str) -> Kid {
        Kid::parse(text).unwrap()
    }

    fn command(new_kid: &str, byte: u8) -> RotateWaitpointSecret {
        RotateWaitpointSecret {
            new_kid: kid(new_kid),
            new_secret: Secret::from_random([byte; 32]),
            grace: GRACE_DEFAULT,
            compromised: false,
        }
    }

    fn first() -> KeyRing {
        KeyRing::first(kid("k1"), Secret::from_random([1; 32]))
    }

    fn code(ring: &KeyRing, command: &RotateWaitpointSecret) -> Code {
        rotate(ring, command, NOW).unwrap_err().code
    }

    #[test]
    fn the_new_key_signs_and_the_old_one_verifies_through_its_grace() {
        let message = Message::new(Purpose::Waitpoint, ["a"]);
        let old = first().sign(&message);
        let (ring, rotated) = rotate(&first(), &command("k2", 2), NOW).unwrap();
        let until = NOW + GRACE_DEFAULT;
        assert_eq!(rotated.status, RotationStatus::Rotated);
        assert_eq!(
            (rotated.current_kid, rotated.previous_kid),
            (kid("k2"), Some(kid("k1")))
        );
        assert_eq!(
            (rotated.previous_valid_until, rotated.removed_kids),
            (Some(until), vec![])
        );
        assert_eq!(ring.sign(&message).kid(), &kid("k2"));
        assert!(ring.verify(&message, &old, until - Duration::from_millis(1)));
        assert!(!ring.verify(&message, &old, until));
    }

    #[test]
    fn the_same_kid_and_secret_change_nothing() {
        let (ring, first_answer) = rotate(&first(), &command("k2", 2), NOW).unwrap();
        let (again, answer) = rotate(&ring, &command("k2", 2), NOW + MINUTE).unwrap();
        assert_eq!(again, ring);
        assert_eq!(
            answer,
            Rotated {
                status: RotationStatus::Unchanged,
                ..first_answer
            }
        );
    }

    #[test]
    fn the_same_kid_with_another_secret_is_a_conflict() {
        assert_eq!(code(&first(), &command("k1", 2)), Code::RotationConflict);
        let (ring, _) = rotate(&first(), &command("k2", 2), NOW).unwrap();
        assert_eq!(code(&ring, &command("k1", 3)), Code::RotationConflict);
    }

    #[test]
    fn a_retired_key_does_not_come_back_while_in_grace() {
        let (ring, _) = rotate(&first(), &command("k2", 2), NOW).unwrap();
        assert_eq!(code(&ring, &command("k1", 1)), Code::RotationConflict);
    }

    #[test]
    fn a_kid_is_free_again_after_its_grace() {
        let (ring, rotated) = rotate(&first(), &command("k2", 2), NOW).unwrap();
        let later = rotated.previous_valid_until.unwrap();
        let (ring, rotated) = rotate(&ring, &command("k1", 3), later).unwrap();
        assert_eq!(rotated.removed_kids, [kid("k1")]);
        assert_eq!(ring.current_kid(), &kid("k1"));
        assert!(ring.knows(&kid("k2"), later));
    }

    #[test]
    fn without_grace_the_outgoing_key_still_verifies_for_a_minute() {
        for grace in [Duration::ZERO, Duration::from_millis(1), MINUTE] {
            let command = RotateWaitpointSecret {
                grace,
                ..command("k2", 2)
            };
            let (_, rotated) = rotate(&first(), &command, NOW).unwrap();
            assert_eq!(rotated.previous_valid_until, Some(NOW + MINUTE));
        }
    }

    #[test]
    fn a_compromised_key_is_gone_at_once() {
        let compromised = RotateWaitpointSecret {
            compromised: true,
            ..command("k2", 2)
        };
        let (ring, rotated) = rotate(&first(), &compromised, NOW).unwrap();
        assert!(!ring.knows(&kid("k1"), NOW));
        assert!(!ring.keys.contains_key(&kid("k1")));
        assert_eq!(
            (rotated.previous_kid, rotated.previous_valid_until),
            (Some(kid("k1")), Some(NOW))
        );
        assert_eq!(rotated.removed_kids, [kid("k1")]);
    }

    #[test]
    fn a_compromised_secret_does_not_come_back_under_a_new_name() {
        let same_secret = RotateWaitpointSecret {
            compromised: true,
            ..command("k2", 1)
        };
        assert_eq!(code(&first(), &same_secret), Code::RotationConflict);
    }

    #[test]
    fn any_number_of_keys_is_in_grace_and_those_past_it_are_removed() {
        let short = RotateWaitpointSecret {
            grace: Duration::ZERO,
            ..command("k2", 2)
        };
        let (ring, _) = rotate(&first(), &short, NOW).unwrap();
        let (ring, rotated) = rotate(&ring, &command("k3", 3), NOW).unwrap();
        assert_eq!(rotated.removed_kids, []);
        assert!(["k1", "k2", "k3"].iter().all(|name| ring.knows(&kid(name), NOW)));
        let (ring, rotated) = rotate(&ring, &command("k4", 4), NOW + MINUTE).unwrap();
        assert_eq!(rotated.removed_kids, [kid("k1")]);
        assert_eq!(ring.keys.len(), 3);
    }

    #[test]
    fn grace_is_24_hours_when_none_is_named() {
        let json = format!(r#"{{"new_kid":"k2","new_secret_hex":"{}"}}"#, "02".repeat(32));
        let read: RotateWaitpointSecret = serde_json::from_str(&json).unwrap();
        assert_eq!(read, command("k2", 2));
        assert!(!format!("{read:?}").contains("0202"));
    }
}
