//! `ff restore`.

use std::path::PathBuf;

use anyhow::Context;
use ff_backend_sqlite::copy_store;

use super::backup::refuse_existing;
use super::foreign::{self, Task};
use crate::at::StoreAt;
use crate::open::{self, Address};
use crate::verbs::progress::Progress;
use crate::{say, serve};

/// Make a store from a copy of one
///
/// The store must not be there yet: move the old one away first. For Valkey and PostgreSQL the command of their own tool is
/// printed, and nothing is done.
#[derive(clap::Args)]
pub(crate) struct Restore {
    /// The copy, as `ff backup` made it
    from: PathBuf,
    #[command(flatten)]
    at: StoreAt,
}

impl Restore {
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        let config = self.at.config()?;
        let Address::File(to) = &config.store else {
            return Err(foreign::refer(
                &config.store,
                Task::Restore,
                &self.from.to_string_lossy(),
            ));
        };
        refuse_existing(to)?;
        if let Some(folder) = to.parent() {
            std::fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
        }
        let (from, target) = (self.from, to.clone());
        let copied = tokio::task::spawn_blocking(move || {
            let mut progress = Progress::of("restoring");
            copy_store(&from, &target, |done, all| progress.at(done, all))
        });
        copied.await??;
        // Opened once, it is known to be whole, and its schema is that of this release.
        let opened = open::open(&config.store, &serve::options(&config)).await;
        let opened = opened.context("the copy cannot be used as a store")?;
        say::line(format_args!("{}; `ff serve` may use it", opened.about));
        Ok(())
    }
}
