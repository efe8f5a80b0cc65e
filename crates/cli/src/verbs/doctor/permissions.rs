//! Who can read what only its owner should.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::Finding;
use crate::config::Config;
use crate::open::Address;

/// Others than the owner may read or write.
const OTHERS: u32 = 0o077;

/// What the settings name, as files.
pub(super) fn of_config(config: &Config) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Address::File(path) = &config.store {
        findings.extend(private(path, "the store, with its payloads and signing keys"));
        findings.extend(writable(path));
    }
    if let Some(path) = &config.tls_key {
        findings.extend(private(path, "the key of the certificate"));
    }
    findings
}

fn private(path: &Path, what: &str) -> Option<Finding> {
    let mode = fs::metadata(path).ok()?.permissions().mode();
    (mode & OTHERS != 0).then(|| {
        let path = path.display();
        let detail = format!("others on this machine can read {path}: {what}");
        Finding::doubtful("files", detail, format!("chmod 600 {path}"))
    })
}

/// A store that is there must be one that can be written.
fn writable(path: &Path) -> Option<Finding> {
    let is_read_only = fs::metadata(path).ok()?.permissions().readonly();
    is_read_only.then(|| {
        let path = path.display();
        let detail = format!("{path} cannot be written");
        Finding::bad("files", detail, format!("chmod u+w {path}, or run as its owner."))
    })
}
