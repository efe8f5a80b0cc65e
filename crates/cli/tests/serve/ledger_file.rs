//! A ledger of side effects: a file that processes append lines to, which outlives them.

use std::fs::{File, OpenOptions};
use std::io::{Result, Write};
use std::path::Path;
use std::sync::Arc;

/// Appends lines to a ledger.
#[derive(Clone)]
pub(crate) struct Pen(Arc<File>);

impl Pen {
    pub(crate) fn of(path: &Path) -> Self {
        let file = OpenOptions::new().create(true).append(true).open(path);
        Self(Arc::new(file.unwrap()))
    }

    /// One write appends it, so that it is there whole or not at all, whenever the process dies.
    pub(crate) fn note(&self, line: &str) -> Result<()> {
        (&*self.0).write_all(format!("{line}\n").as_bytes())
    }
}
