//! Looking for something by what a person has of it: an id, a piece of one, or the beginning of a name.

mod piece;

use serde::{Deserialize, Serialize};

use crate::name::Namespace;

pub use self::piece::Piece;

/// Looks for something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Find {
    /// The tenant; unless given that of the key, or else `default`.
    #[serde(default = "Namespace::default_namespace")]
    pub namespace: Namespace,
    /// A whole id; the beginning of one, 10 digits or more; the last 8 digits of one; or the beginning of a name. Up to 256 bytes.
    pub q: String,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Found {
    /// Up to 10: by id first, then by name.
    pub items: Vec<Hit>,
    /// There may be more: not all there is was looked at, or there was no room for it.
    #[serde(default, skip_serializing_if = "crate::record::is_default")]
    pub at_least: bool,
}

/// Something that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Hit {
    /// What it is.
    #[serde(rename = "type")]
    pub found: FoundType,
    /// As its own routes name it.
    pub id: String,
    /// For a person: its kind, or its name.
    pub label: String,
    /// Where it stands, of an execution or a flow.
    pub state: Option<String>,
}

/// What can be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FoundType {
    /// An execution.
    Execution,
    /// A flow.
    Flow,
    /// A budget.
    Budget,
    /// A quota policy.
    Quota,
    /// A lane.
    Lane,
    /// A kind of executions.
    Kind,
    /// A worker process.
    Worker,
}

/// Asks for names to choose from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListNames {
    /// The tenant; unless given that of the key, or else `default`.
    #[serde(default = "Namespace::default_namespace")]
    pub namespace: Namespace,
    /// Names of what.
    pub of: NamesOf,
    /// How they begin; absent: in any way.
    #[serde(default)]
    pub prefix: String,
}

/// What has names to choose from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum NamesOf {
    /// Kinds of executions that this server saw begin or end, or showed.
    Kind,
    /// Lanes.
    Lane,
    /// Categories of failures that this server saw or showed.
    Category,
}

/// Names to choose from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Names {
    /// Up to 100 of them, sorted.
    pub items: Vec<String>,
}
