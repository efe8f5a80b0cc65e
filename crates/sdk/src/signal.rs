//! Sending something to whoever waits for it.

use std::future::{Future, IntoFuture};
use std::pin::Pin;

use ff_core::command::signal::{DeliverSignal, Delivered, SendSignal};
use ff_core::command::waitpoint::{IssuedWaitpoint, ReadWaitpointToken};
use ff_core::digest::Digest;
use ff_core::error::Code;
use ff_core::fabric::{Fabric, On};
use ff_core::id::ExecutionId;
use ff_core::name::{IdempotencyKey, Identity, SignalName};
use ff_core::payload::Payload;
use ff_core::token::{Callback, CallbackPath};
use serde::{Deserialize, Serialize};

use crate::client::Client;
use crate::error::{Error, Result};
use crate::json;
use crate::run::{Run, waitpoint};

/// What a handler gives to whoever is to call it back: keep it, send it, store it as text.
///
/// It is a secret: whoever has it may signal the handler that waits, and do nothing else.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallbackHandle {
    path: CallbackPath,
}

impl CallbackHandle {
    /// The handle in a path or an address that was given away.
    pub fn parse(text: &str) -> Result<Self> {
        let path = text.find(BEFORE_SEALED).map_or(text, |start| &text[start..]);
        let handle = Self {
            path: CallbackPath::from_text(path),
        };
        handle.open().map(|_| handle)
    }

    /// The address to give to who can only POST, at the server with this address.
    pub fn url(&self, server: &str) -> String {
        format!("{}{}", server.trim_end_matches('/'), self.path.expose())
    }

    fn open(&self) -> Result<Callback> {
        let sealed = self.path.expose().strip_prefix(BEFORE_SEALED);
        let callback = sealed.and_then(Callback::open);
        let unknown =
            || Code::InvalidInput.because("this is no callback: it looks like /v1/callbacks/…, as it was handed out");
        Ok(callback.ok_or_else(unknown)?)
    }
}

/// What stands before the secret part of a path.
const BEFORE_SEALED: &str = "/v1/callbacks/";

impl From<&IssuedWaitpoint> for CallbackHandle {
    fn from(waitpoint: &IssuedWaitpoint) -> Self {
        Self {
            path: waitpoint.callback_path.clone(),
        }
    }
}

/// A signal on its way: await it to send it.
#[must_use = "a signal does nothing until it is awaited"]
pub struct Signal {
    client: Client,
    to: To,
    name: String,
    payload: Result<Payload>,
    id: Option<String>,
    from: Option<String>,
}

/// Where a signal goes.
enum To {
    Callback(CallbackHandle),
    /// What an execution waits at under this name.
    Wait(ExecutionId, String),
}

impl Client {
    /// Sends a value to whoever gave the callback away, under a name that it may ask for.
    ///
    /// Sent again with the same value it is the same signal, and counts once; [`Signal::id`] tells two with the same value
    /// apart.
    ///
    /// ```no_run
    /// # async fn example(ff: ff_sdk::Client, callback: ff_sdk::CallbackHandle) -> ff_sdk::Result<()> {
    /// ff.signal(&callback, "paid", &serde_json::json!({ "cents": 4_200 })).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn signal<V: Serialize + ?Sized>(
        &self,
        callback: &CallbackHandle,
        name: impl Into<String>,
        value: &V,
    ) -> Signal {
        Signal::new(self, To::Callback(callback.clone()), name.into(), value)
    }
}

impl<O> Run<O> {
    /// Sends a value to what the handler waits for under this name, as it called it: `paid`, or `paid#1` where there are several.
    ///
    /// It takes a key that may operate. Others are sent to what `ctx.callback` hands out, by [`Client::signal`].
    pub fn signal<V: Serialize + ?Sized>(&self, name: impl Into<String>, value: &V) -> Signal {
        let waits_for = name.into();
        let name = waits_for.rsplit('/').next().unwrap_or_default();
        let name = name.split(['#', '[']).next().unwrap_or_default().to_owned();
        Signal::new(self.client(), To::Wait(self.id(), waits_for), name, value)
    }
}

impl Signal {
    fn new<V: Serialize + ?Sized>(client: &Client, to: To, name: String, value: &V) -> Self {
        let payload = json::write(value).map_err(|error| Error::Unwritable {
            what: format!("the signal {name:?}"),
            reason: error.to_string(),
        });
        Self {
            client: client.clone(),
            to,
            name,
            payload,
            id: None,
            from: None,
        }
    }

    /// The sender's id for it: signals of one id are one.
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Who the sender says it is; a client with a key is whoever that says instead.
    pub fn from(mut self, identity: impl Into<String>) -> Self {
        self.from = Some(identity.into());
        self
    }

    async fn send(self) -> Result<Delivered> {
        let place = self.to.place(&self.client).await?;
        let payload = self.payload?;
        let key = delivery(&place, &self.name, self.id.as_deref(), &payload)?;
        let signal = DeliverSignal {
            waitpoint_id: place.waitpoint_id,
            signal_id: None,
            signal_name: SignalName::parse(&self.name)?,
            category: "event".to_owned(),
            source_type: "client".to_owned(),
            source_identity: self.from.map_or_else(|| Ok(Identity::anonymous()), Identity::parse)?,
            payload: self
                .client
                .seal(&format!("the signal {:?}", self.name), payload)
                .await?,
            idempotency_key: Some(key),
            correlation_id: None,
        };
        let send = SendSignal {
            waitpoint_token: place.token,
            signal,
        };
        Ok(self.client.deliver_signal(On::new(place.execution_id, send)).await?)
    }
}

impl To {
    /// The waitpoint, with what proves that signals may be sent to it.
    async fn place(&self, client: &Client) -> Result<Callback> {
        let (execution_id, name) = match self {
            Self::Callback(callback) => return callback.open(),
            Self::Wait(execution_id, name) => (*execution_id, name),
        };
        let waitpoint_id = waitpoint::named(client, execution_id, name).await?;
        let read = On::new(execution_id, ReadWaitpointToken { waitpoint_id });
        let token = client.read_waitpoint_token(read).await?.waitpoint_token;
        Ok(Callback {
            execution_id,
            waitpoint_id,
            token,
        })
    }
}

/// What makes two deliveries one: the sender's id, or else that they say the same. The codec may write the same value in two
/// ways, so it is the value that counts.
fn delivery(place: &Callback, name: &str, id: Option<&str>, payload: &Payload) -> Result<IdempotencyKey> {
    let waitpoint = place.waitpoint_id.uuid();
    let (by, said) = match id {
        Some(id) => ("id", id.as_bytes()),
        None => ("value", payload.bytes.as_ref()),
    };
    let told: [&[u8]; 4] = [waitpoint.as_bytes(), name.as_bytes(), by.as_bytes(), said];
    Ok(IdempotencyKey::parse(
        Digest::of("signal of a client", told).to_string(),
    )?)
}

impl IntoFuture for Signal {
    type Output = Result<Delivered>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.send())
    }
}
