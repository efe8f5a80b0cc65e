//! `ff backup`.

use std::path::PathBuf;

use ff_backend_sqlite::copy_store;

use super::foreign::{self, Task};
use crate::at::StoreAt;
use crate::failure::{Class, Failure};
use crate::open::Address;
use crate::say;
use crate::verbs::progress::Progress;

/// Copy a store while it is in use
///
/// A SQLite file is copied as it is at one moment, also while a server writes to it. For Valkey and PostgreSQL the command of
/// their own tool is printed, and nothing is done.
#[derive(clap::Args)]
pub(crate) struct Backup {
    /// The file to make; it must not be there yet
    to: PathBuf,
    #[command(flatten)]
    at: StoreAt,
}

impl Backup {
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        let store = self.at.config()?.store;
        let Address::File(from) = &store else {
            return Err(foreign::refer(&store, Task::Backup, &self.to.to_string_lossy()));
        };
        if !from.exists() {
            let what = format!("there is no store at {}", from.display());
            let advice = "--store names another one.";
            return Err(Failure::new(Class::NotFound, what).advise(advice).into());
        }
        refuse_existing(&self.to)?;
        let (from, to) = (from.clone(), self.to.clone());
        let copied = tokio::task::spawn_blocking(move || {
            let mut progress = Progress::of("copying");
            copy_store(&from, &to, |done, all| progress.at(done, all))
        });
        copied.await??;
        let (to, bytes) = (self.to.display(), std::fs::metadata(&self.to)?.len());
        say::line(format_args!(
            "{to}: {bytes} bytes, with payloads and signing keys: keep it as safe as the store"
        ));
        Ok(())
    }
}

/// A file that is there is never written over.
pub(super) fn refuse_existing(path: &std::path::Path) -> anyhow::Result<()> {
    if path.exists() {
        let what = format!("{} is there already", path.display());
        return Err(Failure::new(Class::Refused, what)
            .advise("Name another file, or move it away.")
            .into());
    }
    Ok(())
}
