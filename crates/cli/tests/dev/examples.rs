//! The Rust programs of `examples/`, each a process that talks to `ff dev`.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::running::Dev;
use crate::{example, stdout};

/// Those that talk to the server in `FF_URL`, with what each says in the end.
const WITH_SERVER: [(&str, &str); 8] = [
    ("agent", "Both have ten legs. (3 calls of the model, 30 tokens)"),
    ("approval", "https://blog.example.org/16"),
    (
        "callback",
        "a lamp for Ana, who paid 4200 cents; the calls were answered with [202, 202, 202]",
    ),
    ("dag", "Report: 42 words"),
    ("encrypting_codec", ""),
    ("gpu_routing", "Crabs, rendered on the workstation"),
    ("hello", "hello Ana"),
    ("tiers", "Why? 42, says the small model."),
];
/// Those that are their own server, and those that need none.
const WITHOUT: [&str; 2] = ["embedded", "virtual_time"];

pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

/// Runs one of them, and gives what it printed.
fn run(dev: &Dev, name: &str) -> String {
    let mut program = Command::new(example(name));
    program.env_clear().env("FF_URL", format!("http://{}", dev.address));
    stdout(&program.output().unwrap())
}

/// The path of the execution that a program says it has submitted.
fn submitted(told: &str) -> String {
    let (_, id) = told.split_once("submitted ").unwrap();
    let id = id.lines().next().unwrap().replace(['{', '}'], "");
    format!("/v1/executions/{id}")
}

#[test]
fn every_rust_example_runs_against_a_server() {
    let folder = tempfile::tempdir().unwrap();
    let dev = Dev::start(folder.path(), &["--memory", "--empty"]);
    for (name, last) in WITH_SERVER {
        let told = run(&dev, name);
        match name {
            "callback" => one_signal_came(&dev, &told),
            "encrypting_codec" => nothing_can_be_read(&dev, &told),
            "gpu_routing" => assert!(told.contains("lacks gpu"), "{told}"),
            _ => {}
        }
        assert!(told.trim_end().ends_with(last), "{name} says otherwise: {told}");
    }
    dev.running.stop();
}

/// Called three times, it was one message.
fn one_signal_came(dev: &Dev, told: &str) {
    let signals = dev.get(&format!("{}/signals", submitted(told)));
    assert_eq!(signals["items"].as_array().map(Vec::len), Some(1), "{signals}");
}

/// The worker read what was submitted; whoever asks the server gets bytes.
fn nothing_can_be_read(dev: &Dev, told: &str) {
    let secret = "Ana, a broken leg";
    assert!(told.contains(&format!("the worker reads: {secret}")), "{told}");
    assert!(told.contains(&format!("with the key: {secret}: today")), "{told}");
    let path = submitted(told);
    for what in ["input", "result"] {
        let url = format!("http://{}{path}/{what}", dev.address);
        let kept = Command::new("curl").args(["-sf", &url]).output().unwrap();
        let bytes = kept.stdout.escape_ascii().to_string();
        assert!(kept.status.success() && bytes.len() > secret.len(), "{what}: {bytes}");
        assert!(!bytes.contains("broken leg"), "{what}: {bytes}");
    }
}

#[test]
fn every_example_is_listed_and_every_program_is_tried() {
    let page = std::fs::read_to_string(folder().join("README.md")).unwrap();
    let entries = folder().read_dir().unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut programs: Vec<String> = Vec::new();
    for name in names.filter(|name| name != "README.md") {
        assert!(
            page.contains(&format!("]({name}")),
            "{name} is missing in examples/README.md"
        );
        programs.extend(name.strip_suffix(".rs").map(str::to_owned));
    }
    let mut tried: Vec<_> = WITH_SERVER.iter().map(|(name, _)| *name).chain(WITHOUT).collect();
    tried.sort_unstable();
    programs.sort();
    assert_eq!(programs, tried);
}
