//! The library of functions: a schema of its own, named after a digest of its text and of the tables', so that two versions live side by
//! side while a new one is rolled out.

use std::sync::LazyLock;

use sha2::{Digest as _, Sha256};

use crate::open::MIGRATIONS;

/// The files in the order they build on each other.
const FILES: &[&str] = &[
    include_str!("../library/types.sql"),
    include_str!("../library/parts.sql"),
    include_str!("../library/commit.sql"),
    include_str!("../library/stamp.sql"),
    include_str!("../library/reserve.sql"),
    include_str!("../library/load.sql"),
    include_str!("../library/append.sql"),
    include_str!("../library/settings.sql"),
    include_str!("../library/read.sql"),
    include_str!("../library/list.sql"),
    include_str!("../library/feed.sql"),
    include_str!("../library/ledger/types.sql"),
    include_str!("../library/ledger/books.sql"),
    include_str!("../library/ledger/answers.sql"),
    include_str!("../library/ledger/places.sql"),
    include_str!("../library/ledger/take.sql"),
    include_str!("../library/ledger/draw.sql"),
    include_str!("../library/ledger/give.sql"),
    include_str!("../library/ledger/amend.sql"),
    include_str!("../library/ledger/look.sql"),
    include_str!("../library/ledger/calls.sql"),
    include_str!("../library/ledger/tidy.sql"),
    include_str!("../library/tidy.sql"),
];

/// What the names of all versions begin with.
const NAME_PREFIX: &str = "flowfabric_";

/// The library of this release.
pub(crate) static LIBRARY: LazyLock<Library> = LazyLock::new(|| Library::compose(FILES));

/// What tells the tables and functions of this release from those of others.
pub fn library_name() -> &'static str {
    &LIBRARY.schema
}

/// A composed library.
pub(crate) struct Library {
    /// The schema it lives in.
    pub(crate) schema: String,
    /// The whole text.
    pub(crate) text: String,
}

impl Library {
    fn compose(files: &[&str]) -> Self {
        let text = files.concat();
        let digest = Sha256::digest(MIGRATIONS.concat() + &text);
        let digest: String = digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
        Self {
            schema: format!("{NAME_PREFIX}{digest}"),
            text,
        }
    }
}

#[cfg(test)]
mod tests {
    use ff_core::limits::HISTORY_LINES_MAX;

    use super::*;

    #[test]
    fn histories_are_cut_where_readers_stop_looking() {
        let kept = format!("- {HISTORY_LINES_MAX}");
        assert_eq!(LIBRARY.text.matches(&kept).count(), 2, "of executions, and of flows");
    }
}
