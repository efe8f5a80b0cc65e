//! One round of a bare queue on SQLite: `raw-sqlite TASKS`. Prints its figures as JSON.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use anyhow::Context as _;
use ff_bench::raw::{BATCH, RawQueue};

/// As the product's own binaries have it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> anyhow::Result<()> {
    let tasks = std::env::args()
        .nth(1)
        .context("say how many tasks: raw-sqlite TASKS")?;
    let tasks: u32 = tasks.parse()?;
    let directory = tempfile::tempdir()?;
    let queue = RawQueue::open(&directory.path().join("raw.db"))?;
    // Its first pages and plans, as others have them before they are measured.
    queue.round(BATCH)?;
    let per_second = queue.round(tasks as usize)?;
    let seconds = f64::from(tasks) / per_second;
    println!(
        "{{\"peer\": \"raw\", \"store\": \"SQLite (Full)\", \"scenario\": \"s1\", \"tasks\": {tasks}, \
         \"seconds\": {seconds}, \"per_second\": {per_second}, \"exact\": true}}"
    );
    Ok(())
}
