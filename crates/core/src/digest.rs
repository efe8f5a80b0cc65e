//! SHA-256 over a list of parts, where no two different lists look the same to the hash.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq;

use crate::hex;
use crate::id::LeaseId;

/// Writes every part after its length, so that moving a byte from one part to its neighbour changes what is written.
pub(crate) fn write_parts<P: AsRef<[u8]>>(parts: impl IntoIterator<Item = P>, mut write: impl FnMut(&[u8])) {
    for part in parts {
        let part = part.as_ref();
        write(&(part.len() as u64).to_be_bytes());
        write(part);
    }
}

/// A SHA-256 digest; stored as hex, compared in constant time.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of `parts`; digests of different `subject`s never meet.
    pub fn of<P: AsRef<[u8]>>(subject: &str, parts: impl IntoIterator<Item = P>) -> Self {
        let mut hasher = Sha256::new();
        write_parts([subject], |bytes| hasher.update(bytes));
        write_parts(parts, |bytes| hasher.update(bytes));
        Self(hasher.finalize().into())
    }

    /// All 32 bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// A UUID (v8) that follows from the digest, for ids that are derived instead of minted.
    pub fn uuid(&self) -> uuid::Uuid {
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&self.0[..16]);
        uuid::Builder::from_custom_bytes(bytes).into_uuid()
    }

    /// 8 hex digits, enough to tell things apart in a log.
    pub fn short(&self) -> String {
        hex::encode(&self.0[..4])
    }

    /// 16 hex digits, enough to name one of a few thousand things in a store.
    pub fn key(&self) -> String {
        hex::encode(&self.0[..8])
    }
}

impl PartialEq for Digest {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl Eq for Digest {}

impl TryFrom<String> for Digest {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let bytes = hex::decode(&text).and_then(|bytes| bytes.try_into().ok());
        bytes.map(Self).ok_or("a digest is 64 lower-case hex digits")
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> String {
        digest.to_string()
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(&self.0))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({})", self.short())
    }
}

/// Recognises the lease that ended last without keeping its secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LeaseDigest(Digest);

impl LeaseDigest {
    /// The digest of `lease`.
    pub fn of(lease: LeaseId) -> Self {
        Self(Digest::of("lease", [lease.expose().as_bytes()]))
    }

    /// Whether this is the digest of `lease`, decided in constant time.
    pub fn matches(&self, lease: LeaseId) -> bool {
        *self == Self::of(lease)
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn moving_a_byte_between_parts_changes_the_digest() {
        let digests = [
            Digest::of("t", ["ab", "c"]),
            Digest::of("t", ["a", "bc"]),
            Digest::of("t", ["abc", ""]),
            Digest::of("t", ["", "abc"]),
            Digest::of("t", ["abc"]),
            Digest::of("other", ["abc"]),
        ];
        for (index, digest) in digests.iter().enumerate() {
            assert!(!digests[index + 1..].contains(digest), "{index}");
        }
    }

    #[test]
    fn a_digest_is_stored_as_hex() {
        let digest = Digest::of("t", ["abc"]);
        let json = serde_json::to_string(&digest).unwrap();
        assert_eq!(json, format!("\"{digest}\""));
        assert_eq!(serde_json::from_str::<Digest>(&json).unwrap(), digest);
        assert!(serde_json::from_str::<Digest>("\"abcd\"").is_err());
        assert!(digest.to_string().starts_with(&digest.key()));
        assert!(digest.key().starts_with(&digest.short()));
    }

    #[test]
    fn a_lease_digest_knows_its_lease_and_no_other() {
        let lease = LeaseId::from_uuid(Uuid::from_u128(1));
        let digest = LeaseDigest::of(lease);
        assert!(digest.matches(lease));
        assert!(!digest.matches(LeaseId::from_uuid(Uuid::from_u128(2))));
    }
}
