//! Questions that are kept under a name, in the settings of the store.

use serde::{Deserialize, Serialize};

use super::Carried;
use crate::name::{Identity, Namespace, ViewName};
use crate::time::Timestamp;

/// A question somebody keeps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SavedView {
    /// The tenant.
    pub namespace: Namespace,
    /// Under which name it is kept.
    pub name: ViewName,
    /// What it is called.
    pub title: String,
    /// What it asks, as the query of a page.
    pub query: String,
    /// Whether everybody sees it, or its owner only.
    pub shared: bool,
    /// Who made it; absent: somebody whom no key named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<Identity>,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// What a later format holds besides.
    #[serde(skip)]
    pub carried: Carried,
}
