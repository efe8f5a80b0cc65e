//! What stands between the values of a program and what is stored.

use async_trait::async_trait;
use ff_core::payload::Payload;

/// Turns what is written into what is stored, and back: encrypts, compresses, or keeps large bytes elsewhere.
///
/// Runs once per value: what is sent again after a lost reply are the same bytes. Who submits and who works must have
/// codecs that read each other's bytes.
#[async_trait]
pub trait Codec: Send + Sync + 'static {
    /// What is stored for a value.
    async fn encode(&self, payload: Payload) -> Result<Payload, CodecError>;
    /// The value that was stored.
    async fn decode(&self, payload: Payload) -> Result<Payload, CodecError>;
}

/// The codec unless another is chosen: values are stored as the JSON they are.
#[derive(Clone, Copy, Debug, Default)]
pub struct Json;

#[async_trait]
impl Codec for Json {
    async fn encode(&self, payload: Payload) -> Result<Payload, CodecError> {
        Ok(payload)
    }

    async fn decode(&self, payload: Payload) -> Result<Payload, CodecError> {
        Ok(payload)
    }
}

/// Why a codec cannot do its work.
#[derive(Debug, thiserror::Error)]
#[error("the codec {verb}: {source}")]
pub struct CodecError {
    verb: &'static str,
    is_transient: bool,
    source: Box<dyn std::error::Error + Send + Sync>,
}

impl CodecError {
    /// Trying again may help: the store of large bytes does not answer.
    pub fn transient(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self {
            verb: "cannot do it now",
            is_transient: true,
            source: source.into(),
        }
    }

    /// Trying again will not help: the bytes are not of this codec, or its key is another one.
    pub fn permanent(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self {
            verb: "refuses the bytes",
            is_transient: false,
            source: source.into(),
        }
    }

    /// Whether trying again may help.
    pub const fn is_transient(&self) -> bool {
        self.is_transient
    }
}
