//! A machine that loses power: a killed server keeps what it wrote, a machine only what was forced to disk.

use std::fs::{self, OpenOptions};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use ff_valkey_server::Server;
use tokio::task::JoinHandle;

const LOOK_EVERY: Duration = Duration::from_millis(10);

/// Remembers how long the log of commands was at every moment.
pub(super) struct Power {
    log: PathBuf,
    lengths: Arc<Mutex<Vec<(Instant, u64)>>>,
    watching: JoinHandle<()>,
}

impl Power {
    /// Begins to watch the log of a server that has one.
    pub(super) fn watch(server: &Server) -> Self {
        let folder = server.log_path().with_file_name("appendonlydir");
        let mut files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
        let log = files
            .find(|path| path.to_str().unwrap().ends_with(".incr.aof"))
            .unwrap();
        let lengths = Arc::new(Mutex::new(Vec::new()));
        let (watched, noted) = (log.clone(), Arc::clone(&lengths));
        let watching = tokio::spawn(async move {
            loop {
                let length = fs::metadata(&watched).unwrap().len();
                noted.lock().unwrap().push((Instant::now(), length));
                tokio::time::sleep(LOOK_EVERY).await;
            }
        });
        Self { log, lengths, watching }
    }

    /// Kills the server, and takes away what was written within `unsynced` before; answers how many bytes.
    pub(super) fn fail(&self, server: &Server, unsynced: Duration) -> u64 {
        server.kill();
        let killed_at = Instant::now();
        let written = fs::metadata(&self.log).unwrap().len();
        let mut lengths = self.lengths.lock().unwrap();
        let kept = lengths.iter().find(|(at, _)| killed_at.duration_since(*at) <= unsynced);
        let kept = kept.map_or(written, |(_, length)| *length);
        let log = OpenOptions::new().write(true).open(&self.log).unwrap();
        log.set_len(kept).unwrap();
        lengths.clear();
        written - kept
    }
}

impl Drop for Power {
    fn drop(&mut self) {
        self.watching.abort();
    }
}
