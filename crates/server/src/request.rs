//! A request as it was received: who asks, and the fields that its path, its query and its body name.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{ConnectInfo, MatchedPath, RawPathParams, Request};
use axum::http::{HeaderMap, HeaderValue, header};
use ff_core::caller::Caller;
use ff_core::command::lease::Holder;
use ff_core::error::{Code, Rejection};
use ff_core::fabric::{Access, Body, Fabric, Method, Operation, op, path_fields};
use ff_core::limits::WAIT_MAX;
use ff_core::name::ContentType;
use ff_core::payload::Payload;
use ff_core::time::Duration;
use ff_core::wire::{Fields, Unknown, is_json, read};
use ff_engine::Engine;
use serde::de::DeserializeOwned;

use crate::body::receive;
use crate::callers::Via;
use crate::extras::Extra;
use crate::limits::Permit;
use crate::problem::Answer;
use crate::routes::pattern;
use crate::{Server, guard, query};

/// The field that says how long to wait, of every call that can.
const WAIT: &str = "wait_ms";

/// A body of at most so many bytes may be part of the connection's first buffer, and is copied out of it for the reason
/// [`kept`] gives.
const SMALL_BYTES: usize = 8 * 1024;

/// What a route is, whichever list it stands in.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    name: &'static str,
    method: Method,
    path: &'static str,
    access: Access,
    body: Body,
}

impl From<&Operation> for Shape {
    fn from(operation: &Operation) -> Self {
        Self {
            name: operation.name,
            method: operation.method,
            path: operation.path,
            access: operation.access,
            body: operation.body,
        }
    }
}

impl From<&Extra> for Shape {
    fn from(extra: &Extra) -> Self {
        Self {
            name: extra.name,
            method: extra.method,
            path: extra.path,
            access: extra.access,
            body: extra.body,
        }
    }
}

/// A request, received.
pub(crate) struct Asked {
    pub(crate) server: Server,
    /// Who asks, with the lease the request shows.
    pub(crate) caller: Caller,
    /// How that is known.
    pub(crate) via: Via,
    /// Where it comes from, as far as that is known.
    pub(crate) peer: IpAddr,
    /// What the routes stand below: the version, and whatever that is nested in.
    pub(crate) base: String,
    pub(crate) query: Vec<(String, String)>,
    pub(crate) body: Bytes,
    headers: HeaderMap,
    in_path: Vec<(&'static str, String)>,
    shape: Shape,
}

impl Asked {
    /// Receives a request of `caller`, whose body may be as large as its route takes. What its role does not allow is refused
    /// before the body is read.
    pub(crate) async fn receive(
        server: Server,
        caller: Caller,
        shape: Shape,
        path: &RawPathParams,
        request: Request,
    ) -> Answer<Self> {
        let (head, body) = request.into_parts();
        query::check_path(head.uri.path())?;
        let in_path = path_fields(shape.path).zip(path);
        let matched = head.extensions.get().map_or("", MatchedPath::as_str);
        let peer = head.extensions.get::<ConnectInfo<SocketAddr>>();
        let bytes_max = shape.body.bytes_max(server.engine.rules().payload_bytes_max);
        let mut asked = Self {
            peer: peer.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |ConnectInfo(peer)| peer.ip()),
            base: matched
                .strip_suffix(&pattern(shape.path))
                .unwrap_or_default()
                .to_owned(),
            query: query::parse(head.uri.query().unwrap_or_default())?,
            in_path: in_path.map(|(name, (_, value))| (name, value.to_owned())).collect(),
            headers: kept(head.headers),
            body: Bytes::new(),
            via: head.extensions.get().copied().unwrap_or_default(),
            server,
            caller,
            shape,
        };
        if let Some(lease) = asked.header("x-fence")? {
            asked.caller.held = Some(Holder::from_text(lease)?);
        }
        asked.engine().check_access(shape.access, shape.name)?;
        if shape.method.has_body() {
            let body = receive(body, shape.name, bytes_max, asked.server.settings.body_timeout).await?;
            asked.body = if body.len() <= SMALL_BYTES {
                Bytes::copy_from_slice(&body)
            } else {
                body
            };
        }
        Ok(asked)
    }

    /// The interface as whoever asks may use it.
    pub(crate) fn fabric(&self) -> Arc<dyn Fabric> {
        match &self.server.tested {
            Some(tested) => tested.fabric(self.engine()),
            None => Arc::new(self.engine()),
        }
    }

    /// The engine as whoever asks may use it.
    pub(crate) fn engine(&self) -> Engine {
        self.server.engine.acting_as(self.caller.clone())
    }

    /// The value of a header that means one thing.
    pub(crate) fn header(&self, name: &'static str) -> Result<Option<&str>, Rejection> {
        let mut values = self.headers.get_all(name).iter();
        let (value, further) = (values.next(), values.next());
        let text = value.map(|value| value.to_str().map_err(|_| ()));
        match (text.transpose(), further) {
            (Ok(text), None) => Ok(text),
            _ => Err(Code::InvalidInput.because(format!("the header {name} is given once, in printable ASCII"))),
        }
    }

