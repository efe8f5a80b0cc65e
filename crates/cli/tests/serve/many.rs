//! Thousands who wait: each has its place or is told that there is none, none costs the store anything or much memory, and
//! nothing is lost.

mod worker;

use std::collections::BTreeSet;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::crowd::Crowd;
use crate::running::{Running, between};
use crate::used::Used;

/// How many there are.
struct Numbers {
    /// Waiting requests of each of two keys: claims, and every tenth waits for an end.
    polls_per_key: usize,
    wait_ms: u64,
    /// How long nothing happens, twice: in all of them longer than from one sweep to the next.
    idle: Duration,
    /// Streams one key asks for, and is served.
    streams_asked: usize,
    streams_max: usize,
}

impl Numbers {
    /// All of them with `FF_TEST_MANY=1`, which is for a release build.
    fn chosen() -> Self {
        match std::env::var_os("FF_TEST_MANY") {
            Some(_) => Self {
                polls_per_key: 5_000,
                wait_ms: 30_000,
                idle: Duration::from_secs(11),
                streams_asked: 20_000,
                streams_max: 2_000,
            },
            None => Self {
                polls_per_key: 250,
                wait_ms: 6_000,
                idle: Duration::from_millis(1_500),
                streams_asked: 600,
                streams_max: 300,
            },
        }
    }
}

/// Tasks that are submitted while everybody waits.
const TASKS: usize = 100;
/// Bytes a connection that waits may take, in a debug build.
const BYTES_MAX: u64 = 64 * 1024;
/// Calls to the store a second that are made by what runs in the background, however many wait.
const CALLS_PER_SECOND_MAX: f64 = 5.0;

/// Calls to the store so far.
fn calls(server: &Running) -> u64 {
    gauge(server, "ff_backend_call_seconds_count")
}

/// The sum of all rows of a metric.
#[expect(clippy::cast_possible_truncation, reason = "a count")]
fn gauge(server: &Running, name: &str) -> u64 {
    let told = server.ask("GET", "/metrics", "");
    let rows = told.lines().filter(|line| line.split(['{', ' ']).next() == Some(name));
    let values = rows.map(|row| row.rsplit(' ').next().unwrap().parse::<f64>().unwrap());
    values.sum::<f64>() as u64
}

