//! Puts the dashboard into the program: its files under one hash, and which modules each page loads first.
//!
//! A file refers to another one by a relative path, so all of them stand below the same address, `/a/{hash}/…`. One that changes gives
//! all of them a new address, and browsers may keep what they have for ever. The modules of a page are found by the import
//! lines, so that a browser can ask for all of them at once instead of one behind the other.
//!
//! What is served is what people wrote without indentation and without lines that hold nothing but a comment. Style sheets are one.
//! Every file is kept packed besides, as browsers ask for it.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use flate2::Compression;
use flate2::write::GzEncoder;

/// Where scripts stand.
const FOLDERS: [&str; 5] = ["core", "flow", "page", "run", "ui"];
/// Style sheets, in the order in which they count, and what they are called together.
const SHEETS: [&str; 7] = ["tokens", "base", "table", "page", "run", "graph", "phone"];
const SHEET: &str = "css/all.css";
/// The module that every page begins with.
const ENTRY: &str = "core/main.js";

/// Files by their path, with what is in them.
type Files = BTreeMap<String, String>;

fn main() -> Result<(), Box<dyn Error>> {
    let root = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("dashboard");
    let mut files = Files::new();
    for folder in FOLDERS {
        println!("cargo::rerun-if-changed=dashboard/{folder}");
        read(&root, Path::new(folder), &mut files)?;
    }
    println!("cargo::rerun-if-changed=dashboard/css");
    let mut sheets = Files::new();
    read(&root, Path::new("css"), &mut sheets)?;
    let in_order = SHEETS
        .iter()
        .filter_map(|name| sheets.remove(&format!("css/{name}.css")));
    files.insert(SHEET.to_owned(), in_order.collect());
    if let Some(name) = sheets.keys().next() {
        return Err(format!("{name} has no place among the style sheets").into());
    }
    println!("cargo::rerun-if-changed=dashboard/shell.html");
    let shell = fs::read_to_string(root.join("shell.html"))?;
    let out = PathBuf::from(env::var("OUT_DIR")?);
    fs::write(out.join("dashboard.rs"), constants(&files, &shell, &out)?)?;
    Ok(())
}

/// Reads the scripts and styles of a folder.
fn read(root: &Path, folder: &Path, files: &mut Files) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(root.join(folder))? {
        let path = entry?.path();
        let kind = path.extension().and_then(|kind| kind.to_str()).unwrap_or_default();
        if ["js", "css"].contains(&kind) {
            let name = path.file_name().ok_or("a file has a name")?;
            let name = folder.join(name).to_str().ok_or("names of files are text")?.to_owned();
            files.insert(name, bare(&fs::read_to_string(&path)?));
        }
    }
    Ok(())
}

/// A file without what only its readers need. One whose text goes over several lines within a string stays as it is.
fn bare(text: &str) -> String {
    if text.lines().any(|line| line.matches('`').count() % 2 == 1) {
        return text.to_owned();
    }
    let mut bare = String::new();
    let mut in_comment = false;
    for line in text.lines() {
        let mut line = line.trim();
        while !line.is_empty() && (in_comment || line.starts_with("/*")) {
            let end = line.find("*/");
            in_comment = end.is_none();
            line = end.map_or("", |end| line[end + 2..].trim());
        }
        if !line.is_empty() && !line.starts_with("//") {
            bare.push_str(line);
            bare.push('\n');
        }
    }
    bare
}

/// A text as it is sent to whoever takes it packed.
fn packed(text: &str) -> std::io::Result<Vec<u8>> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::best());
    packer.write_all(text.as_bytes())?;
    packer.finish()
}

/// What the program knows of the files. `folder`: where they are put packed.
fn constants(files: &Files, shell: &str, folder: &Path) -> Result<String, Box<dyn Error>> {
    let mut out = String::new();
    writeln!(out, "/// Names what all files hold together.")?;
    writeln!(out, "pub(super) const HASH: &str = \"{:032x}\";", hash(files, shell))?;
    writeln!(out, "/// The page that loads them.")?;
    writeln!(out, "pub(super) const SHELL: &str = {shell:?};")?;
    writeln!(
        out,
        "/// Every file by its path, in order: its text, and the same packed."
    )?;
    writeln!(out, "pub(super) static FILES: &[(&str, &str, &[u8])] = &[")?;
    for (number, (name, text)) in files.iter().enumerate() {
        let packed_at = folder.join(format!("{number}.gz"));
        fs::write(&packed_at, packed(text)?)?;
        writeln!(out, "    ({name:?}, {text:?}, include_bytes!({packed_at:?})),")?;
    }
    writeln!(out, "];")?;
    writeln!(
        out,
        "/// The modules that each page loads, its own last; it is named as its module is."
    )?;
    writeln!(out, "pub(super) static MODULES: &[(&str, &[&str])] = &[")?;
    for name in files.keys() {
        if let Some(page) = name.strip_prefix("page/").and_then(|page| page.strip_suffix(".js")) {
            writeln!(out, "    ({page:?}, &{:?}),", modules(files, name))?;
        }
    }
    writeln!(out, "];")?;
    Ok(out)
}

/// A number that is another one when anything is (FNV-1a). It protects nothing: whoever can change the files is asked nothing.
fn hash(files: &Files, shell: &str) -> u128 {
    let all = files.iter().flat_map(|(name, text)| [name.as_str(), "\0", text, "\0"]);
    let bytes = all.chain([shell]).flat_map(str::bytes);
    bytes.fold(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d, |hash: u128, byte| {
        (hash ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b)
    })
}

/// The modules that are loaded when a page is: those of every page, its own, and what they import.
fn modules(files: &Files, page: &str) -> Vec<String> {
    let (mut found, mut seen) = (Vec::new(), BTreeSet::new());
    for first in [ENTRY, page] {
        visit(files, first.to_owned(), &mut seen, &mut found);
    }
    found
}

fn visit(files: &Files, name: String, seen: &mut BTreeSet<String>, found: &mut Vec<String>) {
    if !seen.insert(name.clone()) {
        return;
    }
    if let Some(text) = files.get(&name) {
        for imported in text.lines().filter_map(imported) {
            visit(files, resolve(&name, imported), seen, found);
        }
    }
    // A module that is not there is listed too: a test of the program says so.
    found.push(name);
}

/// What a line imports, relative to its file.
fn imported(line: &str) -> Option<&str> {
    let line = line.trim();
    let is_import = ["import ", "export ", "} from "]
        .iter()
        .any(|start| line.starts_with(start));
    let path = line.split(['\'', '"']).nth(1)?;
    (is_import && path.starts_with('.')).then_some(path)
}

fn resolve(from: &str, imported: &str) -> String {
    let mut path = PathBuf::from(from);
    path.pop();
    for part in imported.split('/') {
        match part {
            "." => {}
            ".." => {
                path.pop();
            }
            part => path.push(part),
        }
    }
    path.to_string_lossy().into_owned()
}
