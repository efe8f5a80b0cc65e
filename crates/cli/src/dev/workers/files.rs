//! Which files there are, and when they were last written.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use ignore::{DirEntry, WalkBuilder};

/// Folders that hold no source, whatever is beside them. So do those whose names begin with a dot.
const FOLDERS: [&[u8]; 5] = [b"target", b"node_modules", b"__pycache__", b"venv", b"dist"];
/// What the names of files end with that programs write while they run. So do those whose names begin with a dot.
const ENDINGS: [&[u8]; 9] = [
    b".db", b".db-shm", b".db-wal", b".log", b".pyc", b".sqlite", b".swp", b".tmp", b"~",
];
/// What the names of files end with that people write and programs are made of. A handler writes others, and would never come to its
/// end if that started it again.
const SOURCES: [&[u8]; 42] = [
    b".bash", b".c", b".cc", b".cfg", b".cjs", b".clj", b".cpp", b".cs", b".cts", b".erl", b".ex", b".exs", b".fs",
    b".go", b".h", b".hpp", b".hs", b".ini", b".java", b".jl", b".js", b".jsx", b".kt", b".lua", b".mjs", b".mts",
    b".php", b".pl", b".py", b".r", b".rb", b".rs", b".scala", b".sh", b".sql", b".swift", b".toml", b".ts", b".tsx",
    b".yaml", b".yml", b".zig",
];
/// So many files are looked at.
const FILES_MAX: usize = 20_000;

/// Files with their sizes and times.
#[derive(Clone, Default, PartialEq)]
pub(super) struct Files(BTreeMap<PathBuf, (u64, Option<SystemTime>)>);

impl Files {
    /// The source in a folder: what Git ignores is none.
    pub(super) fn sources(folder: &Path) -> Self {
        let mut files = Self::default();
        files.add(folder, is_source);
        files
    }

    /// Everything in these places but what programs leave behind, and what Git ignores. A place itself always is in it.
    pub(super) fn of(places: &[PathBuf]) -> Self {
        let mut files = Self::default();
        places.iter().for_each(|place| files.add(place, is_kept));
        files
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
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

    fn add(&mut self, place: &Path, is_wanted: fn(&DirEntry) -> bool) {
        let mut walk = WalkBuilder::new(place);
        // A project may have a .gitignore before it has a repository. What search tools pass over may be source.
        let walk = walk.require_git(false).ignore(false).follow_links(true);
        // What cannot be read is not there: it may have been deleted just now.
        for entry in walk.filter_entry(is_wanted).build().flatten() {
            if self.is_full() {
                return;
            }
            if let Some(about) = entry.metadata().ok().filter(|about| !about.is_dir()) {
                self.0.insert(entry.into_path(), (about.len(), about.modified().ok()));
            }
        }
    }
}

fn is_folder(entry: &DirEntry) -> bool {
    entry.file_type().is_some_and(|kind| kind.is_dir())
}

fn is_kept(entry: &DirEntry) -> bool {
    let name = entry.file_name().as_encoded_bytes();
    match is_folder(entry) {
        true => !FOLDERS.contains(&name),
        false => !ENDINGS.iter().any(|ending| name.ends_with(ending)),
    }
}

fn is_source(entry: &DirEntry) -> bool {
    let name = entry.file_name().as_encoded_bytes();
    is_kept(entry) && (is_folder(entry) || SOURCES.iter().any(|ending| name.ends_with(ending)) || is_program(entry))
}

/// A script may have no ending.
fn is_program(entry: &DirEntry) -> bool {
    let may_run = |about: std::fs::Metadata| about.permissions().mode() & 0o111 != 0;
    entry.metadata().is_ok_and(may_run)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(folder: &Path, path: &str, text: &str) {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    #[test]
    fn a_change_of_source_is_seen_and_what_programs_write_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| write(folder.path(), path, text);
        let files = || Files::sources(folder.path());
        write("src/worker.py", "one");
        let before = files();
        for ignored in [
            "paid.txt",
            "out/result.json",
            "pages/1.html",
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
        let before = files();
        write("work", "#!/bin/sh");
        let script = folder.path().join("work");
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(files().difference(&before), Some(script));
    }

    #[test]
    fn in_a_place_that_is_named_everything_is_watched() {
        let folder = tempfile::tempdir().unwrap();
        let files = || Files::of(&[folder.path().to_owned()]);
        let before = files();
        write(folder.path(), "prompts/letter.txt", "Dear");
        assert_eq!(
            files().difference(&before),
            Some(folder.path().join("prompts/letter.txt"))
        );
    }

    #[test]
    fn what_git_ignores_is_no_source() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| write(folder.path(), path, text);
        let files = || Files::sources(folder.path());
        write(".gitignore", "/out/\n*.gen.py\n!kept.gen.py\n");
        write("lib/.gitignore", "cache\n");
        write("worker.py", "one");
        let before = files();
        for ignored in ["out/result.json", "lib/a.gen.py", "lib/cache/b.py"] {
            write(ignored, "x");
            assert_eq!(files().difference(&before), None, "{ignored}");
        }
        for source in ["kept.gen.py", "lib/out/c.py", "cache/d.py"] {
            let before = files();
            write(source, "x");
            assert_eq!(files().difference(&before), Some(folder.path().join(source)));
        }
        let before = files();
        write(".gitignore", "");
        let seen = files().difference(&before);
        assert_eq!(seen, Some(folder.path().join("lib/a.gen.py")), "it is read again");
    }

    #[test]
    fn a_place_that_is_named_is_watched_although_git_ignores_it() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), ".gitignore", "secrets.toml\nout/\n");
        write(folder.path(), "secrets.toml", "x");
        write(folder.path(), "out/made.py", "x");
        let named = ["secrets.toml", "out"].map(|place| folder.path().join(place));
        assert_eq!(Files::of(&named).0.len(), 2);
    }
}
