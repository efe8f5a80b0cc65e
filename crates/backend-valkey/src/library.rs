//! The Lua library: small files, composed when this crate is built. Its name and those of its functions carry a digest of
//! the text, so that two versions live side by side while a new one is rolled out.

use std::sync::LazyLock;

use ff_core::state::PublicState;
use sha2::{Digest as _, Sha256};

/// The files in the order they build on each other.
const FILES: &[&str] = &[
    include_str!("../lua/call.lua"),
    include_str!("../lua/keys.lua"),
    include_str!("../lua/sets.lua"),
    include_str!("../lua/index.lua"),
    include_str!("../lua/told.lua"),
    include_str!("../lua/commit.lua"),
    include_str!("../lua/load.lua"),
    include_str!("../lua/due.lua"),
    include_str!("../lua/read.lua"),
    include_str!("../lua/reserve.lua"),
    include_str!("../lua/frames.lua"),
    include_str!("../lua/settings.lua"),
    include_str!("../lua/libraries.lua"),
    include_str!("../lua/limit.lua"),
    include_str!("../lua/budget.lua"),
    include_str!("../lua/quota.lua"),
];

/// What the names of all versions begin with.
pub(crate) const NAME_PREFIX: &str = "flowfabric_";

/// The library as the server loads it.
pub(crate) static LIBRARY: LazyLock<Library> = LazyLock::new(|| Library::compose(FILES));

/// A composed library.
pub(crate) struct Library {
    /// What tells this version from others.
    pub(crate) digest: String,
    /// The whole text.
    pub(crate) text: String,
}

impl Library {
    fn compose(files: &[&str]) -> Self {
        let body = format!("{}{}", terminal_states(), files.concat());
        let digest: String = Sha256::digest(&body)
            .iter()
            .take(6)
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let text = format!("#!lua name={NAME_PREFIX}{digest}\nlocal DIGEST = '{digest}'\n{body}");
        Self { digest, text }
    }

    /// The name of this version.
    pub(crate) fn name(&self) -> String {
        format!("{NAME_PREFIX}{}", self.digest)
    }
}

/// The states in which an execution has ended, for Lua.
fn terminal_states() -> String {
    let terminal = PublicState::ALL.iter().filter(|state| state.is_terminal());
    let entries: String = terminal.map(|state| format!("{} = true, ", state.as_str())).collect();
    format!("local IS_TERMINAL = {{{entries}}}\n")
}

/// The functions of the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Function {
    Commit,
    Reserve,
    Load,
    Due,
    Read,
    Changes,
    Append,
    Frames,
    Settings,
    ReadSettings,
    Libraries,
    UseBudgets,
    ReadBudgets,
    PutBudget,
    UseQuotas,
    ReadQuotas,
    PutQuota,
}

impl Function {
    /// The name it is called by.
    pub(crate) fn name(self) -> String {
        let name = match self {
            Function::Commit => "commit",
            Function::Reserve => "reserve",
            Function::Load => "load",
            Function::Due => "due",
            Function::Read => "read",
            Function::Changes => "changes",
            Function::Append => "append",
            Function::Frames => "frames",
            Function::Settings => "settings",
            Function::ReadSettings => "read_settings",
            Function::Libraries => "libraries",
            Function::UseBudgets => "use_budgets",
            Function::ReadBudgets => "read_budgets",
            Function::PutBudget => "put_budget",
            Function::UseQuotas => "use_quotas",
            Function::ReadQuotas => "read_quotas",
            Function::PutQuota => "put_quota",
        };
        format!("ff_{name}_{}", LIBRARY.digest)
    }

    /// Whether a lost reply leaves a doubt.
    pub(crate) const fn writes(self) -> bool {
        matches!(
            self,
            Function::Commit
                | Function::Reserve
                | Function::Append
                | Function::Settings
                | Function::UseBudgets
                | Function::PutBudget
                | Function::UseQuotas
                | Function::PutQuota
        )
    }
}
