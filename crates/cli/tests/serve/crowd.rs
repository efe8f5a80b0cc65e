//! Thousands of clients in a process of their own, which has its own limit of open files: this test binary once more, told on
//! its standard input what to do.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::Duration;

use crate::once_more::once_more;
use crate::running::between;

/// Where the server is; set for the process of the clients only.
const SERVER: &str = "FF_TEST_CROWD_OF";
/// What an answer begins with: the test harness prints lines of its own.
const ANSWER: &str = "> ";
/// No answer is waited for longer.
const PATIENCE: Duration = Duration::from_secs(90);

/// The process of the clients, as the test sees it.
pub(crate) struct Crowd {
    process: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Crowd {
    pub(crate) fn of(server: &str) -> Self {
        let mut process = once_more("crowd::the_clients")
            .env(SERVER, server)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Self {
            orders: process.stdin.take().unwrap(),
            answers: BufReader::new(process.stdout.take().unwrap()),
            process,
        }
    }

    /// Asks `count` times, each on a connection of its own, and waits for no answer. `{n}` in the path is a number.
    pub(crate) fn ask(&mut self, key: &str, count: usize, method: &str, path: &str, body: &str) {
        assert_eq!(
            self.order(&["ask", key, &count.to_string(), method, path, body]),
            "asked"
        );
    }

    /// The same for streams: what is refused is let go at once. How many were served and how many had too many.
    pub(crate) fn follow(&mut self, key: &str, count: usize, path: &str) -> (usize, usize) {
        let told = self.order(&["follow", key, &count.to_string(), path]);
        let (served, refused) = told.split_once(' ').unwrap();
        (served.parse().unwrap(), refused.parse().unwrap())
    }

    /// Waits for the answers to all that was asked; how many of them are a success, and the executions they hand out.
    pub(crate) fn hear(&mut self) -> (usize, BTreeSet<String>) {
        let told = self.order(&["hear"]);
        let mut words = told.split(' ').map(str::to_owned);
        (words.next().unwrap().parse().unwrap(), words.collect())
    }

    /// Lets all connections go.
    pub(crate) fn leave(&mut self) {
        assert_eq!(self.order(&["leave"]), "left");
    }

    fn order(&mut self, words: &[&str]) -> String {
        writeln!(self.orders, "{}", words.join("\t")).unwrap();
        let mut line = String::new();
        loop {
            line.clear();
            assert!(self.answers.read_line(&mut line).unwrap() > 0, "the clients are gone");
            if let Some((_, answer)) = line.split_once(ANSWER) {
                return answer.trim_end().to_owned();
            }
        }
    }
}

impl Drop for Crowd {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Not a test of its own: what the process of the clients runs.
#[test]
fn the_clients() {
    let Ok(server) = std::env::var(SERVER) else { return };
    let mut held = Vec::new();
    for line in std::io::stdin().lines() {
        let line = line.unwrap();
        let words: Vec<&str> = line.split('\t').collect();
        let answer = match words[..] {
            ["ask", key, count, method, path, body] => {
                held.extend((0..count.parse().unwrap()).map(|n: usize| {
                    let path = path.replace("{n}", &n.to_string());
                    begin(&server, key, method, &path, body)
                }));
                "asked".to_owned()
            }
            ["follow", key, count, path] => follow(&server, key, count.parse().unwrap(), path, &mut held),
            ["hear"] => hear(std::mem::take(&mut held)),
            ["leave"] => {
                held.clear();
                "left".to_owned()
            }
            _ => panic!("unknown: {line}"),
        };
        println!("{ANSWER}{answer}");
    }
}

fn begin(server: &str, key: &str, method: &str, path: &str, body: &str) -> TcpStream {
    let mut stream = TcpStream::connect(server).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let length = body.len();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {key}\r\n\
         content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    stream
}

fn follow(server: &str, key: &str, count: usize, path: &str, held: &mut Vec<TcpStream>) -> String {
    let (mut served, mut refused) = (0, 0);
    for _ in 0..count {
        let mut stream = begin(server, key, "GET", path, "");
        let mut bytes = [0; 2_048];
        let read = stream.read(&mut bytes).unwrap();
        let told = String::from_utf8_lossy(&bytes[..read]).to_lowercase();
        if told.starts_with("http/1.1 200") {
            served += 1;
            held.push(stream);
        } else {
            let is_clear = told.starts_with("http/1.1 429")
                && told.contains("too_many_streams")
                && told.contains("\r\nretry-after: ");
            assert!(is_clear, "{told}");
            refused += 1;
        }
    }
    format!("{served} {refused}")
}

fn hear(held: Vec<TcpStream>) -> String {
    let (mut successes, mut handed_out) = (0, String::new());
    for mut stream in held {
        let told = answer(&mut stream);
        successes += usize::from(told.starts_with("HTTP/1.1 200"));
        if told.contains(r#""lease_epoch""#) {
            handed_out += &format!(" {}", between(&told, r#""execution_id":""#));
        }
    }
    format!("{successes}{handed_out}")
}

/// One whole answer; the connection stays open behind it.
fn answer(stream: &mut TcpStream) -> String {
    let mut told = String::new();
    let mut bytes = [0; 4_096];
    loop {
        if let Some((head, body)) = told.split_once("\r\n\r\n") {
            let head = head.to_lowercase();
            let length = head.split_once("content-length: ").map(|(_, rest)| rest.lines().next());
            let length: usize = length.flatten().unwrap_or_default().trim().parse().unwrap();
            if body.len() >= length {
                return told;
            }
        }
        let read = stream.read(&mut bytes).unwrap();
        assert!(read > 0, "it ended in the middle: {told}");
        told += &String::from_utf8_lossy(&bytes[..read]);
    }
}
