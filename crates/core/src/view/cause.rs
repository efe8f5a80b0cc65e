//! What holds an execution back, as something to look for.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::{Code, Rejection};
use crate::ledger::{AccountKey, AccountKind};
use crate::record::Execution;
use crate::state::{EligibilityState, state_vector};

/// What holds work back: `budget`, `quota`, `budget:ID`, `quota:ID`, `dependencies`, `delay`, `hold`, `lane` or `capabilities`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(with = "String"))]
pub enum HeldBackBy {
    /// Any account of this kind refused it.
    Kind(AccountKind),
    /// This account refused it.
    Account(AccountKey),
    /// Its upstreams, or a flow that is not open.
    Dependencies,
    /// A moment that has not come.
    Delay,
    /// An operator, also while it runs.
    Hold,
    /// Its lane, which hands nothing out.
    Lane,
    /// No live worker of its lane offers what it requires.
    Capabilities,
}

/// Those with a plain name.
const NAMED: [(&str, HeldBackBy); 7] = [
    ("budget", HeldBackBy::Kind(AccountKind::Budget)),
    ("quota", HeldBackBy::Kind(AccountKind::Quota)),
    ("dependencies", HeldBackBy::Dependencies),
    ("delay", HeldBackBy::Delay),
    ("hold", HeldBackBy::Hold),
    ("lane", HeldBackBy::Lane),
    ("capabilities", HeldBackBy::Capabilities),
];

impl HeldBackBy {
    /// Whether it is no fact of an execution but of what stands around it: then [`HeldBackBy::holds_back`] says whether the execution
    /// would be handed out but for that.
    pub const fn is_around(self) -> bool {
        matches!(self, HeldBackBy::Lane | HeldBackBy::Capabilities)
    }

    /// Whether it holds this execution back, by the execution's own facts.
    pub fn holds_back(self, execution: &Execution) -> bool {
        let eligibility = state_vector(execution).eligibility_state;
        let block = || execution.runnable()?.block.as_ref().map(|block| block.cause);
        let is_blocked = matches!(
            eligibility,
            EligibilityState::BlockedByBudget | EligibilityState::BlockedByQuota
        );
        match self {
            HeldBackBy::Kind(kind) => is_blocked && block().is_some_and(|cause| cause.kind() == kind),
            HeldBackBy::Account(account) => is_blocked && block() == Some(account),
            HeldBackBy::Dependencies => eligibility == EligibilityState::BlockedByDependencies,
            HeldBackBy::Delay => eligibility == EligibilityState::NotEligibleUntilTime,
            HeldBackBy::Hold => execution.hold.is_some() && !execution.is_terminal(),
            HeldBackBy::Lane | HeldBackBy::Capabilities => eligibility == EligibilityState::EligibleNow,
        }
    }
}

impl fmt::Display for HeldBackBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let HeldBackBy::Account(account) = self {
            return account.fmt(f);
        }
        let named = NAMED.iter().find(|(_, cause)| cause == self);
        f.write_str(named.map_or("", |(name, _)| name))
    }
}

impl FromStr for HeldBackBy {
    type Err = Rejection;

    fn from_str(text: &str) -> Result<Self, Rejection> {
        if let Some((_, cause)) = NAMED.iter().find(|(name, _)| *name == text) {
            return Ok(*cause);
        }
        let account = text.parse().map(HeldBackBy::Account);
        account.map_err(|_| {
            let names = NAMED.map(|(name, _)| name).join(", ");
            Code::InvalidInput.because(format!(
                "nothing is held back by {text:?}; known are {names}, and budget:ID and quota:ID"
            ))
        })
    }
}

impl Serialize for HeldBackBy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for HeldBackBy {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse()
            .map_err(|refusal: Rejection| serde::de::Error::custom(refusal.detail))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_holds_back_is_read_as_it_is_written() {
        let account = "quota:0190c5d4-7a6b-7c3d-8e9f-a0b1c2d3e4f5";
        for text in NAMED.map(|(name, _)| name).into_iter().chain([account]) {
            assert_eq!(text.parse::<HeldBackBy>().unwrap().to_string(), text);
        }
        for bad in ["", "flow", "budget:", "budget:x", "hold:1", "Budget"] {
            assert_eq!(bad.parse::<HeldBackBy>().unwrap_err().code, Code::InvalidInput, "{bad}");
        }
    }
}
