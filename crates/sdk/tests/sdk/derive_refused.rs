//! What the compiler says about programs that are wrong: our sentence, at the right place. The rest is the compiler's own.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

/// What every program begins with; it has one line.
const BEGINNING: &str = "use ff_sdk::{Client, FromInputs, Task}; use serde::{Deserialize, Serialize};";

/// The libraries that a program may use, as `--extern` takes them.
static LIBRARIES: LazyLock<Vec<(&'static str, PathBuf)>> = LazyLock::new(libraries);

/// Checks the SDK, which is a matter of moments where it was checked before, and finds what came of it.
fn libraries() -> Vec<(&'static str, PathBuf)> {
    let cargo = std::env::var("CARGO").expect("tests are run by cargo or cargo-nextest, which set CARGO");
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let checked = Command::new(cargo)
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
fn said_about(program: &str) -> String {
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
fn refuses(program: &str, line: u32, sentence: &str) {
    let said = said_about(program);
    let first = said.split("\nerror").next().unwrap_or_default();
    assert!(first.contains(sentence), "{said}");
    assert!(first.contains(&format!("--> <anon>:{}:", line + 1)), "{said}");
}

#[test]
fn a_program_that_is_right_is_not_refused() {
    let program = "#[derive(Serialize, Deserialize, Task)] #[task(kind = \"a\")] pub struct A {}
        #[derive(FromInputs)] pub struct B { pub b: Vec<String> }
        pub async fn submit(ff: Client) { ff.submit(A {}).await.unwrap(); }";
    assert!(!said_about(program).contains("error"), "{}", said_about(program));
}

#[test]
fn what_is_no_task_is_not_submitted() {
    let program = "pub fn submit(ff: &Client) {\n    let _ = ff.submit(\"text\");\n}";
    refuses(program, 2, "`&str` is not a task");
    let program = "pub struct Plain;\npub fn add(flow: &mut ff_sdk::Flow) {\n    flow.add(Plain);\n}";
    refuses(program, 3, "`Plain` is not a task");
}

#[test]
fn a_wrong_value_is_refused_where_it_stands() {
    let program =
        "#[derive(Serialize, Deserialize, Task)]\n#[task(kind = \"a\", attempt_timeout = \"90\")]\npub struct A {}";
    refuses(program, 2, "\"90\" is no length of time: say a number and a unit");
    let program = "#[derive(Serialize, Deserialize, Task)]\npub struct Nameless {}";
    refuses(program, 2, "a task needs a kind, which workers know it by");
}

#[test]
fn a_wrong_field_is_refused_where_it_stands() {
    let program = "#[derive(FromInputs)]\npub struct I {\n    a: u32,\n    #[input(name = \"a\")]\n    b: u32,\n}";
    refuses(program, 5, "`a` reads the input \"a\" already");
    let program = "pub struct Plain;\n#[derive(FromInputs)]\npub struct I {\n    a: Plain,\n}";
    refuses(program, 4, "the trait bound `Plain: serde");
}

#[test]
fn what_says_nothing_of_inputs_is_none() {
    let program = "#[derive(Serialize, Deserialize, Task)]\n#[task(kind = \"a\", inputs = String)]\npub struct A {}";
    refuses(
        program,
        2,
        "`String` does not say what it reads from the results of upstreams",
    );
}
