//! Thousands of tasks through one worker process with many at once: no lease is lost, nothing runs twice, and the last thousand takes
//! no more memory than the second.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ff_core::state::PublicState;
use ff_core::view::ExecutionView;
use ff_sdk::prelude::*;
use serde::{Deserialize, Serialize};

use crate::ledger_file::Pen;
use crate::listed::all_executions;
use crate::once_more::{Working, once_more, until_told_to_end};
use crate::served::{Place, Store};
use crate::used::Used;

/// Tasks that the worker runs at once.
const AT_ONCE: usize = 256;
/// How long a handler takes: long enough that so many run at once.
const TAKES: Duration = Duration::from_millis(20);
/// Longer than anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(240);

/// Where the server and the ledger are; set for the process of the worker only.
const SERVER: &str = "FF_TEST_MANY_TASKS_OF";
const LEDGER: &str = "FF_TEST_MANY_TASKS_LEDGER";

#[derive(Serialize, Deserialize, Task)]
#[task(kind = "one-of-many", output = usize)]
struct Job {
    number: usize,
}

async fn run_job(Input(job): Input<Job>, State(pen): State<Pen>) -> Result<usize, TaskError> {
    pen.note(&line(job.number))?;
    tokio::time::sleep(TAKES).await;
    Ok(job.number)
}

/// All lines have the same length.
fn line(number: usize) -> String {
    format!("{number:07}")
}

/// Not a test of its own: what the process of the worker runs.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_worker() {
    let (Ok(server), Ok(ledger)) = (std::env::var(SERVER), std::env::var(LEDGER)) else {
        return;
    };
    let worker = Worker::new(Client::connect(server).open().unwrap());
    let worker = worker.concurrency(AT_ONCE).state(Pen::of(Path::new(&ledger)));
    let worker = worker.task(run_job).build().unwrap();
    worker.run_until(until_told_to_end()).await.unwrap();
}

/// The worker process, and how far it has come.
struct Watched {
    worker: Working,
    ledger: PathBuf,
}

impl Watched {
    fn start(place: &Place) -> Self {
        let ledger = place.folder.path().join("ledger");
        let mut command = once_more("many::worker::the_worker");
        command.env(SERVER, place.url()).env(LEDGER, &ledger);
        let worker = Working::start(&mut command);
        Self { worker, ledger }
    }

    /// Runs of handlers that have begun.
    fn begun(&self) -> usize {
        let bytes = std::fs::metadata(&self.ledger).map_or(0, |file| file.len());
        usize::try_from(bytes).unwrap() / (line(0).len() + 1)
    }

    /// The most memory that was resident from now until so many runs have begun.
    fn most_memory_until(&self, begun: usize) -> u64 {
        let (since, mut most) = (Instant::now(), 0);
        loop {
            most = most.max(Used::by(self.worker.pid()).memory);
            if self.begun() >= begun {
                return most;
            }
            let so_far = self.begun();
            assert!(since.elapsed() < PATIENCE, "{so_far} of {begun} have begun");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Ten thousand with `FF_TEST_MANY=1`, which is for a release build.
fn tasks() -> usize {
    std::env::var_os("FF_TEST_MANY").map_or(1_000, |_| 10_000)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn thousands_of_tasks_in_one_worker_lose_no_lease_run_once_and_leave_no_memory() {
    let (tasks, place) = (tasks(), Place::of(Store::Sqlite));
    let _server = place.serve();
    let client = Client::connect(place.url()).open().unwrap();
    for submitted in client
        .submit_all((0..tasks).map(|number| Job { number }))
        .await
        .unwrap()
    {
        submitted.unwrap();
    }
    let began = Instant::now();
    let watched = Watched::start(&place);
    tokio::task::block_in_place(|| {
        watched.most_memory_until(tasks / 10);
        let second = watched.most_memory_until(tasks / 5);
        watched.most_memory_until(tasks * 9 / 10);
        let last = watched.most_memory_until(tasks);
        let took = began.elapsed();
        let cpu = Used::by(watched.worker.pid()).cpu.as_micros() as f64 / tasks as f64;
        println!("{tasks} tasks in one worker, {AT_ONCE} at once: {took:?}, {cpu:.0} µs of its CPU each");
        println!("  resident {second} bytes in the second tenth, {last} in the last");
        // A tenth of fewer is too little for memory to have found its size.
        assert!(
            tasks < 10_000 || last <= second + second / 10,
            "{second} bytes, then {last}"
        );
    });
    await_ends(&client, tasks).await;
    watched.worker.end();
    let text = std::fs::read_to_string(&watched.ledger).unwrap();
    let mut ran: Vec<&str> = text.lines().collect();
    ran.sort_unstable();
    let expected: Vec<String> = (0..tasks).map(line).collect();
    assert!(
        ran == expected,
        "something ran twice, or not at all: {} runs",
        ran.len()
    );
}

/// Waits until all have ended, each under the first lease that it was ever given.
async fn await_ends(client: &Client, tasks: usize) {
    let begun = Instant::now();
    loop {
        let views = all_executions(client).await;
        assert_eq!(views.len(), tasks);
        let is_done = |view: &&ExecutionView| view.state.public_state == PublicState::Completed;
        if let Some(open) = views.iter().find(|view| !is_done(view)) {
            assert!(begun.elapsed() < PATIENCE, "{open:?} does not end");
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        }
        let lost: Vec<_> = views.iter().filter(|view| view.lease_epoch != 1).collect();
        assert!(lost.is_empty(), "leases were lost: {lost:?}");
        return;
    }
}