    /// Whether the browser that asks keeps to itself what it is given for TLS only.
    pub(crate) fn came_through_tls(&self) -> bool {
        guard::came_through_tls(&self.server.settings, &self.headers)
    }

    /// The fields its path names, in their order.
    pub(crate) fn path_values(&self) -> impl Iterator<Item = &str> {
        self.in_path.iter().map(|(_, value)| value.as_str())
    }

    /// Everything it names. A body that is not there is an empty object; where there can be one, the query says no more than
    /// how long to wait: what else there is may be secret, and URLs are logged.
    pub(crate) fn fields(&self) -> Result<Fields<'_>, Rejection> {
        let mut fields = Fields::default();
        if !self.body.is_empty() {
            self.check_json()?;
            fields = Fields::of_json(&self.body)?;
        }
        for (name, value) in &self.in_path {
            fields.add_text(*name, value)?;
        }
        for (name, value) in &self.query {
            if self.shape.method.has_body() && name != WAIT {
                return Err(Code::InvalidInput.because(format!("{name:?} belongs into the body, not into the query")));
            }
            fields.add_text(name, value)?;
        }
        if let Some(token) = self.header("x-waitpoint-token")? {
            fields.offer("waitpoint_token", token);
        }
        self.offer_namespace(&mut fields);
        Ok(fields)
    }

    /// What does not say whose it is belongs to the namespace of the key. A key that names none is one for all of them.
    pub(crate) fn offer_namespace(&self, fields: &mut Fields<'_>) {
        let namespace = self.caller.namespace.as_ref();
        if let Some(namespace) = namespace.filter(|_| self.shape.name != op::create_key.name) {
            fields.offer_to_all("namespace", namespace.as_str());
        }
    }

    /// The command it holds.
    pub(crate) fn command<T: DeserializeOwned>(&self) -> Result<T, Rejection> {
        read(self.fields()?, Unknown::Refused)
    }

    /// A place among those that wait, if these fields ask to wait.
    pub(crate) fn park(&self, fields: &Fields<'_>) -> Result<Option<Permit>, Rejection> {
        let waits = fields.text(WAIT)?.is_some_and(|wait| wait != "0");
        waits.then(|| self.server.limits.park(&self.caller)).transpose()
    }

    /// The body as it is. What nobody described is JSON if it can be: curl says of everything that it is a form.
    pub(crate) fn payload(&self) -> Payload {
        let said = self.content_type().and_then(|said| ContentType::parse(said).ok());
        let described = said.filter(|said| !said.as_str().starts_with("application/x-www-form-urlencoded"));
        let guessed = || match is_json(&self.body) {
            true => ContentType::json(),
            false => ContentType::binary(),
        };
        Payload {
            content_type: described.unwrap_or_else(guessed),
            bytes: self.body.clone(),
        }
    }

    /// Whether the caller asks for answers of this type.
    pub(crate) fn accepts(&self, media_type: &str) -> bool {
        let accepted = self.headers.get_all(header::ACCEPT).iter();
        let mut accepted = accepted.filter_map(|value| value.to_str().ok());
        accepted.any(|accepted| accepted.split(',').any(|one| essence(one) == media_type))
    }

    fn content_type(&self) -> Option<&str> {
        self.headers.get(header::CONTENT_TYPE)?.to_str().ok()
    }

    fn check_json(&self) -> Result<(), Rejection> {
        let given = essence(self.content_type().unwrap_or_default());
        if given == "application/json" || given.ends_with("+json") {
            return Ok(());
        }
        let given = if given.is_empty() { "nothing" } else { &given };
        Err(Code::UnsupportedMediaType.because(format!(
            "{} takes JSON, and Content-Type says {given}: send Content-Type: application/json",
            self.shape.name
        )))
    }
}

/// Headers in memory of their own: as they came they are parts of the connection's buffer, which a request that waits would keep
/// for as long as it does, while the connection needs another one.
fn kept(mut headers: HeaderMap) -> HeaderMap {
    for value in headers.values_mut() {
        if let Ok(own) = HeaderValue::from_bytes(value.as_bytes()) {
            *value = own;
        }
    }
    headers
}

/// A media type without what is said about it.
fn essence(media_type: &str) -> String {
    let essence = media_type.split(';').next().unwrap_or_default();
    essence.trim().to_ascii_lowercase()
}

/// Takes out how long to wait, for a call whose command does not know of it.
pub(crate) fn take_wait(fields: &mut Fields<'_>) -> Result<Duration, Rejection> {
    let Some(text) = fields.take_text(WAIT)? else {
        return Ok(Duration::ZERO);
    };
    let wait = text.parse().ok().map(Duration::from_millis);
    wait.filter(|wait| *wait <= WAIT_MAX).ok_or_else(|| {
        let detail = format!("{WAIT} is a number up to {}, not {text:?}", WAIT_MAX.as_millis());
        Code::InvalidInput.because(detail)
    })
}
