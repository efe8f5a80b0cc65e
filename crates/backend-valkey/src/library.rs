//! The Lua library: small files, composed when this crate is built. Its name and those of its functions carry a digest of
//! the text, so that two versions live side by side while a new one is rolled out.

use std::sync::LazyLock;

use sha2::{Digest as _, Sha256};

use crate::commit::run::COLUMNS;

/// What all functions share, in the order in which it builds on itself.
const SHARED: &[&str] = &[
    include_str!("../lua/call.lua"),
    include_str!("../lua/keys.lua"),
    include_str!("../lua/head.lua"),
    include_str!("../lua/sets.lua"),
    include_str!("../lua/index.lua"),
    include_str!("../lua/told.lua"),
];

/// The functions, with what only they need: Lua knows no more than 200 names at once, so each group has its own.
const FUNCTIONS: &[&[&str]] = &[
    &[
        include_str!("../lua/transaction.lua"),
        include_str!("../lua/run.lua"),
        include_str!("../lua/commit.lua"),
    ],
    &[include_str!("../lua/load.lua")],
    &[include_str!("../lua/due.lua")],
    &[include_str!("../lua/read.lua")],
    &[include_str!("../lua/reserve.lua")],
    &[include_str!("../lua/frames.lua")],
    &[include_str!("../lua/settings.lua")],
    &[include_str!("../lua/libraries.lua")],
    &[include_str!("../lua/account.lua"), include_str!("../lua/ledger.lua")],
];

/// What the names of all versions begin with.
pub(crate) const NAME_PREFIX: &str = "flowfabric_";

/// The library as the server loads it.
pub(crate) static LIBRARY: LazyLock<Library> = LazyLock::new(Library::compose);

/// A composed library.
pub(crate) struct Library {
    /// What tells this version from others.
    pub(crate) digest: String,
    /// The whole text.
    pub(crate) text: String,
}

impl Library {
    fn compose() -> Self {
        let columns = COLUMNS.iter().zip(1..);
        let columns: String = columns.map(|(name, at)| format!("{name} = {at}, ")).collect();
        let functions = FUNCTIONS.iter().map(|group| format!("do\n{}end\n", group.concat()));
        let functions: String = functions.collect();
        let body = format!("local RUN = {{{columns}}}\n{}{functions}", SHARED.concat());
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

/// A function of the library.
#[derive(Clone, Copy)]
pub(crate) struct Function {
    name: &'static str,
    /// Whether a lost reply leaves a doubt.
    pub(crate) writes: bool,
}

impl Function {
    pub(crate) const COMMIT: Self = Self::writing("commit");
    pub(crate) const RESERVE: Self = Self::writing("reserve");
    pub(crate) const LOAD: Self = Self::reading("load");
    pub(crate) const DUE: Self = Self::reading("due");
    pub(crate) const READ: Self = Self::reading("read");
    pub(crate) const CHANGES: Self = Self::reading("changes");
    pub(crate) const APPEND: Self = Self::writing("append");
    pub(crate) const FRAMES: Self = Self::reading("frames");
    pub(crate) const SETTINGS: Self = Self::writing("settings");
    pub(crate) const READ_SETTINGS: Self = Self::reading("read_settings");
    /// Noting twice that a library is in use does no harm.
    pub(crate) const LIBRARIES: Self = Self::reading("libraries");
    pub(crate) const LEDGER: Self = Self::writing("ledger");
    pub(crate) const READ_LEDGER: Self = Self::reading("read_ledger");

    const fn reading(name: &'static str) -> Self {
        Self { name, writes: false }
    }

    const fn writing(name: &'static str) -> Self {
        Self { name, writes: true }
    }

    /// The name it is called by.
    pub(crate) fn name(self) -> String {
        format!("ff_{}_{}", self.name, LIBRARY.digest)
    }
}
