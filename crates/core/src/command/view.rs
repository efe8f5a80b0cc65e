//! Views: list_views, put_view, delete_view.

use serde::{Deserialize, Serialize};

use crate::name::{Namespace, ViewName};

/// Asks for the views of a namespace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListViews {
    /// The tenant; unless given that of the key, or else `default`.
    #[serde(default = "Namespace::default_namespace")]
    pub namespace: Namespace,
}

/// Keeps a question under a name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PutView {
    /// The tenant; unless given that of the key, or else `default`.
    #[serde(default = "Namespace::default_namespace")]
    pub namespace: Namespace,
    /// Under which name.
    pub name: ViewName,
    /// What it is called, 1 to 256 bytes.
    pub title: String,
    /// What it asks, as the query of a page: up to 4 KiB.
    pub query: String,
    /// Whether everybody sees it; it takes an operator to share one.
    #[serde(default)]
    pub shared: bool,
}

/// Forgets a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeleteView {
    /// The tenant; unless given that of the key, or else `default`.
    #[serde(default = "Namespace::default_namespace")]
    pub namespace: Namespace,
    /// Under which name it is kept.
    pub name: ViewName,
}
