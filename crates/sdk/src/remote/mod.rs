//! The interface over HTTP, from the same table of operations that the server's routes are made from.
//!
//! A call that got no answer is sent again, with growing pauses, because the server recognises it: `identity` gives each call
//! what it is recognised by, `retry` says which failures are worth another try.

mod identity;
mod reply;
mod request;
mod retry;
mod sse;
mod stream;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use ff_core::command::lease::Holder;
use ff_core::command::submit::{CreateExecution, Created};
use ff_core::error::{Code, Rejection};
use ff_core::fabric::{Operation, Reply, Result, Transport, op};
use ff_core::payload::Payload;
use ff_core::time::{Duration as Millis, Timestamp};
use ff_core::view::ServerInfo;
use reqwest::StatusCode;

use self::request::Request;
pub use self::sse::Message;
pub use self::stream::Messages;

/// How long connecting may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// How long an answer may be silent: longer than any long poll.
const SILENCE_MAX: Duration = Duration::from_secs(60);
/// Tries of one call, unless said otherwise.
const TRIES: usize = 5;

/// A fabric at the other end of HTTP. Clones share their connections.
#[derive(Clone)]
pub struct Remote {
    http: reqwest::Client,
    server: Arc<Server>,
    held: Option<Holder>,
    tries: usize,
}

/// Where the server is, and what it knows us by.
struct Server {
    url: String,
    /// The value of the header, the key in it.
    authorization: Option<reqwest::header::HeaderValue>,
    root_certificate: Option<Vec<u8>>,
}

/// The part of [`ServerInfo`] that is read from servers of any age.
#[derive(serde::Deserialize)]
pub(crate) struct Greeting {
    pub(crate) version: String,
    pub(crate) api: String,
    #[serde(default)]
    pub(crate) clock: String,
    pub(crate) server_time: Timestamp,
}

/// What came of a submission by the time its sender waited for.
#[derive(Clone, Debug, PartialEq)]
pub enum Waited {
    /// It ended well, with a result or without one.
    Completed(Option<Payload>),
    /// It has not ended.
    Open(Created),
}

/// A connection that is being described.
#[must_use = "open it"]
pub struct Connect {
    url: String,
    key: Option<String>,
    root_certificate: Option<Vec<u8>>,
    tries: usize,
}

impl Remote {
    /// A client of the server at `url`, as in `http://127.0.0.1:7117`. Nothing is sent before the first call.
    pub fn connect(url: impl Into<String>) -> Connect {
        Connect {
            url: url.into(),
            key: None,
            root_certificate: None,
            tries: TRIES,
        }
    }

    /// The same with connections of its own, for a worker's loop: a runtime that is blocked does not drive those that others
    /// opened on it. Each call is tried once, because the loop knows best until when it is worth another try.
    pub(crate) fn of_a_worker(&self) -> Result<Self> {
        Ok(Self {
            http: connections(self.server.root_certificate.as_deref())?,
            tries: 1,
            ..self.clone()
        })
    }

    /// The same client, whose calls show the lease of a task: what its holder may do besides, they may.
    #[must_use]
    pub fn holding(&self, lease: Holder) -> Self {
        Self {
            held: Some(lease),
            ..self.clone()
        }
    }

    /// Where the server is.
    pub fn url(&self) -> &str {
        &self.server.url
    }

    fn url_of(&self, path_and_query: &str) -> String {
        format!("{}/v1{path_and_query}", self.server.url)
    }

    /// A request to the server, signed with our key.
    fn request(&self, method: reqwest::Method, path_and_query: &str) -> reqwest::RequestBuilder {
        let request = self.http.request(method, self.url_of(path_and_query));
        match &self.server.authorization {
            Some(authorization) => request.header(reqwest::header::AUTHORIZATION, authorization),
            None => request,
        }
    }

    /// Sends a request until it is answered, or it is clear that trying again would not help.
    async fn answered(&self, request: &Request) -> Result<(StatusCode, Reply)> {
        let mut pauses = retry::pauses(self.tries);
        loop {
            let failure = match self.send_once(request).await {
                Ok(reply) => return Ok(reply),
                Err(failure) => failure,
            };
            match pauses.next() {
                Some(pause) if failure.is_worth_another_try(request) => tokio::time::sleep(pause).await,
                _ => return Err(failure.into_rejection(&self.server.url)),
            }
        }
    }

    async fn send_once(&self, request: &Request) -> std::result::Result<(StatusCode, Reply), retry::Failure> {
        let sent = self.request(request.method.clone(), &request.path_and_query);
        // Where there is a stream as well, the answer is wanted.
        let mut sent = sent.header(reqwest::header::ACCEPT, "application/json, */*;q=0.1");
        if let Some(key) = &request.idempotency_key {
            sent = sent.header("idempotency-key", key);
        }
        if let Some(held) = &request.held {
            sent = sent.header("x-fence", held);
        }
        if let Some(body) = &request.body {
            sent = sent
                .header(reqwest::header::CONTENT_TYPE, "application/json")
                .body(body.clone());
        }
        let response = sent.send().await.map_err(retry::Failure::Unanswered)?;
        reply::read(response).await
    }

    /// What the server is, can do and takes.
    pub async fn info(&self) -> Result<ServerInfo> {
        ff_core::wire::from_reply(&self.about_itself().await?.bytes)
    }

