//! `ff dev` and what it starts, in processes of their own.

#![expect(clippy::unwrap_used, reason = "a test that cannot set its scene has failed")]

mod conformance;
mod demo;
mod example_folders;
mod examples;
mod exec;
mod init;
mod ports;
mod running;
#[path = "../support/mod.rs"]
mod support;
mod virtual_clock;
mod waiting;
mod workers;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// `ff` in a folder, with nothing of what this process was told.
fn ff(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ff"));
    command.current_dir(folder);
    for variable in ["FF_URL", "FF_KEY", "FF_LOG", "FF_DEV_STORE", "FF_DEV_PORT", "FF_DRAIN"] {
        command.env_remove(variable);
    }
    command
}

/// An example of this workspace. Those of this package are built with its tests.
fn example(name: &str) -> PathBuf {
    let built = Path::new(env!("CARGO_BIN_EXE_ff"))
        .with_file_name("examples")
        .join(name);
    assert!(
        built.is_file(),
        "{} is missing: cargo build --workspace --examples",
        built.display()
    );
    built
}

fn stdout(output: &Output) -> String {
    let told = String::from_utf8(output.stdout.clone()).unwrap();
    assert!(output.status.success(), "{told}\n{}", stderr(output));
    told
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}
