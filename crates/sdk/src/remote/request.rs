//! A call as a request: fields named in the path stand there, the others in the query or the body.

use bytes::Bytes;
use ff_core::command::lease::Holder;
use ff_core::error::Code;
use ff_core::fabric::{Method, Operation, Result, op};
use ff_core::time::Duration;
use ff_core::wire::Fields;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::header::HeaderValue;

use super::identity;

/// What stands in a path as it is.
const IN_PATH: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b':')
    .remove(b'~');

/// What means something else in a path, however it is written: sent, it would ask for another thing.
const NO_PART: [&str; 3] = ["", ".", ".."];

/// A request that can be sent any number of times.
pub(super) struct Request {
    pub(super) method: reqwest::Method,
    /// Below the version.
    pub(super) path_and_query: String,
    pub(super) body: Option<Bytes>,
    pub(super) idempotency_key: Option<String>,
    /// The lease its sender shows.
    pub(super) held: Option<HeaderValue>,
    /// Whether the server knows a second copy for what it is.
    pub(super) is_repeatable: bool,
}

impl Request {
    /// Asks the server about itself.
    pub(super) fn info() -> Self {
        Self {
            method: reqwest::Method::GET,
            path_and_query: String::new(),
            body: None,
            idempotency_key: None,
            held: None,
            is_repeatable: true,
        }
    }

    /// The request of a call whose fields are in `json`, from somebody who may hold a lease.
    pub(super) fn new(operation: &'static Operation, json: &[u8], held: Option<&Holder>) -> Result<Self> {
        let batch = identity::batch(operation, json)?;
        let mut fields = Fields::of_json(batch.as_deref().unwrap_or(json))?;
        identity::add(operation, &mut fields);
        let mut path_and_query = path(operation, &mut fields)?;
        let body = if operation.method.has_body() {
            Some(fields.into_json()?.into())
        } else {
            let pairs = fields.into_texts()?;
            if !pairs.is_empty() {
                let query = form_urlencoded::Serializer::new(String::new())
                    .extend_pairs(pairs)
                    .finish();
                path_and_query = format!("{path_and_query}?{query}");
            }
            None
        };
        Ok(Self {
            method: method(operation.method),
            path_and_query,
            body,
            idempotency_key: identity::header(operation),
            held: held.map(shown).transpose()?,
            // What a lost answer handed out comes back by itself, but another claim takes something else.
            is_repeatable: operation.name != op::claim.name,
        })
    }

    /// The same, answered when there is something to answer, or when this much time is over.
    pub(super) fn waiting(mut self, wait: Duration) -> Self {
        self.path_and_query.push_str(&format!("?wait_ms={}", wait.as_millis()));
        self
    }
}

/// A value as it stands in a path.
pub(super) fn in_path(value: &str) -> String {
    utf8_percent_encode(value, IN_PATH).to_string()
}

/// The path of an operation with its fields in it.
fn path(operation: &Operation, fields: &mut Fields<'_>) -> Result<String> {
    let mut path = String::new();
    for part in operation.path.split('/').skip(1) {
        path.push('/');
        match part.strip_prefix('{').and_then(|part| part.strip_suffix('}')) {
            None => path.push_str(part),
            Some(name) => {
                let missing = || Code::InvalidInput.because(format!("{name} is missing"));
                let value = fields.take_text(name)?.ok_or_else(missing)?;
                if NO_PART.contains(&value.as_str()) {
                    return Err(Code::InvalidInput.because(format!("{name} cannot be {value:?}: it stands in a path")));
                }
                path.push_str(&in_path(&value));
            }
        }
    }
    Ok(path)
}

const fn method(method: Method) -> reqwest::Method {
    match method {
        Method::GET => reqwest::Method::GET,
        Method::POST => reqwest::Method::POST,
        Method::PUT => reqwest::Method::PUT,
        Method::PATCH => reqwest::Method::PATCH,
        Method::DELETE => reqwest::Method::DELETE,
    }
}

/// A lease as the header that shows it; whoever prints the request does not print it.
fn shown(held: &Holder) -> Result<HeaderValue> {
    let invalid = |_| Code::Internal.because("a lease cannot be written as a header");
    let mut value = HeaderValue::from_str(&held.to_text()).map_err(invalid)?;
    value.set_sensitive(true);
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(operation: &'static Operation, json: &str) -> Request {
        Request::new(operation, json.as_bytes(), None).unwrap()
    }

    fn body(request: &Request) -> serde_json::Value {
        serde_json::from_slice(request.body.as_ref().unwrap()).unwrap()
    }

    #[test]
    fn fields_of_the_path_stand_there_and_the_others_in_the_query() {
        let json =
            r#"{"execution_id":"{fp:1}:01999999-0000-7000-8000-000000000000","attempt_index":2,"limit":7,"from":null}"#;
        let request = request(&op::read_stream, json);
        let path = "/executions/%7Bfp:1%7D:01999999-0000-7000-8000-000000000000/attempts/2/stream?limit=7";
        assert_eq!(request.path_and_query, path);
        assert!(request.body.is_none() && request.idempotency_key.is_none());
    }

    #[test]
    fn a_name_that_would_be_another_path_is_not_sent() {
        for name in ["", ".", ".."] {
            let json = format!(r#"{{"name":"{name}"}}"#);
            let refused = Request::new(&op::revoke_key, json.as_bytes(), None).err().unwrap();
            assert_eq!(refused.code, Code::InvalidInput, "{name:?}");
        }
        assert_eq!(
            request(&op::revoke_key, r#"{"name":"..."}"#).path_and_query,
            "/admin/keys/..."
        );
    }

    #[test]
    fn a_submission_that_nothing_names_gets_an_id() {
        let plain = body(&request(
            &op::create_execution,
            r#"{"execution_kind":"k","execution_id":null}"#,
        ));
        assert!(plain["execution_uuid"].is_string());
        let named = body(&request(
            &op::create_execution,
            r#"{"execution_kind":"k","idempotency_key":"a"}"#,
        ));
        assert_eq!(named.get("execution_uuid"), None);
    }

    #[test]
    fn so_does_each_submission_of_a_batch() {
        let json = r#"{"executions":[{"execution_kind":"k"},{"execution_kind":"l","execution_uuid":"x"}]}"#;
        let items = body(&request(&op::create_executions, json));
        assert!(items["executions"][0]["execution_uuid"].is_string());
        assert_eq!(items["executions"][1]["execution_uuid"], "x");
    }

    #[test]
    fn whatever_else_acts_has_a_key_of_its_own() {
        let json = r#"{"execution_id":"e","reason":"why"}"#;
        let [one, other] = [
            request(&op::cancel_execution, json),
            request(&op::cancel_execution, json),
        ];
        assert!(one.idempotency_key.is_some() && one.idempotency_key != other.idempotency_key);
    }
}