fn await_gauge(server: &Running, name: &str, wanted: usize) {
    let began = Instant::now();
    loop {
        let found = gauge(server, name);
        if found == wanted as u64 {
            return;
        }
        assert!(
            began.elapsed() < Duration::from_secs(20),
            "{name} is {found}, not {wanted}"
        );
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn start(numbers: &Numbers) -> Running {
    let limits = [numbers.polls_per_key, numbers.streams_max].map(|limit| limit.to_string());
    let mut command = Command::new(env!("CARGO_BIN_EXE_ff"));
    command.args(["serve", "--store", "memory:", "--listen", "127.0.0.1:0"]);
    command.args(["--parked-polls-per-key-max", &limits[0]]);
    command.args(["--streams-per-key-max", &limits[1]]);
    // A line for each of them would be in the way of the figures.
    Running::start(command.env("FF_LOG", "warn"))
}

/// Makes a key and answers it.
fn key(server: &Running, name: &str) -> String {
    let made = server.ask(
        "POST",
        "/v1/admin/keys",
        &format!(r#"{{"name":"{name}","role":"admin"}}"#),
    );
    between(&made, r#""key":""#).to_owned()
}

fn submit(server: &Running, lane: &str) -> String {
    let body = format!(r#"{{"execution_kind":"job","lane_id":"{lane}"}}"#);
    let made = server.ask("POST", "/v1/executions", &body);
    between(&made, r#""execution_id":""#).to_owned()
}

/// Looks at a server with which nothing happens, and prints what those who wait cost.
fn expect_little(server: &Running, numbers: &Numbers, who: &str, waiting: usize, before: &Used) {
    let mut now = (Used::by(server.pid()), calls(server));
    let each = now.0.memory.saturating_sub(before.memory) / waiting as u64;
    println!("{waiting} {who}: {each} bytes each");
    assert!(each < BYTES_MAX, "{each} bytes for each of {waiting} {who}");
    // The first sweep after somebody began to wait may have it look once.
    let calls = [(); 2].map(|()| {
        std::thread::sleep(numbers.idle);
        let began = std::mem::replace(&mut now, (Used::by(server.pid()), calls(server)));
        let (cpu, calls) = (now.0.cpu - began.0.cpu, now.1 - began.1);
        println!(
            "  in {:?} without work {cpu:?} of CPU and {calls} calls to the store",
            numbers.idle
        );
        calls
    });
    let calls = calls.into_iter().min().unwrap();
    assert!(
        (calls as f64) < CALLS_PER_SECOND_MAX * (numbers.idle.as_secs_f64() + 1.0),
        "{calls} calls to the store for {waiting} {who}"
    );
}

#[test]
fn thousands_who_wait_have_their_places_cost_nothing_and_lose_nothing() {
    let numbers = Numbers::chosen();
    let mut server = start(&numbers);
    let one = key(&server, "one");
    server.key = Some(one.clone());
    let other = key(&server, "other");
    let mut crowd = Crowd::of(&server.address);
    polls(&server, &mut crowd, &numbers, [&one, &other]);
    streams(&server, &mut crowd, &numbers, [&one, &other]);
    crowd.follow(&other, numbers.streams_max, "/v1/events");
    assert!(server.stop() < Duration::from_secs(15), "with many streams open");
}

fn polls(server: &Running, crowd: &mut Crowd, numbers: &Numbers, keys: [&str; 2]) {
    let before = Used::by(server.pid());
    let awaited = submit(server, "nobody");
    let (claims, ends) = (numbers.polls_per_key * 9 / 10, numbers.polls_per_key / 10);
    let wait_ms = numbers.wait_ms;
    let claim = format!(r#"{{"worker_id":"w","lanes":["work"],"max":1,"wait_ms":{wait_ms}}}"#);
    for (name, key) in ["a", "b"].into_iter().zip(keys) {
        crowd.ask(key, claims, "POST", &format!("/v1/workers/{name}-{{n}}/tasks"), &claim);
        let wait = format!("/v1/executions/{awaited}/wait?wait_ms={wait_ms}");
        crowd.ask(key, ends, "GET", &wait, "");
    }
    let waiting = 2 * (claims + ends);
    await_gauge(server, "ff_http_parked_polls", waiting);
    let late = server.ask("GET", &format!("/v1/executions/{awaited}/wait?wait_ms=1"), "");
    assert!(
        late.starts_with("HTTP/1.1 429") && late.contains("too_many_streams"),
        "{late}"
    );

    expect_little(server, numbers, "waiting requests", waiting, &before);
    let submitted: BTreeSet<String> = (0..TASKS).map(|_| submit(server, "work")).collect();
    let cancelled = server.ask(
        "POST",
        &format!("/v1/executions/{awaited}/cancel"),
        r#"{"reason":"enough"}"#,
    );
    assert!(cancelled.starts_with("HTTP/1.1 200"), "{cancelled}");
    // Nobody renews a lease here: a task may be handed out once more, but none is left.
    assert_eq!(crowd.hear(), (waiting, submitted));
    await_gauge(server, "ff_http_parked_polls", 0);
}

fn streams(server: &Running, crowd: &mut Crowd, numbers: &Numbers, [one, other]: [&str; 2]) {
    let before = Used::by(server.pid());
    let running = submit(server, "nobody");
    let (asked, most) = (numbers.streams_asked, numbers.streams_max);
    let output = format!("/v1/executions/{running}/stream");
    assert_eq!(crowd.follow(one, most / 2, &output), (most / 2, 0));
    let served_and_refused = (most - most / 2, asked - most);
    assert_eq!(crowd.follow(one, asked - most / 2, "/v1/events"), served_and_refused);
    assert_eq!(
        crowd.follow(other, 1, "/v1/events"),
        (1, 0),
        "the other key has its own"
    );
    expect_little(server, numbers, "readers of streams", most + 1, &before);
    crowd.leave();
    await_gauge(server, "ff_http_streams", 0);
    assert_eq!(crowd.follow(one, 1, &output), (1, 0), "places are free again");
}