    /// What every server has always said about itself.
    pub(crate) async fn greeting(&self) -> Result<Greeting> {
        let payload = self.about_itself().await?;
        let unreadable =
            |error| Code::Internal.because(format!("{} is no FlowFabric server: {error}", self.server.url));
        serde_json::from_slice(&payload.bytes).map_err(unreadable)
    }

    async fn about_itself(&self) -> Result<Payload> {
        match self.answered(&Request::info()).await? {
            (_, Reply::Bytes(payload)) => Ok(payload),
            _ => Err(Code::Internal.because("the server says nothing about itself")),
        }
    }

    /// Submits, and waits up to `wait` for the end, in one call. What ends without success is `result_not_available`, with what
    /// is known about it.
    pub async fn submit_and_wait(&self, command: &CreateExecution, wait: Millis) -> Result<Waited> {
        let json = ff_core::wire::to_json(command).map_err(|error| Code::Internal.because(error.to_string()))?;
        let request = Request::new(&op::create_execution, &json, self.held.as_ref())?.waiting(wait);
        match self.answered(&request).await {
            Ok((StatusCode::CREATED | StatusCode::ACCEPTED, Reply::Bytes(created))) => {
                ff_core::wire::from_reply(&created.bytes).map(Waited::Open)
            }
            Ok((_, Reply::Bytes(result))) => Ok(Waited::Completed(Some(result))),
            Ok((_, Reply::Nothing | Reply::Json(_))) => Ok(Waited::Completed(None)),
            Err(rejection) => Err(self.explain(&op::create_execution, rejection).await),
        }
    }

    /// A server that does not know a route or a field is older than this client, or newer: then it is told so.
    async fn explain(&self, operation: &Operation, rejection: Rejection) -> Rejection {
        let errors = rejection.fields.get("errors").and_then(|errors| errors.as_array());
        let is_unknown_field = errors.is_some_and(|errors| errors.iter().any(|error| error["unknown_field"] == true));
        if rejection.code != Code::NotFound && !is_unknown_field {
            return rejection;
        }
        let own = env!("CARGO_PKG_VERSION");
        match self.info().await {
            Ok(info) if info.version != own => {
                let (theirs, name, detail) = (info.version, operation.name, &rejection.detail);
                Rejection {
                    detail: format!("{detail} (in {name}; this server is of version {theirs}, this client of {own})"),
                    ..rejection
                }
            }
            _ => rejection,
        }
    }
}

#[async_trait]
impl Transport for Remote {
    async fn send(&self, operation: &'static Operation, json: Vec<u8>) -> Result<Reply> {
        let request = Request::new(operation, &json, self.held.as_ref())?;
        match self.answered(&request).await {
            Err(rejection) => Err(self.explain(operation, rejection).await),
            answered => answered.map(|(_, reply)| reply),
        }
    }
}

impl Connect {
    /// Calls are made with this key.
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// Servers whose certificates this one signed are trusted besides those the system trusts; PEM.
    pub fn root_certificate(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.root_certificate = Some(pem.into());
        self
    }

    /// A call that gets no answer is sent this many times at most, at least once; 5 unless given.
    pub fn tries(mut self, tries: usize) -> Self {
        self.tries = tries.max(1);
        self
    }

    /// The client. Refuses an address or a key that cannot be one.
    pub fn open(self) -> Result<Remote> {
        // Whoever has chosen another provider for this process keeps it.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let url = self.url.trim_end_matches('/');
        if reqwest::Url::parse(url).is_err() || !url.starts_with("http") {
            return Err(Code::InvalidInput.because("the address of a server looks like http://127.0.0.1:7117"));
        }
        Ok(Remote {
            http: connections(self.root_certificate.as_deref())?,
            server: Arc::new(Server {
                url: url.to_owned(),
                authorization: self.key.as_deref().map(bearer).transpose()?,
                root_certificate: self.root_certificate,
            }),
            held: None,
            tries: self.tries,
        })
    }
}

/// A pool of connections, which belong to the runtime that opens them.
fn connections(root_certificate: Option<&[u8]>) -> Result<reqwest::Client> {
    let mut http = reqwest::Client::builder()
        .connect_timeout(CONNECT_TIMEOUT)
        .read_timeout(SILENCE_MAX)
        .redirect(reqwest::redirect::Policy::none())
        .user_agent(concat!("flowfabric-rust/", env!("CARGO_PKG_VERSION")));
    if let Some(pem) = root_certificate {
        let certificate = reqwest::Certificate::from_pem(pem)
            .map_err(|_| Code::InvalidInput.because("the root certificate is not one in PEM"))?;
        http = http.add_root_certificate(certificate);
    }
    http.build().map_err(|error| Code::Internal.because(error.to_string()))
}

fn bearer(key: &str) -> Result<reqwest::header::HeaderValue> {
    let invalid = |_| Code::InvalidInput.because("a key has no spaces, line ends or letters beyond ASCII");
    let mut value = reqwest::header::HeaderValue::from_str(&format!("Bearer {key}")).map_err(invalid)?;
    value.set_sensitive(true);
    Ok(value)
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remote")
            .field("url", &self.server.url)
            .finish_non_exhaustive()
    }
}
