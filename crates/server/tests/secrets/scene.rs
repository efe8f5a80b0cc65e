//! A client that remembers what must not be logged.

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A server on a socket of its own, and what must not be logged.
pub(crate) struct Scene {
    pub(crate) address: std::net::SocketAddr,
    /// What it is, and how it looks.
    pub(crate) secrets: Vec<(&'static str, String)>,
    /// The key that requests carry.
    pub(crate) key: Option<String>,
}

impl Scene {
    /// Sends a request as a client would, and reads the answer to its end.
    pub(crate) async fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> (u16, Value) {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let mut head = format!(
            "{method} {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n",
            self.address
        );
        head += &format!("content-type: application/json\r\ncontent-length: {}\r\n", body.len());
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        if let Some(key) = &self.key {
            head += &format!("authorization: Bearer {key}\r\n");
        }
        stream.write_all(format!("{head}\r\n{body}").as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.unwrap();
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let json = body.find(['{', '[']).map_or("null", |begin| &body[begin..]);
        let json = serde_json::Deserializer::from_str(json).into_iter().next();
        (status, json.and_then(Result::ok).unwrap_or(Value::Null))
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Value {
        let (status, answer) = self.ask("POST", path, &[], &body.to_string()).await;
        assert!(status < 300, "POST {path}: {status} {answer}");
        answer
    }

    /// From now on, this must not be logged.
    pub(crate) fn keep(&mut self, what: &'static str, secret: &Value) -> String {
        let secret = secret
            .as_str()
            .unwrap_or_else(|| panic!("there is no {what}"))
            .to_owned();
        self.secrets.push((what, secret.clone()));
        secret
    }
}

/// The first field of this name, however deep it is.
pub(crate) fn found<'a>(json: &'a Value, name: &str) -> &'a Value {
    fn search<'a>(json: &'a Value, name: &str) -> Option<&'a Value> {
        match json {
            Value::Object(fields) => fields
                .get(name)
                .or_else(|| fields.values().find_map(|value| search(value, name))),
            Value::Array(items) => items.iter().find_map(|item| search(item, name)),
            _ => None,
        }
    }
    search(json, name).unwrap_or_else(|| panic!("no {name} in {json}"))
}

/// What a worker shows of a task.
pub(crate) fn fence_of(task: &Value) -> Value {
    let [lease_id, lease_epoch, attempt_id] = ["lease_id", "lease_epoch", "attempt_id"].map(|name| found(task, name));
    json!({ "lease_id": lease_id, "lease_epoch": lease_epoch, "attempt_id": attempt_id })
}

/// A path may say the id with its braces or percent-encoded.
pub(crate) fn of(id: &Value, rest: &str) -> String {
    let id = id.as_str().unwrap().replace('{', "%7B").replace('}', "%7D");
    format!("/v1/executions/{id}{rest}")
}
