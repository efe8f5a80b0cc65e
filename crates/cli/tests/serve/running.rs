//! A server in a process of its own.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// A server in a process of its own.
pub(crate) struct Running {
    process: Child,
    lines: BufReader<ChildStdout>,
    pub(crate) told: String,
    pub(crate) address: String,
    pub(crate) key: Option<String>,
}

impl Running {
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap());
        let (mut told, mut line) = (String::new(), String::new());
        while !line.starts_with("listening on ") {
            line.clear();
            assert!(lines.read_line(&mut line).unwrap() > 0, "it ended: {told}");
            told += &line;
        }
        let address = line.trim_end().rsplit("//").next().unwrap().to_owned();
        Self {
            process,
            lines,
            told,
            address,
            key: None,
        }
    }

    pub(crate) fn ask(&self, method: &str, path: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let length = body.len();
        let shown = self.key.iter().map(|key| format!("authorization: Bearer {key}\r\n"));
        let shown = shown.collect::<String>();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\n\
             {shown}content-length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// Ends it as nobody should, and waits until it is gone.
    pub(crate) fn kill(mut self) {
        self.process.kill().unwrap();
        let status = self.process.wait().unwrap();
        assert_eq!(status.signal(), Some(9), "it had ended before: {status}");
    }

    /// Stops it where it is, with everything it holds.
    pub(crate) fn pause(&self) {
        self.signal("-STOP");
    }

    /// Lets it go on.
    pub(crate) fn resume(&self) {
        self.signal("-CONT");
    }

    fn signal(&self, signal: &str) {
        let pid = self.process.id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
    }

    pub(crate) fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Ends it as a system does, and says how long that took.
    pub(crate) fn stop(&mut self) -> Duration {
        let began = Instant::now();
        self.signal("-TERM");
        assert!(self.process.wait().unwrap().success(), "it ends with 0");
        let mut rest = String::new();
        self.lines.read_to_string(&mut rest).unwrap();
        assert!(rest.contains("stopping"), "{rest}");
        began.elapsed()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// What stands in quotes after these words.
pub(crate) fn between<'t>(told: &'t str, before: &str) -> &'t str {
    let rest = told.split(before).nth(1).unwrap_or_else(|| panic!("{told}"));
    rest.split('"').next().unwrap()
}
