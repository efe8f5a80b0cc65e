//! `ff man`.

use std::path::PathBuf;

use anyhow::Context;

use crate::say;

/// Write the manual pages of `ff` and its verbs
#[derive(clap::Args)]
pub(crate) struct Man {
    /// The folder to write them into, such as ~/.local/share/man/man1
    folder: PathBuf,
}

impl Man {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let folder = self.folder.display();
        std::fs::create_dir_all(&self.folder).with_context(|| format!("cannot make the folder {folder}"))?;
        let written = clap_mangen::generate_to(crate::command(), &self.folder);
        written.with_context(|| format!("cannot write into {folder}"))?;
        say::line(format_args!("{folder}/ff.1 and a page for each verb"));
        Ok(())
    }
}
