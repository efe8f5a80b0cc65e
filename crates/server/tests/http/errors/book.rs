//! Requests that are refused, and how they are written down.

use std::collections::BTreeMap;

use axum::body::Body;
use axum::http::Method;
use ff_core::error::Code;
use serde_json::Value;
use uuid::Uuid;

use crate::scene::{Answer, Scene, request};

/// Members of a problem document that say nothing which is not said beside it.
const EVERYWHERE: [&str; 8] = [
    "code",
    "detail",
    "type",
    "title",
    "status",
    "retryable",
    "request_id",
    "help",
];
/// Longer texts in a request are tokens and padding.
const SHOWN_BYTES_MAX: usize = 60;
/// How many items of a list are shown.
const SHOWN_ITEMS_MAX: usize = 3;

/// The examples, by code.
#[derive(Default)]
pub(super) struct Book(BTreeMap<Code, String>);

/// A request.
pub(super) struct Ask {
    method: Method,
    path: String,
    headers: Vec<(&'static str, String)>,
    body: Value,
    sent: Option<Body>,
}

pub(super) fn get(path: impl Into<String>) -> Ask {
    Ask::new(Method::GET, path, Value::Null)
}

pub(super) fn post(path: impl Into<String>, body: Value) -> Ask {
    Ask::new(Method::POST, path, body)
}

pub(super) fn put(path: impl Into<String>, body: Value) -> Ask {
    Ask::new(Method::PUT, path, body)
}

pub(super) fn delete(path: impl Into<String>) -> Ask {
    Ask::new(Method::DELETE, path, Value::Null)
}

impl Ask {
    fn new(method: Method, path: impl Into<String>, body: Value) -> Self {
        Self {
            method,
            path: path.into(),
            headers: Vec::new(),
            body,
            sent: None,
        }
    }

    pub(super) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// Sends this instead of the body that is shown.
    pub(super) fn sending(mut self, body: Body) -> Self {
        self.sent = Some(body);
        self
    }

    /// As people write it.
    fn shown(&self) -> String {
        let parts = self.path.split_inclusive(['/', '=']);
        let path: String = parts
            .map(|part| if part.len() > SHOWN_BYTES_MAX { "…" } else { part })
            .collect();
        let mut text = format!("{} {path}\n", self.method);
        for (name, value) in &self.headers {
            let value = if *name == "Authorization" { "Bearer …" } else { value };
            text += &format!("{name}: {value}\n");
        }
        if !self.body.is_null() {
            text += &format!("{}\n", spaced(&shortened(&self.body)));
        }
        text
    }

    async fn send(mut self, scene: &Scene) -> Answer {
        let mut asked = request(self.method, &self.path);
        for (name, value) in &self.headers {
            asked = asked.header(*name, value);
        }
        if !self.headers.iter().any(|(name, _)| *name == "Content-Type") {
            asked = asked.header("Content-Type", "application/json");
        }
        let body = if self.body.is_null() {
            String::new()
        } else {
            self.body.to_string()
        };
        scene.send(asked, self.sent.take().unwrap_or_else(|| body.into())).await
    }
}

impl Book {
    /// A request that is refused with this code, and what must have happened before.
    pub(super) async fn add(&mut self, code: Code, before: &str, scene: &Scene, ask: Ask) {
        let shown = ask.shown();
        let answer = ask.send(scene).await;
        assert_eq!(
            answer.code(),
            (code.status(), code.to_string()),
            "{shown}{:?}",
            answer.json()
        );
        let request_and_answer = renamed(&format!("{shown}\nHTTP {}\n{}", code.status(), told(&answer.json())));
        let before = if before.is_empty() {
            String::new()
        } else {
            format!("{before}\n\n")
        };
        self.put(code, format!("{before}```http\n{request_and_answer}\n```"));
    }

    /// Why there is no example.
    pub(super) fn leave_out(&mut self, code: Code, why: &str) {
        self.put(code, why.to_owned());
    }

    fn put(&mut self, code: Code, example: String) {
        assert!(self.0.insert(code, example).is_none(), "{code} has two examples");
    }

    pub(super) fn example(&self, code: Code) -> &str {
        self.0.get(&code).unwrap_or_else(|| panic!("{code} has no example"))
    }
}

/// A problem document without what every one has.
fn told(problem: &Value) -> String {
    let further = problem
        .as_object()
        .unwrap()
        .iter()
        .filter(|(name, _)| !EVERYWHERE.contains(&name.as_str()));
    let further: String = further
        .map(|(name, value)| format!(", \"{name}\": {}", spaced(&shortened(value))))
        .collect();
    format!(
        "{{\"code\": {}, \"detail\": {}{further}}}",
        problem["code"], problem["detail"]
    )
}

/// JSON on one line, with room between its parts.
fn spaced(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let fields = fields
                .iter()
                .map(|(name, value)| format!("\"{name}\": {}", spaced(value)));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
        }
        Value::Array(items) if items.len() > SHOWN_ITEMS_MAX => format!("[{}, …]", spaced(&items[0])),
        Value::Array(items) => format!("[{}]", items.iter().map(spaced).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}

/// Without tokens and padding.
fn shortened(value: &Value) -> Value {
    match value {
        Value::String(text) if text.len() > SHOWN_BYTES_MAX => "…".into(),
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| (name.clone(), shortened(value)))
            .collect(),
        Value::Array(items) => items.iter().map(shortened).collect(),
        other => other.clone(),
    }
}

/// The text with ids and moments that are the same every time: ids are numbered as they come, moments are whole seconds.
fn renamed(text: &str) -> String {
    let (mut renamed, mut rest, mut known) = (String::new(), text, Vec::new());
    while let Some(next) = rest.chars().next() {
        let starts_word = !renamed.ends_with(|before: char| before.is_ascii_alphanumeric());
        match starts_word.then(|| leading_id(rest)).flatten() {
            None if starts_word && is_moment(rest) => {
                renamed += &format!("{}000", &rest[..10]);
                rest = &rest[13..];
            }
            Some(id) => {
                let place = known.iter().position(|other| *other == id).unwrap_or(known.len());
                if place == known.len() {
                    known.push(id);
                }
                renamed += &format!("0190c5d4-7a6b-7c3d-8e9f-{:012}", place + 1);
                rest = &rest[id.len()..];
            }
            None => {
                renamed.push(next);
                rest = &rest[next.len_utf8()..];
            }
        }
    }
    renamed
}

/// Whether a text begins with a time of the tests' store, in milliseconds.
fn is_moment(text: &str) -> bool {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    digits == 13 && text.starts_with("1800")
}

/// The id that a text begins with: with hyphens, or 32 digits.
fn leading_id(text: &str) -> Option<&str> {
    let digits = text
        .find(|next: char| !next.is_ascii_hexdigit() && next != '-')
        .unwrap_or(text.len());
    let id = &text[..digits];
    ([32, 36].contains(&id.len()) && Uuid::try_parse(id).is_ok()).then_some(id)
}
