//! Keys of callers: create_key, list_keys, revoke_key.

use serde::{Deserialize, Serialize};

use crate::caller::Role;
use crate::name::{Identity, Namespace};
use crate::record::AccessKeyRecord;
use crate::time::Timestamp;
use crate::token::AccessKey;

/// Makes a key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CreateKey {
    /// Who will show it: histories, approvals and the audit name it so. It is taken until the key is revoked.
    pub name: Identity,
    /// What it allows.
    pub role: Role,
    /// The one namespace it reaches; absent: all of them.
    pub namespace: Option<Namespace>,
    /// From when on it is worth nothing; absent: until it is revoked.
    pub expires_at: Option<Timestamp>,
}

/// A key that is there now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CreatedKey {
    /// What became of the request.
    pub status: KeyStatus,
    /// The key. It is shown this once: what is stored only recognises it.
    pub key: AccessKey,
    /// What else is known of it.
    #[serde(rename = "..view")]
    pub view: KeyView,
}

/// What becomes of a request for a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum KeyStatus {
    /// It is new.
    Created,
}

/// What is known of a key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KeyView {
    /// Who shows it.
    pub name: Identity,
    /// What it allows.
    pub role: Role,
    /// The one namespace it reaches; absent: all of them.
    pub namespace: Option<Namespace>,
    /// When it was made.
    pub created_at: Timestamp,
    /// From when on it is worth nothing; absent: until it is revoked.
    pub expires_at: Option<Timestamp>,
    /// When it was last shown, to within a minute or so; absent: never.
    pub last_used_at: Option<Timestamp>,
}

impl KeyView {
    /// What is shown of a key that was last used then.
    pub fn of(key: AccessKeyRecord, last_used_at: Option<Timestamp>) -> Self {
        Self {
            name: key.name,
            role: key.role,
            namespace: key.namespace,
            created_at: key.created_at,
            expires_at: key.expires_at,
            last_used_at,
        }
    }
}

/// Makes a key worth nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RevokeKey {
    /// Whose.
    pub name: Identity,
}
