//! Validated names: a value of one of these types can be stored, compared and printed as it is.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::error::{Code, Rejection};

/// The longest name that is not a lane.
pub const NAME_BYTES_MAX: usize = 256;
/// The longest key of a step.
pub const STEP_KEY_BYTES_MAX: usize = 240;
/// The longest lane name.
pub const LANE_BYTES_MAX: usize = 64;
/// The longest failure category.
pub const CATEGORY_BYTES_MAX: usize = 64;

/// Declares a newtype over a shared string whose every value passed `$check`.
macro_rules! name {
    ($(#[$doc:meta])* $name:ident, $noun:literal, $check:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        #[cfg_attr(
            feature = "schema",
            derive(schemars::JsonSchema),
            schemars(transform = crate::schema::text::$check)
        )]
        pub struct $name(Arc<str>);

        impl $name {
            /// Checks `text` against the limits of this kind of name.
            pub fn parse(text: impl AsRef<str>) -> Result<Self, Rejection> {
                let text = text.as_ref();
                $check($noun, text)?;
                Ok(Self(text.into()))
            }

            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = Rejection;

            fn try_from(text: String) -> Result<Self, Rejection> {
                Self::parse(text)
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> String {
                name.as_str().to_owned()
            }
        }

        impl std::str::FromStr for $name {
            type Err = Rejection;

            fn from_str(text: &str) -> Result<Self, Rejection> {
                Self::parse(text)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, f)
            }
        }
    };
}

name!(
    /// A tenant: part of every queue, key, listing and credential scope.
    Namespace, "namespace", check_name
);
name!(
    /// A named queue inside a namespace.
    LaneId, "lane", check_lane
);
name!(
    /// The name a view is kept under.
    ViewName, "view", check_lane
);
name!(
    /// What kind of work an execution is; workers register handlers by it.
    ExecutionKind, "execution kind", check_name
);
name!(
    /// What kind of graph a flow is.
    FlowKind, "flow kind", check_name
);
name!(
    /// A logical worker.
    WorkerId, "worker", check_name
);
name!(
    /// One process slot of a worker.
    WorkerInstanceId, "worker instance", check_name
);
name!(
    /// Who did something, as far as the caller's credential tells.
    Identity, "identity", check_name
);
name!(
    /// A key under which repeated calls are recognised as one.
    IdempotencyKey, "idempotency key", check_name
);
name!(
    /// The caller's name for one request whose repetition must not act twice.
    RequestId, "request id", check_name
);
name!(
    /// The worker's own name for a waitpoint inside its suspension.
    WaitpointKey, "waitpoint key", check_name
);
name!(
    /// The worker's own name for a step of its execution.
    StepKey, "step key", check_step_key
);
name!(
    /// The name of a signal, which a resume condition may ask for.
    SignalName, "signal name", check_name
);
name!(
    /// A counter of a budget: tokens, cents, requests.
    Dimension, "dimension", check_name
);
name!(
    /// The name under which an upstream's result is handed to its downstream.
    DataRef, "data passing ref", check_name
);
name!(
    /// What kind of frame a worker emitted.
    FrameType, "frame type", check_name
);
name!(
    /// The id of a signing key.
    Kid, "kid", check_kid
);
name!(
    /// Why an attempt failed, as a class that the retry policy can name.
    Category, "category", check_category
);

name!(
    /// What a payload's bytes mean to their sender and receiver; the engine never looks inside.
    ContentType, "content type", check_content_type
);

impl FlowKind {
    /// `_spawned`: the flow of an execution that had none when it spawned others.
    pub fn spawned() -> Self {
        Self("_spawned".into())
    }
}

impl ContentType {
    /// `application/octet-stream`: bytes nobody described.
    pub fn binary() -> Self {
        Self("application/octet-stream".into())
    }

    /// `application/json`.
    pub fn json() -> Self {
        Self("application/json".into())
    }
}

impl Default for ContentType {
    fn default() -> Self {
        Self::binary()
    }
}

impl Namespace {
    /// The namespace used when none is named.
    pub fn default_namespace() -> Self {
        Self("default".into())
    }
}

impl LaneId {
    /// The lane used when none is named.
    pub fn default_lane() -> Self {
        Self("default".into())
    }
}

impl SignalName {
    /// Sent by the engine when a suspension resumes at its timeout.
    pub fn timeout() -> Self {
        Self("timeout".into())
    }

