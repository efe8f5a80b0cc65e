//! Where a listing or an event stream goes on.

use super::envelope::{self, Label};
use super::opaque_text;
use crate::error::{Code, Rejection};
use crate::keyring::{KeyRing, Purpose};
use crate::name::Kid;
use crate::time::Timestamp;

opaque_text!(
    /// A position that only goes on in the query it came from.
    SignedCursor
);

impl SignedCursor {
    /// Signs `state` for `scope`, which names the namespace and the query.
    pub fn mint(ring: &KeyRing, scope: &str, state: &[u8]) -> Self {
        Self(envelope::close(ring, label(scope), state.to_vec()))
    }

    /// The state, if this cursor was minted for `scope` under a key still valid; else `invalid_cursor`.
    pub fn open(&self, ring: &KeyRing, scope: &str, now: Timestamp) -> Result<Vec<u8>, Rejection> {
        envelope::open(&self.0, ring, label(scope), now).ok_or_else(|| {
            Code::InvalidCursor.because("the cursor does not belong to this query, or is too old; start without one")
        })
    }

    /// The key it claims to be signed with.
    pub fn kid(&self) -> Option<Kid> {
        envelope::kid(&self.0)
    }
}

fn label(scope: &str) -> Label<'_> {
    let purpose = Purpose::Cursor;
    Label { purpose, scope }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keyring::Secret;

    const NOW: Timestamp = Timestamp::from_millis(1_000);

    fn ring() -> KeyRing {
        KeyRing::first(Kid::parse("ключ/1").unwrap(), Secret::from_random([1; 32]))
    }

    #[test]
    fn a_cursor_opens_in_the_scope_it_was_minted_for() {
        let cursor = SignedCursor::mint(&ring(), "default:abc", b"\x00\xff");
        assert_eq!(cursor.open(&ring(), "default:abc", NOW).unwrap(), b"\x00\xff");
        assert_eq!(cursor.kid(), Some(ring().current_kid().clone()));
        let refused = cursor.open(&ring(), "other:abc", NOW).unwrap_err();
        assert_eq!(refused.code, Code::InvalidCursor);
    }

    #[test]
    fn a_cursor_is_safe_in_a_url_whatever_the_kid_is() {
        let cursor = SignedCursor::mint(&ring(), "s", b"state");
        assert!(cursor.expose().bytes().all(|b| b.is_ascii_hexdigit() || b == b'.'));
    }

    #[test]
    fn what_a_cursor_says_is_for_us_alone() {
        for length in [1, 255 * 32, 255 * 32 + 1, 20_000] {
            let state = vec![7; length];
            let cursor = SignedCursor::mint(&ring(), "s", &state);
            assert_eq!(cursor.open(&ring(), "s", NOW).unwrap(), state);
            let shown = crate::hex::decode(cursor.expose().split('.').nth(1).unwrap()).unwrap();
            let equal = shown.iter().filter(|byte| **byte == 7).count();
            assert!(equal <= 1 + length / 64, "{equal} of {length} bytes are shown");
        }
    }

    #[test]
    fn anything_else_is_an_invalid_cursor() {
        let cursor = SignedCursor::mint(&ring(), "s", b"state").expose().to_owned();
        let flip = |digit: char| if digit == '0' { '1' } else { '0' };
        let at = cursor.find('.').unwrap() + 1;
        let flipped = flip(cursor[at..].chars().next().unwrap());
        let other_state = format!("{}{flipped}{}", &cursor[..at], &cursor[at + 1..]);
        let upper = cursor.to_uppercase();
        for bad in [
            "",
            ".",
            "..",
            "a.b.c",
            &other_state,
            &upper,
            &cursor[1..],
            &format!("{cursor}."),
        ] {
            let refused = SignedCursor::from_text(bad).open(&ring(), "s", NOW).unwrap_err();
            assert_eq!(refused.code, Code::InvalidCursor, "{bad}");
        }
    }
}
