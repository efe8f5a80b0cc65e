//! One process per file: an operating system lock beside it, with a note of who holds it.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use crate::error::Problem;

/// Held as long as the store is open; the operating system lets go of it when the process dies.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock of the database at `path`, or says who has it.
    pub(crate) fn take(path: &Path) -> Result<Self, Problem> {
        let file = private()
            .create(true)
            .truncate(false)
            .open(path.with_added_extension("lock"));
        let mut file = file.map_err(Problem::Lock)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(Problem::Locked(holder(&mut file))),
            Err(TryLockError::Error(source)) => return Err(Problem::Lock(source)),
        }
        file.set_len(0).map_err(Problem::Lock)?;
        write!(file, "process {}", std::process::id()).map_err(Problem::Lock)?;
        Ok(Self { _file: file })
    }
}

/// Opens files that only their owner may read: a store holds payloads and signing keys.
pub(crate) fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).mode(0o600);
    options
}

fn holder(file: &mut File) -> String {
    let mut note = String::new();
    let read = file.rewind().and_then(|()| file.read_to_string(&mut note));
    match read {
        Ok(_) if !note.is_empty() => note,
        _ => "another process".to_owned(),
    }
}
