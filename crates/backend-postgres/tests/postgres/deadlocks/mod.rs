//! Random calls over the same few records, accounts, streams and settings, from processes that know nothing of each other: whatever a
//! call locks, it locks in an order that all calls share, so that nobody ever waits in a circle.
//!
//! `FF_TEST_RACES` says how many calls each process makes at least; a circle is shown with the statements that met in it.

mod accounts;
pub(crate) mod luck;
mod transactions;
pub(crate) mod world;
pub(crate) mod writer;

use std::collections::BTreeMap;
use std::process::{Child, Command, ExitStatus};

use ff_backend_postgres::{Options, migrate};
use ff_postgres_server::Server;

use self::writer::write;

/// Processes that write at the same time.
const PROCESSES: u64 = 4;
/// Calls of each of them, unless somebody has more time.
const CALLS: u64 = 400;

/// Where the database is, and which process this is; set for the process of a writer only.
const DATABASE: &str = "FF_TEST_DEADLOCKS_IN";
const NUMBER: &str = "FF_TEST_DEADLOCKS_WRITER";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn four_processes_that_write_the_same_records_never_wait_in_a_circle() {
    // Waiting is looked at early: what waits for long enough is rare, and a circle is noticed only then.
    let server = Server::start(ff_postgres_server::Options::default().set("deadlock_timeout", "5ms")).await;
    let database = server.create_database().await;
    migrate(&options(server.url(&database))).await.unwrap();
    let writers: Vec<Child> = (0..PROCESSES)
        .map(|number| start_writer(number, &server.url(&database)))
        .collect();
    let ends: Vec<ExitStatus> = writers.into_iter().map(|mut writer| writer.wait().unwrap()).collect();
    let circles = circles(&std::fs::read_to_string(server.log_path()).unwrap());
    let counted = server
        .ask(
            &database,
            "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()",
        )
        .await;
    assert!(circles.is_empty() && counted == "0", "{counted}: {circles:#?}");
    assert!(ends.iter().all(ExitStatus::success), "a writer has failed: {ends:?}");
}

/// What was done by those who were found waiting in a circle, and how often.
fn circles(log: &str) -> BTreeMap<String, usize> {
    let mut circles = BTreeMap::new();
    let mut lines = log.lines();
    while lines.any(|line| line.contains("deadlock detected")) {
        let about = lines.by_ref().skip_while(|line| !line.contains("CONTEXT:"));
        let about = about.take_while(|line| !line.contains("STATEMENT:"));
        // Which row it was says nothing.
        let about = about.map(|line| line.split_once("in relation").map_or(line, |(_, relation)| relation));
        let about: Vec<&str> = about.collect();
        *circles.entry(about.join("\n")).or_default() += 1;
    }
    circles
}

fn start_writer(number: u64, url: &str) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "deadlocks::the_writer", "--nocapture"]);
    command.env(DATABASE, url).env(NUMBER, number.to_string());
    command.spawn().unwrap()
}

/// Not a test of its own: what the process of a writer runs.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_writer() {
    let told = |name| std::env::var(name).ok();
    if let (Some(url), Some(number)) = (told(DATABASE), told(NUMBER)) {
        let calls = told("FF_TEST_RACES").map_or(CALLS, |told| told.parse().expect("FF_TEST_RACES is a number"));
        write(&options(url), number.parse().unwrap(), calls).await;
    }
}

fn options(url: String) -> Options {
    Options {
        may_lose_writes: true,
        ..Options::new(url)
    }
}
