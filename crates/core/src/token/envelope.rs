//! Signed bytes as one text: `<kid>.<payload>.<mac>`, each in hex, so that it travels in URLs and headers as it is. Whoever holds
//! it cannot read the payload: a position in the feeds would tell a tenant how much happens to the others.

use crate::hex;
use crate::keyring::{KeyRing, Message, Purpose, Seal};
use crate::name::Kid;
use crate::time::Timestamp;

/// Changes when what is signed changes its meaning.
const VERSION: &str = "1";

/// What an envelope must have been made for to be opened.
#[derive(Clone, Copy)]
pub(super) struct Label<'a> {
    pub(super) purpose: Purpose,
    pub(super) scope: &'a str,
}

impl Label<'_> {
    fn message(&self, payload: &[u8]) -> Message {
        Message::new(self.purpose, [VERSION.as_bytes(), self.scope.as_bytes(), payload])
    }
}

/// `payload`, signed together with its label and covered.
pub(super) fn close(ring: &KeyRing, label: Label<'_>, mut payload: Vec<u8>) -> String {
    let seal = ring.sign(&label.message(&payload));
    ring.cover(&seal, &mut payload);
    let (kid, payload) = (hex::encode(seal.kid().as_str().as_bytes()), hex::encode(&payload));
    format!("{kid}.{payload}.{}", seal.expose_mac_hex())
}

/// The payload, if `text` is an envelope that was closed under this label by a key valid at `now`.
pub(super) fn open(text: &str, ring: &KeyRing, label: Label<'_>, now: Timestamp) -> Option<Vec<u8>> {
    let (mut payload, seal) = parse(text)?;
    let is_ours = ring.cover(&seal, &mut payload) && ring.verify(&label.message(&payload), &seal, now);
    is_ours.then_some(payload)
}

/// The key an envelope claims to be signed with.
pub(super) fn kid(text: &str) -> Option<Kid> {
    parse(text).map(|(_, seal)| seal.kid().clone())
}

fn parse(text: &str) -> Option<(Vec<u8>, Seal)> {
    let (kid, rest) = text.split_once('.')?;
    let (payload, mac) = rest.split_once('.')?;
    let kid = String::from_utf8(hex::decode(kid)?).ok()?;
    Some((hex::decode(payload)?, Seal::from_text(&kid, mac)?))
}
