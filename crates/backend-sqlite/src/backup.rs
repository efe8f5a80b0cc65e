//! A consistent copy of the store while it runs.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::backup::{Backup, Progress, StepResult};
use rusqlite::{Connection, OpenFlags};

use crate::backend::SqliteBackend;
use crate::error::{OpenError, with_file};
use crate::lock::private;

/// Pages copied at a time: 4 MiB.
const PAGES_PER_STEP: i32 = 1_024;
/// Between two steps the disk belongs to the writer.
const PAUSE: Duration = Duration::from_millis(1);

impl SqliteBackend {
    /// Copies the store as it is now to a file that is not there yet, while calls go on; see [`copy_store`].
    pub fn backup(&self, to: &Path) -> Result<(), OpenError> {
        copy_store(&self.shared.options.path, to, |_, _| ())
    }
}

/// Copies the store at `from` as it is now to a file that is not there yet, also while this or another process uses it. Blocks
/// until the copy is on disk, and says after each step how many pages of how many are copied.
///
/// The copy holds payloads and signing keys like the store itself, and only its owner may read it. The write-ahead
/// log grows as long as it takes.
pub fn copy_store(from: &Path, to: &Path, progress: impl FnMut(u64, u64)) -> Result<(), OpenError> {
    let partial = to.with_added_extension("partial");
    // A log that an earlier store has left there would be taken for that of the copy.
    for taken in [to.to_owned(), beside(to, "-wal"), beside(to, "-shm")] {
        if taken.try_exists().map_err(with_file(&taken))? {
            return Err(with_file(&taken)(io::Error::from(io::ErrorKind::AlreadyExists)));
        }
    }
    private().create_new(true).open(&partial).map_err(with_file(&partial))?;
    let copied = copy(from, &partial, progress);
    let copied = copied.and_then(|()| publish(&partial, to).map_err(with_file(to)));
    // Published, it has its name; failed, it is of no use.
    let removed = fs::remove_file(&partial).map_err(with_file(&partial));
    copied.and(removed)
}

fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

fn copy(from: &Path, to: &Path, mut progress: impl FnMut(u64, u64)) -> Result<(), OpenError> {
    let (unreadable, unwritable) = (with_file(from), with_file(to));
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let source = Connection::open_with_flags(from, flags).map_err(&unreadable)?;
    // As long as this transaction reads, every step sees the same moment; without it each write would start the copy anew.
    let moment = source.unchecked_transaction().map_err(&unreadable)?;
    moment
        .query_row("SELECT clock FROM store", [], |_| Ok(()))
        .map_err(&unreadable)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut target = Connection::open_with_flags(to, flags).map_err(&unwritable)?;
    let backup = Backup::new(&moment, &mut target).map_err(&unwritable)?;
    while backup.step(PAGES_PER_STEP).map_err(&unwritable)? != StepResult::Done {
        let Progress { remaining, pagecount } = backup.progress();
        let pages = |count| u64::try_from(count).unwrap_or(0);
        progress(pages(pagecount - remaining), pages(pagecount));
        std::thread::sleep(PAUSE);
    }
    Ok(())
}

/// Gives the finished copy its name. Unlike renaming, linking never replaces a file that came in between.
fn publish(partial: &Path, to: &Path) -> io::Result<()> {
    fs::hard_link(partial, to)?;
    let directory = to.parent().filter(|parent| !parent.as_os_str().is_empty());
    File::open(directory.unwrap_or(Path::new(".")))?.sync_all()
}
