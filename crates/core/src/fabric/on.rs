//! A command about a thing.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{DeserializeOwned, MapAccess, Visitor};
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::command::stream::AttemptRef;
use crate::id::{BudgetId, ExecutionId, FlowId, QuotaPolicyId};

/// A command about the thing with this id. It travels as one: the fields of the id and those of the command side by side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct On<I, C> {
    /// Which thing.
    pub id: I,
    /// What to do.
    pub command: C,
}

impl<I, C> On<I, C> {
    /// `command` about `id`.
    pub const fn new(id: I, command: C) -> Self {
        Self { id, command }
    }
}

/// Something a command can be about.
pub trait Target: Copy {
    /// The fields that name it.
    type Fields: Serialize + DeserializeOwned + From<Self> + Into<Self>;
}

impl Target for AttemptRef {
    type Fields = AttemptRef;
}

macro_rules! targets {
    ($($fields:ident { $name:ident: $id:ty })+) => {
        $(
            #[doc = concat!("The one field that names a thing: `", stringify!($name), "`.")]
            #[derive(Clone, Copy, Debug, Serialize, Deserialize)]
            #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
            pub struct $fields {
                $name: $id,
            }

            impl From<$id> for $fields {
                fn from($name: $id) -> Self {
                    Self { $name }
                }
            }

            impl From<$fields> for $id {
                fn from(fields: $fields) -> Self {
                    fields.$name
                }
            }

            impl Target for $id {
                type Fields = $fields;
            }
        )+
    };
}

targets! {
    OfExecution { execution_id: ExecutionId }
    OfFlow { flow_id: FlowId }
    OfBudget { budget_id: BudgetId }
    OfQuotaPolicy { quota_policy_id: QuotaPolicyId }
}

const ID: &str = "..id";
const COMMAND: &str = "..command";

impl<I: Target, C: Serialize> Serialize for On<I, C> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("On", 2)?;
        fields.serialize_field(ID, &I::Fields::from(self.id))?;
        fields.serialize_field(COMMAND, &self.command)?;
        fields.end()
    }
}

impl<'de, I: Target, C: Deserialize<'de>> Deserialize<'de> for On<I, C> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_struct("On", &[ID, COMMAND], OnVisitor(PhantomData))
    }
}

struct OnVisitor<I, C>(PhantomData<(I, C)>);

impl<'de, I: Target, C: Deserialize<'de>> Visitor<'de> for OnVisitor<I, C> {
    type Value = On<I, C>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an id and a command")
    }

    /// Both stand between the fields around them, so they come in the order in which they were asked for.
    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<On<I, C>, A::Error> {
        fields.next_key::<&str>()?;
        let id: I::Fields = fields.next_value()?;
        fields.next_key::<&str>()?;
        let command = fields.next_value()?;
        Ok(On { id: id.into(), command })
    }
}
