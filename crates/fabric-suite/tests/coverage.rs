//! The suite tries every operation of the interface and every code a caller can provoke through it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use ff_core::error::Code;
use ff_core::fabric::OPERATIONS;
use ff_fabric_suite::cases;

/// Codes no case provokes, and why none can.
const OUT_OF_REACH: &[(Code, &str)] = &[
    (Code::InvalidCapabilities, "a set that is wrong cannot be made"),
    (Code::InvalidKid, "a kid that is wrong cannot be made"),
    (Code::InvalidSecretHex, "a secret that is wrong cannot be made"),
    (Code::Unauthenticated, "HTTP: a case has no credential to lack"),
    (Code::NotFound, "HTTP: a route that is not there"),
    (Code::MethodNotAllowed, "HTTP"),
    (Code::RequestTimeout, "HTTP: a body that comes too slowly"),
    (Code::CallbackClosed, "HTTP: callbacks"),
    (Code::UnsupportedMediaType, "HTTP"),
    (Code::RateLimited, "HTTP: limits per key"),
    (Code::LaneNotFound, "a lane is created on first use"),
    (
        Code::MaxReclaimsExceeded,
        "needs a reclaim grace; otherwise the execution has failed before anybody asks",
    ),
    (Code::TooManyStreams, "20,000 reads would have to wait at the same time"),
    (Code::Contention, "the engine tries again until others are done"),
    (Code::Internal, "a mistake of the implementation"),
    (Code::Unavailable, "the store is there"),
    (Code::ShuttingDown, "the harness does not stop its fabric"),
    (Code::Timeout, "the store answers"),
];

#[test]
fn every_operation_is_called_by_a_case() {
    let suite = text_of(&sources("src"));
    let missing: Vec<_> = OPERATIONS
        .iter()
        .filter(|operation| !suite.contains(&format!(".{}(", operation.name)))
        .collect();
    assert!(missing.is_empty(), "no case calls {missing:?}");
}

#[test]
fn every_code_a_caller_can_provoke_is_expected_by_a_case() {
    let suite = text_of(&sources("src"));
    let is_expected = |code: &Code| suite.contains(&format!("Code::{code:?}"));
    let is_out_of_reach = |code: &Code| OUT_OF_REACH.iter().any(|(known, _)| known == code);
    for code in Code::ALL {
        assert_ne!(
            is_expected(code),
            is_out_of_reach(code),
            "{code}: either a case expects it, or the list says why none can"
        );
    }
}

#[test]
fn every_case_has_its_own_name() {
    let cases = cases();
    let names: BTreeSet<_> = cases.iter().map(|case| (case.subject, case.name)).collect();
    assert_eq!(names.len(), cases.len());
}

/// The Rust files of a directory of this crate, at any depth.
fn sources(directory: &str) -> Vec<PathBuf> {
    let mut directories = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join(directory)];
    let mut files = Vec::new();
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(&directory).expect("the sources are beside the tests") {
            let path = entry.expect("a directory can be read").path();
            if path.is_dir() {
                directories.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    files
}

fn text_of(files: &[PathBuf]) -> String {
    let text = |file| fs::read_to_string(file).expect("a source file is text");
    files.iter().map(text).collect()
}
