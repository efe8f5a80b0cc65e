//! Which files there are, and when they were last written.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Folders that hold no source, whatever is beside them. So do those whose names begin with a dot.
const FOLDERS: [&str; 5] = ["target", "node_modules", "__pycache__", "venv", "dist"];
/// What the names of files end with that programs write while they run. So do those whose names begin with a dot.
const ENDINGS: [&str; 9] = [
    ".db", ".db-shm", ".db-wal", ".log", ".pyc", ".sqlite", ".swp", ".tmp", "~",
];
/// So many files are looked at.
const FILES_MAX: usize = 20_000;

/// Files with their sizes and times.
#[derive(Clone, Default, PartialEq)]
pub(super) struct Files(BTreeMap<PathBuf, (u64, Option<SystemTime>)>);

impl Files {
    /// Everything that is source in these places.
    pub(super) fn of(places: &[PathBuf]) -> Self {
        let mut files = Self::default();
        places.iter().for_each(|place| files.add(place));
        files
    }

    /// Whether there are more than are looked at.
    pub(super) fn is_full(&self) -> bool {
        self.0.len() >= FILES_MAX
    }

    /// A file that is not as it was, or not there on one of both sides.
    pub(super) fn difference(&self, before: &Self) -> Option<PathBuf> {
        let changed = self.0.iter().find(|(path, file)| before.0.get(*path) != Some(file));
        let gone = || before.0.keys().find(|path| !self.0.contains_key(*path));
        changed.map(|(path, _)| path).or_else(gone).cloned()
    }

    /// What cannot be read is not there: it may have been deleted just now.
    fn add(&mut self, place: &Path) {
        let Ok(about) = std::fs::metadata(place) else { return };
        if self.is_full() {
            return;
        }
        if !about.is_dir() {
            self.0.insert(place.to_owned(), (about.len(), about.modified().ok()));
            return;
        }
        let Ok(inside) = std::fs::read_dir(place) else { return };
        for entry in inside.flatten() {
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_source(&entry.file_name(), is_folder) {
                self.add(&entry.path());
            }
        }
    }
}

fn is_source(name: &OsStr, is_folder: bool) -> bool {
    let name = name.to_string_lossy();
    let is_other = match is_folder {
        true => FOLDERS.contains(&&*name),
        false => ENDINGS.iter().any(|ending| name.ends_with(ending)),
    };
    !is_other && !name.starts_with('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_source_is_seen_and_what_programs_write_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let files = || Files::of(&[folder.path().to_owned()]);
        write("src/worker.py", "one");
        let before = files();
        for ignored in [
            "target/debug/app",
            ".git/HEAD",
            "src/__pycache__/worker.pyc",
            "run.log",
            ".ff/dev.db",
        ] {
            write(ignored, "x");
        }
        assert!(files().difference(&before).is_none());
        write("src/worker.py", "and another");
        assert_eq!(files().difference(&before), Some(folder.path().join("src/worker.py")));
        std::fs::remove_file(folder.path().join("src/worker.py")).unwrap();
        assert!(files().difference(&before).is_some());
    }
}
