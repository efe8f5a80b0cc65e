//! A message authentication code with the id of the key that made it.

use std::fmt;

use hkdf::Hkdf;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use subtle::ConstantTimeEq;

use super::secret::Secret;
use crate::digest::write_parts;
use crate::hex;
use crate::name::Kid;

/// What covers of sealed bytes are made from.
const COVER_INFO: &[u8] = b"flowfabric cover v1";
/// Bytes that HKDF-SHA256 makes at once.
const COVER_BLOCK: usize = 255 * 32;

/// What a seal is for; each purpose has a key of its own, so a seal for one is worth nothing for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Waitpoint tokens.
    Waitpoint,
    /// Claim and reclaim grants.
    Grant,
    /// Cursors of listings and events.
    Cursor,
    /// Tickets of browsers that have signed in.
    SignIn,
}

impl Purpose {
    const fn info(self) -> &'static [u8] {
        match self {
            Purpose::Waitpoint => b"flowfabric waitpoint v1",
            Purpose::Grant => b"flowfabric grant v1",
            Purpose::Cursor => b"flowfabric cursor v1",
            Purpose::SignIn => b"flowfabric sign-in v1",
        }
    }
}

/// What a seal vouches for: a list of parts, for one purpose.
pub struct Message {
    purpose: Purpose,
    bytes: Vec<u8>,
}

impl Message {
    /// A message of `parts`; no two different lists make the same message.
    pub fn new<P: AsRef<[u8]>>(purpose: Purpose, parts: impl IntoIterator<Item = P>) -> Self {
        let mut bytes = Vec::new();
        write_parts(parts, |part| bytes.extend_from_slice(part));
        Self { purpose, bytes }
    }

    pub(super) fn mac(&self, secret: &Secret) -> [u8; 32] {
        let mut subkey = [0; 32];
        Hkdf::<Sha256>::new(None, secret.expose())
            .expand(self.purpose.info(), &mut subkey)
            .expect("HKDF-SHA256 expands to 32 bytes");
        let mut hmac = Hmac::<Sha256>::new_from_slice(&subkey).expect("HMAC takes keys of any length");
        hmac.update(&self.bytes);
        hmac.finalize().into_bytes().into()
    }
}

/// HMAC-SHA256 of a message under the key `kid`.
#[derive(Clone)]
pub struct Seal {
    kid: Kid,
    mac: [u8; 32],
}

impl Seal {
    pub(super) fn new(kid: Kid, mac: [u8; 32]) -> Self {
        Self { kid, mac }
    }

    /// A seal from its two texts; `None` when they are not what a seal prints.
    pub fn from_text(kid: &str, mac_hex: &str) -> Option<Self> {
        let kid = Kid::parse(kid).ok()?;
        let mac = hex::decode(mac_hex)?.try_into().ok()?;
        Some(Self { kid, mac })
    }

    /// The key that made it.
    pub fn kid(&self) -> &Kid {
        &self.kid
    }

    /// The code as 64 hex digits, for whoever may hold the sealed thing.
    pub fn expose_mac_hex(&self) -> String {
        hex::encode(&self.mac)
    }

    /// Covers the bytes this seal vouches for, or uncovers them. They are mixed with bytes that only who has the key can make, and
    /// that are others for every seal: the code over the plain bytes is the nonce.
    pub(super) fn cover(&self, secret: &Secret, bytes: &mut [u8]) {
        let hkdf = Hkdf::<Sha256>::new(None, secret.expose());
        for (block, number) in bytes.chunks_mut(COVER_BLOCK).zip(0_u64..) {
            let mut mask = vec![0; block.len()];
            hkdf.expand_multi_info(&[COVER_INFO, &self.mac, &number.to_be_bytes()], &mut mask)
                .expect("HKDF-SHA256 expands to a block");
            for (byte, mask) in block.iter_mut().zip(mask) {
                *byte ^= mask;
            }
        }
    }

    pub(super) fn has_mac(&self, mac: &[u8; 32]) -> bool {
        self.mac.ct_eq(mac).into()
    }
}

impl fmt::Debug for Seal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Seal({}, redacted)", self.kid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mac_is_hmac_sha256_under_an_hkdf_sha256_subkey() {
        let secret = Secret::from_random([7; 32]);
        let mac = Message::new(Purpose::Waitpoint, ["hello", "world"]).mac(&secret);
        assert_eq!(
            hex::encode(&mac),
            "87fba4497fbb48034569ad09a16daed4cf27c2fbda20163c72a209e011c8530a"
        );
    }

    #[test]
    fn each_purpose_and_each_split_into_parts_has_its_own_mac() {
        let secret = Secret::from_random([7; 32]);
        let messages = [
            Message::new(Purpose::Waitpoint, ["ab", "c"]),
            Message::new(Purpose::Waitpoint, ["a", "bc"]),
            Message::new(Purpose::Waitpoint, ["abc"]),
            Message::new(Purpose::Grant, ["ab", "c"]),
            Message::new(Purpose::Cursor, ["ab", "c"]),
            Message::new(Purpose::SignIn, ["ab", "c"]),
        ];
        let macs: std::collections::BTreeSet<_> = messages.iter().map(|message| message.mac(&secret)).collect();
        assert_eq!(macs.len(), messages.len());
    }

    #[test]
    fn a_seal_is_read_from_exactly_what_it_prints() {
        let mac = "0f".repeat(32);
        let seal = Seal::from_text("k1", &mac).unwrap();
        assert_eq!((seal.kid().as_str(), seal.expose_mac_hex()), ("k1", mac.clone()));
        assert!(!format!("{seal:?}").contains("0f0f"));
        for (kid, mac) in [
            ("", mac.as_str()),
            ("a:b", &mac),
            ("k1", &mac[2..]),
            ("k1", &mac.to_uppercase()),
            ("k1", ""),
        ] {
            assert!(Seal::from_text(kid, mac).is_none());
        }
    }
}
