//! The secret of a signing key.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize, Serializer};
use subtle::ConstantTimeEq;

use crate::error::{Code, Rejection};
use crate::hex;

/// The shortest secret: as long as what it signs with.
const SECRET_BYTES_MIN: usize = 32;

/// At least 32 secret bytes: never printed, compared in constant time, serialized (as hex) only to be stored.
#[derive(Clone, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(try_from = "String")]
pub struct Secret(Arc<[u8]>);

impl Secret {
    /// Wraps fresh random bytes.
    pub fn from_random(bytes: [u8; SECRET_BYTES_MIN]) -> Self {
        Self(bytes.into())
    }

    /// Reads a secret as an operator writes it: at least 64 hex digits of either case.
    pub fn parse_hex(text: &str) -> Result<Self, Rejection> {
        let bytes = hex::decode(&text.to_ascii_lowercase()).filter(|bytes| bytes.len() >= SECRET_BYTES_MIN);
        let bytes = bytes.ok_or_else(|| {
            Code::InvalidSecretHex.because(format!(
                "a secret is an even number of hex digits, {SECRET_BYTES_MIN} bytes or more"
            ))
        })?;
        Ok(Self(bytes.into()))
    }

    pub(super) fn expose(&self) -> &[u8] {
        &self.0
    }
}

impl PartialEq for Secret {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl Eq for Secret {}

impl TryFrom<String> for Secret {
    type Error = Rejection;

    fn try_from(text: String) -> Result<Self, Rejection> {
        Self::parse_hex(&text)
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&hex::encode(&self.0))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(redacted)")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("redacted")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_has_at_least_32_bytes_of_hex() {
        assert!(Secret::parse_hex(&"ab".repeat(32)).is_ok());
        assert!(Secret::parse_hex(&"AB".repeat(64)).is_ok());
        for bad in [String::new(), "ab".repeat(31), "a".repeat(65), "zz".repeat(32)] {
            assert_eq!(
                Secret::parse_hex(&bad).unwrap_err().code,
                Code::InvalidSecretHex,
                "{bad:?}"
            );
        }
    }

    #[test]
    fn a_refused_secret_is_not_repeated_in_the_message() {
        let refused = Secret::parse_hex("deadbeef").unwrap_err();
        assert!(!refused.to_string().contains("deadbeef"));
    }

    #[test]
    fn a_secret_is_stored_as_hex_and_never_printed() {
        let secret = Secret::from_random([0xab; 32]);
        assert!(!format!("{secret:?} {secret}").contains("ab"));
        let json = serde_json::to_string(&secret).unwrap();
        assert_eq!(json, format!("\"{}\"", "ab".repeat(32)));
        assert_eq!(serde_json::from_str::<Secret>(&json).unwrap(), secret);
    }
}
