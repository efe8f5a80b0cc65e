//! Where a page is run, and what is there.

use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// The root of the repository.
pub(crate) const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
/// What is not shown of it: what pages write must not stay there.
const HIDDEN: [&str; 3] = [".git", ".ff", "target"];
/// Set: `cargo run` in a page builds what it runs, as it does for whoever types it.
pub(crate) const FULL: &str = "FF_TEST_PAGES_FULL";

/// An empty folder for the page, and beside it what is needed to run it.
pub(crate) struct Folder {
    all: TempDir,
    variables: Vec<(&'static str, String)>,
    /// Where programs are that are not on this machine's path.
    programs: Vec<PathBuf>,
}

impl Folder {
    pub(crate) fn new() -> io::Result<Self> {
        let folder = Self {
            all: tempfile::tempdir()?,
            variables: Vec::new(),
            programs: Vec::new(),
        };
        for name in ["page", "blocks", "bin"] {
            fs::create_dir(folder.all.path().join(name))?;
        }
        symlink(env!("CARGO_BIN_EXE_ff"), folder.bin().join("ff"))?;
        let cargo = folder.bin().join("cargo");
        fs::write(&cargo, include_str!("cargo.sh"))?;
        fs::set_permissions(cargo, fs::Permissions::from_mode(0o755))?;
        Ok(folder)
    }

    /// With links to what stands in the root of the repository: whoever reads its README is there.
    pub(crate) fn of_the_repository() -> io::Result<Self> {
        let folder = Self::new()?;
        for entry in fs::canonicalize(ROOT)?.read_dir()? {
            let entry = entry?;
            if !HIDDEN.iter().any(|hidden| entry.file_name() == *hidden) {
                symlink(entry.path(), folder.page().join(entry.file_name()))?;
            }
        }
        Ok(folder)
    }

    /// Gives every shell of the page a variable.
    pub(crate) fn set(&mut self, name: &'static str, value: &str) {
        self.variables.push((name, value.to_owned()));
    }

    /// Lets the page use the programs in a folder.
    pub(crate) fn add_to_path(&mut self, programs: &Path) {
        self.programs.push(programs.to_owned());
    }

    /// Where the page's terminals begin.
    pub(crate) fn page(&self) -> PathBuf {
        self.all.path().join("page")
    }

    fn bin(&self) -> PathBuf {
        self.all.path().join("bin")
    }

    /// Keeps a block to be run, and gives the file.
    pub(crate) fn keep(&self, number: usize, block: &str) -> io::Result<PathBuf> {
        let file = self.all.path().join("blocks").join(number.to_string());
        fs::write(&file, block)?;
        Ok(file)
    }

    /// Writes a file of the page. It stays within the page's folder.
    pub(crate) fn write(&self, path: &str, text: &str) -> Result<(), String> {
        let page = self.page();
        if !Path::new(path)
            .components()
            .all(|part| matches!(part, Component::Normal(_)))
        {
            return Err(format!("{path} is not in the page's folder"));
        }
        let file = page.join(path);
        let place = file.parent().unwrap_or(&page);
        let written = || {
            fs::create_dir_all(place)?;
            let is_inside = fs::canonicalize(place)?.starts_with(fs::canonicalize(&page)?);
            if !is_inside || file.is_symlink() {
                return Err(io::Error::other("this is a file of the repository"));
            }
            fs::write(&file, text)
        };
        written().map_err(|error| format!("{path} cannot be written: {error}"))
    }

