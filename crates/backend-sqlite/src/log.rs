//! How far the write-ahead log is on disk, and answering the calls that wait for it.
//!
//! The writer goes on with the next batch while the one before is being synced. What is committed and not on disk yet is shown to
//! nobody: calls that wrote it are answered after the sync, and reads that may have seen it wait for that too.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SendError, Sender, channel};

use ff_backend::{Error, Result};
use tokio::sync::watch;

use crate::batch::Noted;
use crate::options::{Durability, Options};
use crate::shared::Shared;
use crate::thread::Thread;

/// Answers a call whose batch is on disk, or lost.
pub(crate) type Answer = Box<dyn FnOnce(Result<()>) + Send>;
/// Puts on disk what stands in the log.
pub(crate) type SyncLog = Box<dyn FnMut() -> io::Result<()> + Send>;

/// What makes a commit of this store durable.
pub(crate) fn sync_of(options: &Options) -> io::Result<SyncLog> {
    if options.durability == Durability::Normal {
        // SQLite syncs the log before it is moved.
        return Ok(Box::new(|| Ok(())));
    }
    let mut name = options.path.clone().into_os_string();
    name.push("-wal");
    let log = OpenOptions::new().read(true).write(true).open(name)?;
    sync_directory(&options.path)?;
    Ok(Box::new(move || log.sync_data()))
}

/// A log that nobody finds again is of no use: its name is put on disk too.
fn sync_directory(path: &Path) -> io::Result<()> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    match cfg!(unix) {
        true => File::open(parent.unwrap_or(Path::new(".")))?.sync_all(),
        false => Ok(()),
    }
}

/// Which commits have begun, and which are on disk, by number.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    begun: AtomicU64,
    on_disk: watch::Sender<OnDisk>,
}

#[derive(Clone, Copy, Debug, Default)]
struct OnDisk {
    commit: u64,
    /// Nothing more will be.
    is_lost: bool,
}

impl Progress {
    /// The number of a commit that readers may see from now on.
    pub(crate) fn begin(&self) -> u64 {
        self.begun.fetch_add(1, Ordering::SeqCst) + 1
    }

    /// The commit that begun last came to nothing.
    pub(crate) fn take_back(&self) {
        self.begun.fetch_sub(1, Ordering::SeqCst);
    }

    /// No commit with a greater number can have been seen until now.
    pub(crate) fn begun(&self) -> u64 {
        self.begun.load(Ordering::SeqCst)
    }

    /// Waits until a commit is on disk; whether it is.
    pub(crate) async fn reach(&self, commit: u64) -> bool {
        let mut on_disk = self.on_disk.subscribe();
        let reached = on_disk
            .wait_for(|on_disk| on_disk.is_lost || on_disk.commit >= commit)
            .await;
        reached.is_ok_and(|on_disk| on_disk.commit >= commit)
    }

    fn reached(&self, commit: u64) {
        self.on_disk.send_modify(|on_disk| on_disk.commit = commit);
    }

    /// Nobody need wait any more.
    pub(crate) fn lose(&self) {
        self.on_disk.send_modify(|on_disk| on_disk.is_lost = true);
    }
}

/// A batch that stands in the log.
pub(crate) struct Committed {
    /// The number of its commit.
    pub(crate) number: u64,
    pub(crate) answers: Vec<Answer>,
    pub(crate) hints: Vec<Noted>,
}

/// A thread that syncs the log and answers. It ends, with everything answered, when this is dropped.
#[derive(Debug)]
pub(crate) struct Log {
    // Before the thread, which ends when nobody can commit any more.
    commits: Sender<Committed>,
    shared: Arc<Shared>,
    _thread: Thread,
}

impl Log {
    /// Starts the thread; `synced` is called after each sync with how many batches it covered.
    pub(crate) fn start(
        shared: Arc<Shared>,
        mut sync: SyncLog,
        synced: impl Fn(usize) + Send + 'static,
    ) -> io::Result<Self> {
        let (commits, waiting) = channel::<Committed>();
        let kept = Arc::clone(&shared);
        let thread = Thread::start("ff-sqlite-sync", move || {
            while let Ok(first) = waiting.recv() {
                let mut group = vec![first];
                group.extend(waiting.try_iter());
                let (count, outcome) = (group.len(), put_on_disk(&shared, &mut sync));
                // First: the writer waits for nothing else.
                synced(count);
                for committed in group {
                    answer(&shared, committed, &outcome);
                }
            }
        })?;
        Ok(Self {
            commits,
            shared: kept,
            _thread: thread,
        })
    }

    /// Answers what was committed once it is on disk.
    pub(crate) fn sync(&self, committed: Committed) {
        if let Err(SendError(committed)) = self.commits.send(committed) {
            let why = "the thread that syncs the log has panicked; restart to open the store anew";
            self.shared.stop(why);
            answer(&self.shared, committed, &Err(Error::Unknown(why.to_owned())));
        }
    }
}

/// A failed sync must not be tried again on the same handle: what was to be written may be forgotten by then.
fn put_on_disk(shared: &Shared, sync: &mut SyncLog) -> Result<()> {
    if shared.stopped.get().is_none()
        && let Err(error) = sync()
    {
        tracing::error!(%error, "the log could not be synced and the store stopped writing; restart to open it anew");
        shared.stop(&format!(
            "the log could not be synced and the store stopped writing: {error}"
        ));
    }
    match shared.stopped.get() {
        None => Ok(()),
        Some(why) => Err(Error::Unknown(why.clone())),
    }
}

fn answer(shared: &Shared, committed: Committed, outcome: &Result<()>) {
    if outcome.is_ok() {
        shared.progress.reached(committed.number);
        // Before the answers: whoever has its own finds the marks moved.
        let mut board = shared.hints();
        for noted in committed.hints {
            noted.put_on(&mut board);
        }
        board.send();
    }
    for answer in committed.answers {
        answer(outcome.clone());
    }
}
