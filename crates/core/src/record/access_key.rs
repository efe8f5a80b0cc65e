//! Keys of callers, kept in the settings of the store.

use serde::{Deserialize, Serialize};

use super::Carried;
use crate::caller::Role;
use crate::digest::Digest;
use crate::name::{Identity, Namespace};
use crate::time::Timestamp;

/// What is known of a key. The key itself is known to whoever it was made for only.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AccessKeyRecord {
    /// Who shows it.
    pub name: Identity,
    /// Recognises it.
    pub digest: Digest,
    /// What it allows.
    pub role: Role,
    /// The one namespace it reaches; absent: all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<Namespace>,
    /// When it was made.
    pub created_at: Timestamp,
    /// From when on it is worth nothing; absent: until it is revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// What a later format holds besides.
    #[serde(skip)]
    pub carried: Carried,
}