    /// Where a shell of the page starts, and with which variables.
    pub(crate) fn prepare(&self, shell: &mut Command) {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = [self.bin()]
            .into_iter()
            .chain(std::env::split_paths(&path))
            .chain(self.programs.iter().cloned());
        let built = Path::new(env!("CARGO_BIN_EXE_ff")).parent();
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent();
        for (name, _) in std::env::vars_os() {
            if name.to_str().is_some_and(|name| name.starts_with("FF_")) {
                shell.env_remove(name);
            }
        }
        shell
            .current_dir(self.page())
            .env(
                "PATH",
                std::env::join_paths(path).expect("no folder of the path has a colon"),
            )
            .env("PAGE_BUILT", built.expect("ff is in a folder"))
            .env("CARGO_TARGET_DIR", target.expect("it is in the target directory"))
            // As on a terminal, which has no buffer either.
            .env("PYTHONUNBUFFERED", "1")
            .env("LC_ALL", "C.UTF-8")
            .env_remove("RUST_LOG")
            .env_remove("PAGE_CARGO")
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .envs(std::env::var_os(FULL).map(|_| ("PAGE_CARGO", "real")));
    }
}

/// Whether a text is a piece of a file of the repository, or of one of those in a folder of it, at whatever depth it is indented.
pub(crate) fn is_piece_of(piece: &str, path: &str) -> io::Result<bool> {
    let path = Path::new(ROOT).join(path);
    let files = match path.is_dir() {
        true => path
            .read_dir()?
            .map(|entry| Ok(entry?.path()))
            .collect::<io::Result<Vec<_>>>()?,
        false => vec![path],
    };
    for file in files.iter().filter(|file| !file.is_dir()) {
        if is_piece(piece, &fs::read_to_string(file)?) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn is_piece(piece: &str, text: &str) -> bool {
    let piece: Vec<&str> = piece.lines().map(str::trim_end).collect();
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let Some(first) = piece.iter().position(|line| !line.is_empty()) else {
        return false;
    };
    lines.windows(piece.len()).any(|window| {
        let Some(indent) = window[first].strip_suffix(piece[first]) else {
            return false;
        };
        let is_same = |(line, piece): (&&str, &&str)| match piece.is_empty() {
            true => line.is_empty(),
            false => line.strip_prefix(indent) == Some(*piece),
        };
        indent.trim().is_empty() && window.iter().zip(&piece).all(is_same)
    })
}

#[test]
fn a_piece_is_found_at_any_depth_and_only_as_a_whole() {
    let text = "fn a() {\n    let x = 1;\n\n    if x {\n        y();\n    }\n}\n";
    assert!(is_piece("let x = 1;\n\nif x {\n    y();\n}\n", text));
    assert!(is_piece(text, text));
    for other in [
        "let x = 1;\nif x {\n",
        "let x = 1;\n\n  if x {\n",
        "x = 1;\n",
        "let x\n",
        "\n",
        "if x {\ny();\n",
    ] {
        assert!(!is_piece(other, text), "{other:?}");
    }
}

#[test]
fn a_page_writes_in_its_folder_only() {
    let folder = Folder::of_the_repository().unwrap();
    folder.write("made/by/page.txt", "a").unwrap();
    assert_eq!(fs::read_to_string(folder.page().join("made/by/page.txt")).unwrap(), "a");
    for outside in ["../a", "/tmp/a", "README.md", "examples/new.rs"] {
        folder.write(outside, "a").expect_err(outside);
    }
    assert!(!Path::new(ROOT).join("examples/new.rs").exists());
}

#[test]
fn a_page_in_the_repository_runs_what_was_built_and_leaves_nothing() {
    use crate::{page::Page, session};
    let page = "```sh\ncargo run -p ff-cli -- --version\ncargo run -q -p ff-cli -- schema flow > flow.json\nls scripts/test\n```\n```text\nff …\nscripts/test\n```\n\
                <!-- fails -->\n```sh\ncargo run -p ff-sdk --example nobody_wrote_it\n```\n\
                ```text\nexamples/nobody_wrote_it was not built beside the tests: cargo build --workspace --examples\n```\n";
    let page = Page::read("page.md", page).unwrap();
    let folder = Folder::of_the_repository().unwrap();
    session::run(&page, &folder, std::time::Duration::from_secs(60)).unwrap();
    assert!(folder.page().join("flow.json").exists() && !Path::new(ROOT).join("flow.json").exists());
}
