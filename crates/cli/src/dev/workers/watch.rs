//! Looking whether files have changed, again and again: it works on every system and in every mounted folder.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Context;
use tokio::sync::watch;

use super::files::Files;
use crate::failure::{Class, Failure};
use crate::say;

/// How often it is looked.
const LOOK_AGAIN: Duration = Duration::from_millis(300);

/// Looks until it is dropped.
pub(super) struct Watch {
    changes: watch::Receiver<Changed>,
    is_over: Arc<AtomicBool>,
}

/// What has changed last.
#[derive(Default)]
pub(super) struct Changed {
    /// As a person would name it.
    pub(super) path: String,
}

impl Watch {
    /// Looks at these files and folders; at the source in the working directory, if there are none.
    pub(super) fn start(places: &[PathBuf]) -> anyhow::Result<Self> {
        let here = std::env::current_dir().context("there is no working directory")?;
        let missing = places.iter().find(|place| !place.exists());
        if let Some(missing) = missing {
            let what = format!("there is nothing to watch at {}", missing.display());
            return Err(Failure::new(Class::NotFound, what)
                .advise("--watch names files and folders that are there.")
                .into());
        }
        let places = places.to_vec();
        let (told, changes) = watch::channel(Changed::default());
        let is_over = Arc::new(AtomicBool::new(false));
        let over = Arc::clone(&is_over);
        std::thread::spawn(move || {
            let look = || match places.is_empty() {
                true => Files::sources(&here),
                false => Files::of(&places),
            };
            let mut last = look();
            if last.is_empty() {
                say::line(
                    "There is no source here to watch, but for what .gitignore names: name your own with --watch.",
                );
            }
            if last.is_full() {
                say::line("There are too many files here to watch all of them: name your own with --watch.");
            }
            while !over.load(Ordering::Relaxed) {
                std::thread::sleep(LOOK_AGAIN);
                let now = settled(look, &last);
                if let Some(path) = now.difference(&last) {
                    last = now;
                    let path = named(&path, &here);
                    told.send_replace(Changed { path });
                }
            }
        });
        Ok(Self { changes, is_over })
    }

    /// A message for each change from now on.
    pub(super) fn changes(&self) -> watch::Receiver<Changed> {
        self.changes.clone()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

/// The files, once nobody writes to them: an editor may be in the middle of it.
fn settled(look: impl Fn() -> Files, last: &Files) -> Files {
    let mut now = look();
    if now == *last {
        return now;
    }
    loop {
        std::thread::sleep(LOOK_AGAIN / 3);
        let then = std::mem::replace(&mut now, look());
        if now == then {
            return now;
        }
    }
}

fn named(path: &Path, here: &Path) -> String {
    path.strip_prefix(here).unwrap_or(path).display().to_string()
}
