//! How what the contract names is written down: one form for every store, wherever a store has no better one of its own.
//!
//! | file | what |
//! |---|---|
//! | `key` | records and histories by name |
//! | `counter` | which record a counter belongs to, and what it is called there |
//! | `state` | states as words |
//! | `record`, `claim` | records as documents, and the claim that may stand beside one |
//! | `line` | lines of a history |
//! | `score` | places in queues |
//! | `cursor` | places in listings, and the pages they lead to |

pub mod claim;
pub mod counter;
pub mod cursor;
pub mod key;
pub mod line;
pub mod record;
pub mod score;
pub mod state;

/// Something that was written down and does not read as what it should be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unreadable(String);

impl Unreadable {
    /// This cannot be read.
    pub fn new(what: impl std::fmt::Display) -> Self {
        Self(what.to_string())
    }
}

impl From<Unreadable> for crate::Error {
    fn from(unreadable: Unreadable) -> Self {
        Self::Corrupt(unreadable.0)
    }
}

/// What was read.
pub type Result<T> = std::result::Result<T, Unreadable>;
