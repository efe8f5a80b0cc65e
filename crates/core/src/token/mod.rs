//! What the engine hands out and takes back: waitpoint tokens, grants, cursors and tickets of browsers, which it signs, and keys of
//! callers.
//!
//! All of them are opaque texts until they are opened, and reading one never fails: a malformed text is refused by the
//! check that would refuse a forged one, with the same answer.

mod access_key;
mod callback;
mod cursor;
mod envelope;
mod grant;
mod sign_in;
mod waitpoint;

pub use access_key::AccessKey;
pub use callback::{Callback, CallbackPath};
pub use cursor::SignedCursor;
pub use grant::{GrantClaims, GrantHolder, GrantRefusal, SignedGrant};
pub use sign_in::{SignInTicket, SignedIn};
pub use waitpoint::{WaitpointClaims, WaitpointToken};

/// Declares a text that is handed out and taken back, and never printed.
macro_rules! opaque_text {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Wraps what a caller sent, whatever it is.
            pub fn from_text(text: impl Into<String>) -> Self {
                Self(text.into())
            }

            /// The text itself, for the one it is handed to.
            pub fn expose(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(concat!(stringify!($name), "(redacted)"))
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("redacted")
            }
        }
    };
}
use opaque_text;
