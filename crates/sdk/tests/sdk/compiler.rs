//! What the compiler says about programs: where they are wrong our sentence, at the right place. The rest is the compiler's own.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

/// What every program begins with; it has one line.
const BEGINNING: &str =
    "use ff_sdk::{Client, Ctx, FromInputs, Input, Task, Worker}; use serde::{Deserialize, Serialize};";

/// The libraries that a program may use, as `--extern` takes them.
static LIBRARIES: LazyLock<Vec<(&'static str, PathBuf)>> = LazyLock::new(libraries);

/// Checks the SDK, which is a matter of moments where it was checked before, and finds what came of it.
fn libraries() -> Vec<(&'static str, PathBuf)> {
    let cargo = std::env::var("CARGO").expect("tests are run by cargo or cargo-nextest, which set CARGO");
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let mut check = Command::new(cargo);
    // What cargo says to the test about its package is not to be taken for what it says to build scripts: those that look at it
    // would run again, and with them everything that needs them.
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("CARGO_PKG_") || name.to_string_lossy().starts_with("CARGO_MANIFEST_") {
            check.env_remove(name);
        }
    }
    let checked = check
        .args(["check", "--quiet", "--message-format=json", "--manifest-path"])
        .arg(manifest)
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    assert!(checked.status.success(), "the SDK itself compiles");
    let lines: Vec<serde_json::Value> = String::from_utf8(checked.stdout)
        .unwrap()
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect();
    let library = |name: &'static str| {
        let is_it = |line: &&serde_json::Value| line["target"]["name"] == name && line["target"]["kind"][0] == "lib";
        let artifact = lines.iter().find(is_it).unwrap();
        let mut files = artifact["filenames"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|file| file.as_str());
        let file = files.find(|file| file.ends_with(".rmeta")).unwrap();
        (name, PathBuf::from(file))
    };
    vec![library("ff_sdk"), library("serde")]
}

/// What the compiler says about a program.
pub(crate) fn said_about(program: &str) -> String {
    let dependencies = LIBRARIES[0].1.parent().unwrap();
    let mut rustc = Command::new(std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned()));
    rustc.args([
        "--edition=2024",
        "--crate-type=lib",
        "--emit=metadata",
        "-Aunused",
        "--out-dir",
        env!("CARGO_TARGET_TMPDIR"),
    ]);
    rustc.arg("-L").arg(dependencies);
    for (name, file) in LIBRARIES.iter() {
        rustc.arg("--extern").arg(format!("{name}={}", file.display()));
    }
    let mut compiling = rustc
        .arg("-")
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let program = format!("{BEGINNING}\n{program}");
    compiling.stdin.take().unwrap().write_all(program.as_bytes()).unwrap();
    let said = compiling.wait_with_output().unwrap();
    String::from_utf8(said.stderr).unwrap()
}

/// The compiler refuses a program with this sentence, first of all, at this line of what stands after the beginning.
pub(crate) fn refuses(program: &str, line: u32, sentence: &str) {
    let said = said_about(program);
    let first = said.split("\nerror").next().unwrap_or_default();
    assert!(first.contains(sentence), "{said}");
    assert!(first.contains(&format!("--> <anon>:{}:", line + 1)), "{said}");
}