    /// A person's yes.
    pub fn approved() -> Self {
        Self("approved".into())
    }

    /// A person's no.
    pub fn rejected() -> Self {
        Self("rejected".into())
    }
}

impl Identity {
    /// The engine itself.
    pub fn engine() -> Self {
        Self("engine".into())
    }

    /// Somebody without a credential.
    pub fn anonymous() -> Self {
        Self("anonymous".into())
    }
}

impl Category {
    /// The failure of an attempt that ran too long.
    pub fn timeout() -> Self {
        Self("timeout".into())
    }

    /// The failure of an execution that kept losing its workers.
    pub fn infra_crash() -> Self {
        Self("infra_crash".into())
    }

    /// A failure that no retry will mend.
    pub fn permanent() -> Self {
        Self("permanent".into())
    }

    /// Whether a retry policy without a list retries this category.
    pub fn is_retryable_by_default(&self) -> bool {
        !matches!(self.as_str(), "permanent" | "cancelled" | "budget")
    }
}

fn check_length(noun: &str, text: &str, max: usize) -> Result<(), Rejection> {
    if text.is_empty() {
        return Err(Code::InvalidInput.because(format!("{noun} is empty")));
    }
    if text.len() > max {
        let length = text.len();
        return Err(Code::InvalidInput.because(format!("{noun} has {length} bytes, more than {max}")));
    }
    Ok(())
}

fn check_name(noun: &str, text: &str) -> Result<(), Rejection> {
    check_length(noun, text, NAME_BYTES_MAX)?;
    if text.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Err(Code::InvalidInput.because(format!("{noun} contains a control character or whitespace")));
    }
    Ok(())
}

fn check_step_key(noun: &str, text: &str) -> Result<(), Rejection> {
    check_length(noun, text, STEP_KEY_BYTES_MAX)?;
    check_name(noun, text)
}

fn check_lane(noun: &str, text: &str) -> Result<(), Rejection> {
    check_length(noun, text, LANE_BYTES_MAX)?;
    if !text.bytes().all(|b| b.is_ascii_graphic()) {
        return Err(Code::InvalidInput.because(format!("{noun} contains a byte that is not printable ASCII")));
    }
    Ok(())
}

fn check_kid(noun: &str, text: &str) -> Result<(), Rejection> {
    let check = check_name(noun, text);
    if check.is_err() || text.contains(':') {
        return Err(Code::InvalidKid.because("kid must be 1-256 bytes without ':', whitespace or control characters"));
    }
    Ok(())
}

fn check_category(noun: &str, text: &str) -> Result<(), Rejection> {
    check_length(noun, text, CATEGORY_BYTES_MAX)?;
    if !text
        .bytes()
        .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
    {
        return Err(Code::InvalidInput.because(format!("{noun} may contain only a-z, 0-9 and _")));
    }
    Ok(())
}

fn check_content_type(noun: &str, text: &str) -> Result<(), Rejection> {
    check_length(noun, text, NAME_BYTES_MAX)?;
    let printable = text.bytes().all(|b| b.is_ascii_graphic() || b == b' ');
    if !printable || !text.contains('/') {
        return Err(Code::InvalidInput.because(format!("{noun} must look like type/subtype")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_are_short_printable_ascii() {
        assert!(LaneId::parse("gpu/a100").is_ok());
        assert!(LaneId::parse("x".repeat(64)).is_ok());
        for bad in ["", "two words", "tab\t", "é", &"x".repeat(65)] {
            assert_eq!(LaneId::parse(bad).unwrap_err().code, Code::InvalidInput, "{bad:?}");
        }
    }

    #[test]
    fn names_take_letters_of_any_script_but_no_whitespace() {
        assert!(Namespace::parse("größe").is_ok());
        for bad in ["", "a b", "a\u{7f}", "a\u{2003}b", &"x".repeat(257)] {
            assert!(Namespace::parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_kid_has_its_own_code() {
        assert_eq!(Kid::parse("a:b").unwrap_err().code, Code::InvalidKid);
        assert_eq!(Kid::parse("").unwrap_err().code, Code::InvalidKid);
    }

    #[test]
    fn deserializing_checks_too() {
        assert!(serde_json::from_str::<LaneId>("\"a b\"").is_err());
        assert!(serde_json::from_str::<Category>("\"Bad\"").is_err());
    }
}
