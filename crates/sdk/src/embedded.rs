//! An engine inside the program: no other process, and its store is a file beside it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use ff_backend::Backend;
use ff_backend::memory::MemoryBackend;
use ff_backend_sqlite::{Options, SqliteBackend};
use ff_core::partition::PartitionCounts;
use ff_engine::{Config, Host, TokioHost};
use futures::future::BoxFuture;
use tokio::runtime::Handle;

pub use ff_engine::Engine;

use crate::client::timestamp;
use crate::duration::millis;
use crate::worker::thread;

/// How often a store in memory is told the time.
const TICK: Duration = Duration::from_millis(2);

/// Why an engine was not opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The address names no store that can be opened here.
    #[error("there is no store {address:?} to embed: say sqlite:path/to/file.db, or memory: for one that forgets")]
    UnknownStore {
        /// As it was given.
        address: String,
    },
    /// The folder of the file is not there and cannot be made.
    #[error("the folder {} cannot be made: {source}", folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// The system gives no thread.
    #[error("the engine's own thread cannot be started: {0}")]
    NoThread(#[source] std::io::Error),
    /// The file cannot be opened.
    #[error(transparent)]
    File(#[from] ff_backend_sqlite::OpenError),
}

/// An engine over the store at `address`, running: `sqlite:app.db` is a file, made when it is not there, which one process
/// opens at a time; `memory:` forgets everything when the process ends.
///
/// What it does besides the calls of its callers it does on the thread of the workers, so that a handler that blocks its thread
/// does not block the engine.
///
/// ```no_run
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// use ff_sdk::{Client, embedded};
///
/// let engine = embedded::open("sqlite:app.db").await?;
/// let ff = Client::local(engine.clone());
/// // … and when the program ends:
/// engine.stop().await;
/// # Ok(())
/// # }
/// ```
pub async fn open(address: &str) -> Result<Engine, OpenError> {
    let counts = PartitionCounts::default();
    let runtime = thread::runtime().map_err(OpenError::NoThread)?;
    let store: Arc<dyn Backend> = match address.split_once(':') {
        Some(("memory", "")) => memory(counts, runtime),
        Some(("sqlite", path)) => sqlite(path.strip_prefix("//").unwrap_or(path), counts)?,
        _ => {
            return Err(OpenError::UnknownStore {
                address: address.to_owned(),
            });
        }
    };
    let host = OwnThread {
        process: TokioHost::new(),
        runtime,
    };
    let engine = Engine::new(store, Arc::new(host), Config::new(counts));
    engine.start();
    Ok(engine)
}

/// This process, whose background work has a thread of its own.
struct OwnThread {
    process: TokioHost,
    runtime: &'static Handle,
}

impl Host for OwnThread {
    fn elapsed(&self) -> Duration {
        self.process.elapsed()
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        self.process.sleep(duration)
    }

    fn random(&self) -> u128 {
        self.process.random()
    }

    fn spawn(&self, task: BoxFuture<'static, ()>) {
        self.runtime.spawn(task);
    }
}

fn sqlite(path: &str, counts: PartitionCounts) -> Result<Arc<SqliteBackend>, OpenError> {
    if let Some(folder) = Path::new(path).parent() {
        std::fs::create_dir_all(folder).map_err(|source| OpenError::Folder {
            folder: folder.to_owned(),
            source,
        })?;
    }
    let options = Options {
        counts,
        ..Options::new(path)
    };
    Ok(Arc::new(SqliteBackend::open(&options)?))
}

/// A store in memory has no clock of its own: it is lent that of the process, until it is dropped.
fn memory(counts: PartitionCounts, runtime: &Handle) -> Arc<MemoryBackend> {
    let store = Arc::new(MemoryBackend::new(timestamp(SystemTime::now()), counts));
    let (lent, start) = (Arc::downgrade(&store), Instant::now());
    runtime.spawn(async move {
        let (mut ticks, mut told) = (tokio::time::interval(TICK), Duration::ZERO);
        while let Some(store) = lent.upgrade() {
            let elapsed = Duration::from_millis(millis(start.elapsed()).as_millis());
            store.advance(millis(elapsed - told));
            told = elapsed;
            drop(store);
            ticks.tick().await;
        }
    });
    store
}
