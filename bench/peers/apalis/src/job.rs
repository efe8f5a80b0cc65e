//! Tasks, and which of them ran.

use std::fs::File;
use std::io::Read;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use serde::{Deserialize, Serialize};
use tokio::sync::Notify;

#[derive(Clone, Serialize, Deserialize)]
pub struct Job {
    number: usize,
    payload: String,
}

impl Job {
    pub fn new(number: usize, payload: &str) -> Self {
        let payload = payload.to_owned();
        Self { number, payload }
    }
}

/// How often every task ran, by its number.
pub struct Runs {
    times: Vec<AtomicU32>,
    all: AtomicUsize,
    more: Notify,
}

impl Runs {
    pub fn of(tasks: usize) -> Self {
        Self {
            times: (0..tasks).map(|_| AtomicU32::new(0)).collect(),
            all: AtomicUsize::new(0),
            more: Notify::new(),
        }
    }

    pub fn ran(&self, job: &Job) {
        self.times[job.number].fetch_add(1, Ordering::Relaxed);
        self.all.fetch_add(1, Ordering::Relaxed);
        self.more.notify_one();
    }

    /// Waits until bodies ran so many times.
    pub async fn reach(&self, count: usize) {
        while self.all.load(Ordering::Relaxed) < count {
            self.more.notified().await;
        }
    }

    /// Refuses a run that lost a task or ran one twice.
    pub fn check(&self) -> anyhow::Result<()> {
        for (number, times) in self.times.iter().enumerate() {
            let times = times.load(Ordering::Relaxed);
            anyhow::ensure!(times == 1, "task {number} ran {times} times");
        }
        Ok(())
    }
}

/// Text of so many bytes that no database can make smaller.
pub fn incompressible(bytes: usize) -> anyhow::Result<String> {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut random = vec![0; bytes];
    File::open("/dev/urandom")?.read_exact(&mut random)?;
    Ok(random
        .into_iter()
        .map(|byte| char::from(LETTERS[usize::from(byte % 64)]))
        .collect())
}
