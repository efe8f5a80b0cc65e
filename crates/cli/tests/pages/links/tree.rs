//! The files of the repository.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::folder::ROOT;

/// What is in the tree although its name begins with a dot.
const IN_THE_TREE: [&str; 4] = [".cargo", ".ci", ".config", ".gitignore"];

/// What is built or written by programs, and what belongs to tools, is not in the tree.
fn is_kept(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    path != "target"
        && name != "node_modules"
        && name != "__pycache__"
        && (!name.starts_with('.') || IN_THE_TREE.contains(&name))
}

/// Every file and folder, from the root of the repository.
pub(crate) fn files() -> BTreeSet<String> {
    let mut files = BTreeSet::new();
    walk("", &mut files);
    files
}

fn walk(folder: &str, files: &mut BTreeSet<String>) {
    for entry in Path::new(ROOT).join(folder).read_dir().unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let path = if folder.is_empty() {
            name
        } else {
            format!("{folder}/{name}")
        };
        if !is_kept(&path) {
            continue;
        }
        if entry.file_type().unwrap().is_dir() {
            walk(&path, files);
        }
        files.insert(path);
    }
}

/// Every page that readers of the repository see. Of a crate that is its README: other Markdown there is a part of pages that are
/// printed, or a template for the folders of others.
pub(crate) fn pages() -> BTreeSet<String> {
    let is_page = |path: &String| match path.strip_prefix("crates/") {
        Some(of_crate) => of_crate.ends_with("/README.md") && !of_crate.contains("/templates/"),
        None => path.ends_with(".md"),
    };
    files().into_iter().filter(is_page).collect()
}

pub(crate) fn read(path: &str) -> String {
    fs::read_to_string(Path::new(ROOT).join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn the_tree_has_what_is_written_and_not_what_is_built() {
    let pages = pages();
    for page in ["README.md", "docs/explanation/concepts.md", "examples/README.md"] {
        assert!(pages.contains(page), "{page}");
    }
    for other in [
        "target/a.md",
        ".git/a.md",
        "crates/cli/templates/rust/README.md",
        "Cargo.toml",
    ] {
        assert!(!pages.contains(other), "{other}");
    }
    assert!(!is_kept("target") && !is_kept("a/.ff") && is_kept(".ci") && is_kept("docs/target"));
    assert!(files().contains("crates/cli/src/main.rs") && files().contains("docs/decisions"));
}
