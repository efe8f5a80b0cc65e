//! How [`Finish`] travels: `op` names the operation, and its own fields stand beside it.

use std::fmt;

use serde::de::{DeserializeSeed, MapAccess, Visitor};
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::claim::Finish;
use crate::record::LeaseOperation;

const OP: &str = "op";
const COMMAND: &str = "..command";

impl Serialize for Finish {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        fn write<S: Serializer, C: Serialize>(
            serializer: S,
            op: LeaseOperation,
            command: &C,
        ) -> Result<S::Ok, S::Error> {
            let mut fields = serializer.serialize_struct("Finish", 2)?;
            fields.serialize_field(OP, &op)?;
            fields.serialize_field(COMMAND, command)?;
            fields.end()
        }
        match self {
            Finish::Complete(command) => write(serializer, LeaseOperation::Complete, command),
            Finish::Fail(command) => write(serializer, LeaseOperation::Fail, command),
            Finish::Release(command) => write(serializer, LeaseOperation::Release, command),
            Finish::Delay(command) => write(serializer, LeaseOperation::Delay, command),
            Finish::WaitChildren(command) => write(serializer, LeaseOperation::WaitChildren, command),
            Finish::Suspend(command) => write(serializer, LeaseOperation::Suspend, command),
        }
    }
}

impl<'de> Deserialize<'de> for Finish {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_struct("Finish", &[OP, COMMAND], FinishVisitor)
    }
}

struct FinishVisitor;

impl<'de> Visitor<'de> for FinishVisitor {
    type Value = Finish;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("op and its fields")
    }

    /// The fields come in the order in which they were asked for; `op` is left out when it was not given.
    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Finish, A::Error> {
        let first: Option<&str> = fields.next_key()?;
        if first != Some(OP) {
            return Err(serde::de::Error::missing_field(OP));
        }
        let op = fields.next_value()?;
        fields.next_key::<&str>()?;
        fields.next_value_seed(Fields(op))
    }
}

/// Reads the fields of this operation.
struct Fields(LeaseOperation);

impl<'de> DeserializeSeed<'de> for Fields {
    type Value = Finish;

    fn deserialize<D: Deserializer<'de>>(self, fields: D) -> Result<Finish, D::Error> {
        Ok(match self.0 {
            LeaseOperation::Complete => Finish::Complete(Deserialize::deserialize(fields)?),
            LeaseOperation::Fail => Finish::Fail(Deserialize::deserialize(fields)?),
            LeaseOperation::Release => Finish::Release(Deserialize::deserialize(fields)?),
            LeaseOperation::Delay => Finish::Delay(Deserialize::deserialize(fields)?),
            LeaseOperation::WaitChildren => Finish::WaitChildren(Deserialize::deserialize(fields)?),
            LeaseOperation::Suspend => Finish::Suspend(Deserialize::deserialize(fields)?),
            LeaseOperation::Cancel => return Err(serde::de::Error::custom("a task is not cancelled by an exchange")),
        })
    }
}
