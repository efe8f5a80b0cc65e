//! Where a program in Rust finds the SDK: it is in no registry yet, so that its sources have to be there.

use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::failure::{Class, Failure};

const MANIFEST: &str = include_str!("../../templates/rust/Cargo.toml");
/// What stands for the folder of the SDK.
const PLACE: &str = "{sdk}";

/// The manifest of a program that uses the SDK in this folder, or in the sources that this program was built from.
pub(super) fn manifest(given: Option<&Path>) -> anyhow::Result<String> {
    let sdk = match given {
        Some(given) => given.to_owned(),
        None => found().ok_or_else(missing)?,
    };
    let sdk = sdk
        .canonicalize()
        .with_context(|| format!("there is no {}", sdk.display()))?;
    let written = toml::Value::from(sdk.display().to_string()).to_string();
    Ok(MANIFEST.replace(&format!("\"{PLACE}\""), &written))
}

/// The SDK beside this program: it stands in the `target` of its sources.
fn found() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    let sdks = program.ancestors().map(|folder| folder.join("crates/sdk"));
    sdks.into_iter().find(|sdk| sdk.join("Cargo.toml").is_file())
}

fn missing() -> anyhow::Error {
    let failure = Failure::new(
        Class::NotFound,
        "the sources of ff-sdk are not beside this program, and it is in no registry yet",
    );
    failure
        .advise("Name them: ff init rust --sdk FLOWFABRIC/crates/sdk. Or begin with python or shell.")
        .into()
}
