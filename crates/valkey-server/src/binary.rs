//! Where the server binary is.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Functions and sharded publish arrived with 7.0; 7.2 is the oldest release that is still maintained.
const OLDEST: (u32, u32) = (7, 2);

/// The server to start: `FF_VALKEY_SERVER`, else a recent one on `PATH`, else the one `scripts/valkey-server` unpacked.
///
/// # Panics
///
/// When there is none.
pub fn binary() -> PathBuf {
    static FOUND: OnceLock<PathBuf> = OnceLock::new();
    FOUND
        .get_or_init(|| {
            named().or_else(on_path).or_else(unpacked).expect(
                "there is no Valkey server: run `scripts/valkey-server` once, or set FF_VALKEY_SERVER to its path",
            )
        })
        .clone()
}

fn named() -> Option<PathBuf> {
    env::var_os("FF_VALKEY_SERVER")
        .filter(|path| !path.is_empty())
        .map(PathBuf::from)
}

fn on_path() -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    let directories: Vec<_> = env::split_paths(&path).collect();
    ["valkey-server", "redis-server"]
        .iter()
        .flat_map(|name| directories.iter().map(move |directory| directory.join(name)))
        .find(|candidate| version(candidate).is_some_and(|version| version >= OLDEST))
}

/// Tests run from inside the target directory, whatever it is called; examples and the like from inside the repository.
fn unpacked() -> Option<PathBuf> {
    let executable = env::current_exe().ok();
    let places = [
        env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from),
        env::current_dir().ok(),
    ];
    let repositories = places.iter().flatten().flat_map(|place| place.ancestors());
    executable
        .iter()
        .flat_map(|path| path.ancestors())
        .map(Path::to_path_buf)
        .chain(repositories.map(|directory| directory.join("target")))
        .find_map(|target| newest(&target.join("valkey")))
}

/// The server in the last of the directories `<version>/`, of which there is one unless the version was changed.
fn newest(home: &Path) -> Option<PathBuf> {
    let mut names: Vec<OsString> = home
        .read_dir()
        .ok()?
        .filter_map(|entry| Some(entry.ok()?.file_name()))
        .filter(|name| home.join(name).join("valkey-server").is_file())
        .collect();
    names.sort();
    Some(home.join(names.pop()?).join("valkey-server"))
}

/// Read from "Valkey server v=9.1.2 sha=…", which Redis prints alike.
fn version(server: &Path) -> Option<(u32, u32)> {
    let output = Command::new(server).arg("--version").output().ok()?;
    let line = String::from_utf8(output.stdout).ok()?;
    let mut numbers = line.split_once(" v=")?.1.split(['.', ' ']);
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}
