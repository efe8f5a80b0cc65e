//! Whatever carries a request to a fabric and its reply back is a fabric too.

use async_trait::async_trait;

use super::types::*;
use super::{Fabric, Operation, Reply, Result, op};
use crate::error::{Code, Rejection};

/// Carries requests to a fabric and brings its replies back.
#[async_trait]
pub trait Transport: Send + Sync {
    /// Calls `operation` with the fields of `json`, an object.
    async fn send(&self, operation: &'static Operation, json: Vec<u8>) -> Result<Reply>;
}

impl Reply {
    /// An answer in JSON.
    pub(super) fn json<T: serde::Serialize>(answer: &T) -> Result<Self> {
        crate::wire::to_json(answer)
            .map(Reply::Json)
            .map_err(|error| unwritable(&error))
    }

    /// Reads an answer in JSON; a transport may have left open what its bytes are.
    fn read<T: serde::de::DeserializeOwned>(self) -> Result<T> {
        let read = |json: &[u8]| crate::wire::from_reply(json).map_err(|fault| unreadable(&fault));
        match self {
            Reply::Json(json) => read(&json),
            Reply::Bytes(payload) => read(&payload.bytes),
            Reply::Nothing => Err(unreadable(&Code::InvalidInput.because("JSON is missing"))),
        }
    }

    /// The bytes of an answer that is bytes.
    fn bytes(self) -> Result<crate::payload::Payload> {
        match self {
            Reply::Bytes(payload) => Ok(payload),
            Reply::Json(_) | Reply::Nothing => Err(unreadable(&Code::InvalidInput.because("bytes are missing"))),
        }
    }
}

fn unwritable(error: &serde_json::Error) -> Rejection {
    Code::Internal.because(format!("this cannot be written as JSON: {error}"))
}

/// The other side answers in a way nobody here understands: that is not the caller's fault.
fn unreadable(fault: &Rejection) -> Rejection {
    Code::Internal.because(format!("the answer cannot be read: {}", fault.detail))
}

macro_rules! remote {
    ($($noun:ident { $(
        $(#[doc = $doc:literal])+
        $name:ident: $method:ident $path:literal, $who:ident $(or $holder:ident)?, $body:ident, $take:tt => $give:tt;
    )+ })+) => {
        #[async_trait]
        impl<T: Transport> Fabric for T {
            $($(
                async fn $name(&self, command: argument!($take)) -> Result<outcome!($give)> {
                    let json = write_argument!($take, command).map_err(|error| unwritable(&error))?;
                    let reply = self.send(&op::$name, json).await?;
                    read_outcome!($give, reply)
                }
            )+)+
        }
    };
}

operations!(remote);
