//! Identifiers. Ids are newtypes, so that a flow cannot be asked for by an edge.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::error::{Code, Rejection};
use crate::partition::Partition;

/// Declares an id that is a UUID and nothing more.
macro_rules! uuid_id {
    ($(#[$doc:meta])* $name:ident, $noun:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(transparent)]
        pub struct $name(Uuid);

        impl $name {
            /// Wraps a UUID.
            pub const fn from_uuid(uuid: Uuid) -> Self {
                Self(uuid)
            }

            /// The UUID inside.
            pub const fn uuid(self) -> Uuid {
                self.0
            }
        }

        impl FromStr for $name {
            type Err = Rejection;

            fn from_str(text: &str) -> Result<Self, Rejection> {
                parse_uuid(text, $noun).map(Self)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }
    };
}

uuid_id!(
    /// Names a flow.
    FlowId, "flow id"
);
uuid_id!(
    /// Names a dependency between two members of a flow.
    EdgeId, "edge id"
);
uuid_id!(
    /// Names one run of an execution.
    AttemptId, "attempt id"
);
uuid_id!(
    /// Names one suspension of an execution.
    SuspensionId, "suspension id"
);
uuid_id!(
    /// Names a place a signal can be delivered to.
    WaitpointId, "waitpoint id"
);
uuid_id!(
    /// Names a delivered signal.
    SignalId, "signal id"
);
uuid_id!(
    /// Names a budget.
    BudgetId, "budget id"
);
uuid_id!(
    /// Names a quota policy.
    QuotaPolicyId, "quota policy id"
);
uuid_id!(
    /// Names a grant, and the quota slot of the lease that comes of it.
    GrantId, "grant id"
);
uuid_id!(
    /// Names an effect on another partition, so that its receiver can tell a repetition.
    EffectId, "effect id"
);

/// The secret of a lease: whoever knows it may act as the lease holder.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct LeaseId(Uuid);

impl LeaseId {
    /// Wraps a random (v4) UUID.
    pub const fn from_uuid(uuid: Uuid) -> Self {
        Self(uuid)
    }

    /// The secret itself, for the worker it belongs to and for the store.
    pub const fn expose(self) -> Uuid {
        self.0
    }
}

impl FromStr for LeaseId {
    type Err = Rejection;

    fn from_str(text: &str) -> Result<Self, Rejection> {
        // The refusal must not repeat what may be the secret in another spelling.
        let refusal = |_| Code::InvalidId.because("lease id must be a lower-case hyphenated UUID");
        parse_uuid(text, "lease id").map(Self).map_err(refusal)
    }
}

impl fmt::Debug for LeaseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LeaseId(redacted)")
    }
}

/// Names an execution and the partition it lives in: `{fp:N}:<uuid>`. It may be given as `fp:N:<uuid>`, which needs no quoting in
/// a path or a shell; what is told is always the one form.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(transform = crate::schema::text::execution_id)
)]
#[serde(try_from = "String", into = "String")]
pub struct ExecutionId {
    uuid: Uuid,
    partition: u16,
}

impl ExecutionId {
    /// The execution `uuid` of flow partition `partition`.
    pub const fn new(partition: u16, uuid: Uuid) -> Self {
        Self { uuid, partition }
    }

    /// The UUID part.
    pub const fn uuid(self) -> Uuid {
        self.uuid
    }

    /// The partition that holds the execution.
    pub const fn partition(self) -> Partition {
        Partition::flow(self.partition)
    }
}

impl FromStr for ExecutionId {
    type Err = Rejection;

    fn from_str(text: &str) -> Result<Self, Rejection> {
        let invalid = || Code::InvalidId.because(format!("execution id must look like {{fp:N}}:<uuid>, got {text:?}"));
        let canonical = || text.strip_prefix("{fp:")?.split_once("}:");
        let unquoted = || text.strip_prefix("fp:")?.split_once(':');
        let (index, uuid) = canonical().or_else(unquoted).ok_or_else(invalid)?;
        // One spelling of each part: no sign, no leading zero, no braces or upper case in the uuid.
        let partition = index.parse::<u16>().map_err(|_| invalid())?;
        if partition.to_string() != index {
            return Err(invalid());
        }
        let uuid = parse_uuid(uuid, "execution id").map_err(|_| invalid())?;
        Ok(Self::new(partition, uuid))
    }
}

impl TryFrom<String> for ExecutionId {
    type Error = Rejection;

    fn try_from(text: String) -> Result<Self, Rejection> {
        text.parse()
    }
}

impl From<ExecutionId> for String {
    fn from(id: ExecutionId) -> String {
        id.to_string()
    }
}

impl fmt::Display for ExecutionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{fp:{}}}:{}", self.partition, self.uuid)
    }
}

impl fmt::Debug for ExecutionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ExecutionId({self})")
    }
}

fn parse_uuid(text: &str, noun: &str) -> Result<Uuid, Rejection> {
    let uuid = Uuid::try_parse(text).ok().filter(|uuid| uuid.to_string() == text);
    uuid.ok_or_else(|| Code::InvalidId.because(format!("{noun} must be a lower-case hyphenated UUID, got {text:?}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const UUID: &str = "0190c5d4-7a6b-7c3d-8e9f-a0b1c2d3e4f5";

    #[test]
    fn an_execution_id_prints_as_it_is_parsed() {
        let text = format!("{{fp:17}}:{UUID}");
        let id: ExecutionId = text.parse().unwrap();
        assert_eq!(id.to_string(), text);
        assert_eq!(id.partition(), Partition::flow(17));
    }

    #[test]
    fn an_execution_id_may_be_given_without_braces() {
        let id: ExecutionId = format!("fp:17:{UUID}").parse().unwrap();
        assert_eq!(id.to_string(), format!("{{fp:17}}:{UUID}"));
    }

    #[test]
    fn an_execution_id_has_no_other_spelling() {
        let upper = UUID.to_uppercase();
        for bad in [
            UUID.to_owned(),
            format!("{{fp:}}:{UUID}"),
            format!("{{fp:-1}}:{UUID}"),
            format!("{{fp:+1}}:{UUID}"),
            format!("{{fp:01}}:{UUID}"),
            format!("{{fp:65536}}:{UUID}"),
            format!("{{b:1}}:{UUID}"),
            format!("fp:01:{UUID}"),
            format!("fp:1}}:{UUID}"),
            format!("{{fp:1:{UUID}"),
            format!("fp:{UUID}"),
            format!("{{fp:1}}:{upper}"),
            format!("{{fp:1}}:{{{UUID}}}"),
            format!("{{fp:1}}:{UUID} "),
            "{fp:1}:".to_owned(),
        ] {
            assert_eq!(bad.parse::<ExecutionId>().unwrap_err().code, Code::InvalidId, "{bad}");
        }
    }

    #[test]
    fn a_lease_id_never_prints_itself() {
        let lease: LeaseId = UUID.parse().unwrap();
        assert!(!format!("{lease:?}").contains("0190"));
    }
}
