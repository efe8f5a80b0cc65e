//! What a person should look at.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::name::Namespace;
use crate::time::Timestamp;

/// Asks for what a person should look at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListProblems {}

/// Something that does not get better by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Problem {
    /// What sort of thing is wrong, which decides what to do about it.
    pub kind: ProblemKind,
    /// What it is about, as a person would name it.
    pub subject: String,
    /// Whose it is; absent when that cannot be known, or when it is everybody's.
    pub namespace: Option<Namespace>,
    /// Since when, where that is known.
    pub since: Option<Timestamp>,
    /// What is wrong, in a sentence for a person.
    pub detail: String,
    /// What to do about it, for an operator.
    pub advice: Cow<'static, str>,
}

/// What can be wrong. The order is the one they are listed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ProblemKind {
    /// A record cannot be read, and everything else goes on without it.
    Unreadable,
    /// What follows from a record is not done, again and again.
    FollowUp,
    /// Work is blocked by a budget or quota policy that does not exist.
    MissingCause,
}

impl ProblemKind {
    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            ProblemKind::Unreadable => "unreadable",
            ProblemKind::FollowUp => "follow_up",
            ProblemKind::MissingCause => "missing_cause",
        }
    }

    /// What to do about it.
    pub const fn advice(self) -> Cow<'static, str> {
        let advice = match self {
            ProblemKind::Unreadable => {
                "look into the log for what cannot be read, and mend or delete it in the store; mended, it goes on by itself"
            }
            ProblemKind::FollowUp => {
                "look into the log for why it fails; it is tried again every few minutes, and is done once the reason is gone"
            }
            ProblemKind::MissingCause => "create it again under this id, or cancel what waits for it",
        };
        Cow::Borrowed(advice)
    }
}
