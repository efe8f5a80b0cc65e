//! The key a caller shows to say who it is.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::opaque_text;
use crate::digest::Digest;

opaque_text!(
    /// Whoever has it is the caller it was made for.
    AccessKey
);

impl AccessKey {
    /// The key made of 256 random bits.
    pub fn from_random(bytes: [u8; 32]) -> Self {
        Self(format!("ff_{}", URL_SAFE_NO_PAD.encode(bytes)))
    }

    /// What is stored of it (SHA-256).
    pub fn digest(&self) -> Digest {
        Digest::of("access key", [&self.0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_prints_only_to_who_is_handed_it() {
        let key = AccessKey::from_random([0xab; 32]);
        assert!(
            key.expose().is_ascii() && key.expose().len() == 3 + 43,
            "{}",
            key.expose()
        );
        assert!(!format!("{key:?} {key}").contains(&key.expose()[3..]));
        assert_eq!(AccessKey::from_text(key.expose()).digest(), key.digest());
        assert_ne!(AccessKey::from_random([0xac; 32]).digest(), key.digest());
    }
}
