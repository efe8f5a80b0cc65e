//! A request at a time, by hand: no client of ours stands between a test and the server.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::Value;

/// Longer than anything here takes on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Sends `request`, such as `POST /v1/executions`, and gives what was answered.
pub(crate) fn call(address: &str, request: &str, body: &Value) -> Value {
    let mut connection = TcpStream::connect(address).unwrap();
    let body = body.to_string();
    let length = body.len();
    let head = format!(
        "{request} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n"
    );
    connection.write_all((head + &body).as_bytes()).unwrap();
    let mut reply = String::new();
    connection.read_to_string(&mut reply).unwrap();
    let body = reply.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    serde_json::from_str(body).unwrap_or(Value::Null)
}

/// Reads `path`.
pub(crate) fn get(address: &str, path: &str) -> Value {
    call(address, &format!("GET {path}"), &Value::Null)
}

/// Reads `path`, which is a long poll, until the answer is as it should be.
pub(crate) fn until(address: &str, path: &str, is_so: impl Fn(&Value) -> bool) -> Value {
    let begun = Instant::now();
    loop {
        let answer = get(address, path);
        if is_so(&answer) {
            return answer;
        }
        assert!(begun.elapsed() < PATIENCE, "{path} is still {answer}");
    }
}
