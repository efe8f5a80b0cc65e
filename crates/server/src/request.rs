//! A request as the fields of a command: what its path, its query and its body name.

use axum::body::Bytes;
use axum::extract::{RawPathParams, Request};
use axum::http::{HeaderMap, header};
use ff_core::error::Rejection;
use ff_core::fabric::Operation;
use ff_core::limits::PAYLOAD_BYTES_DEFAULT;
use ff_core::wire::{Fields, Unknown, read};
use serde::de::DeserializeOwned;

use crate::Server;
use crate::body::receive;
use crate::problem::Answer;

/// What was received of a request.
pub(crate) struct Received {
    /// Fields of path and query, decoded.
    named: Vec<(String, String)>,
    /// The body, where there is one.
    body: Option<Bytes>,
    pub(crate) headers: HeaderMap,
}

impl Received {
    /// Receives a request, whose body may be as large as the table says.
    pub(crate) async fn read(
        operation: &Operation,
        server: &Server,
        path: &RawPathParams,
        request: Request,
    ) -> Answer<Self> {
        let (head, body) = request.into_parts();
        let in_path = operation.path_fields().zip(path);
        let in_path = in_path.map(|(name, (_, value))| (name.to_owned(), value.to_owned()));
        let query = head.uri.query().unwrap_or_default();
        let in_query = form_urlencoded::parse(query.as_bytes()).into_owned();
        let body = if operation.method.has_body() {
            let max = operation.body.bytes_max(PAYLOAD_BYTES_DEFAULT);
            Some(receive(body, operation.name, max, server.settings.body_timeout).await?)
        } else {
            None
        };
        Ok(Self {
            named: in_path.chain(in_query).collect(),
            body,
            headers: head.headers,
        })
    }

    /// Everything it names. A body that is not there is an empty object.
    pub(crate) fn fields(&self) -> Result<Fields<'_>, Rejection> {
        let mut fields = match &self.body {
            Some(body) if !body.is_empty() => Fields::of_json(body)?,
            _ => Fields::default(),
        };
        for (name, value) in &self.named {
            fields.add_text(name, value)?;
        }
        Ok(fields)
    }

    /// The command it holds.
    pub(crate) fn command<T: DeserializeOwned>(&self) -> Result<T, Rejection> {
        read(self.fields()?, Unknown::Refused)
    }

    /// Whether the caller asks for JSON where something else is usual.
    pub(crate) fn wants_json(&self) -> bool {
        let accepted = self.headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
        accepted.is_some_and(|accepted| accepted.starts_with("application/json"))
    }
}
