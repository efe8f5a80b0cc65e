//! Values on their way through the codec, with a name for what cannot be read or written.

use ff_core::payload::Payload;
use serde::de::DeserializeOwned;

use super::Client;
use crate::error::{Error, Result};
use crate::json;

impl Client {
    /// What is stored for a value in its JSON form; `what` names it.
    pub(crate) async fn seal(&self, what: &str, payload: Payload) -> Result<Payload> {
        self.shared.codec.encode(payload).await.map_err(|source| Error::Codec {
            what: what.to_owned(),
            source,
        })
    }

    /// The value that was stored; `what` names it where it is none of this type.
    pub(crate) async fn decode<T: DeserializeOwned>(
        &self,
        what: impl FnOnce() -> String,
        stored: Payload,
    ) -> Result<T> {
        let what = what();
        let payload = self.unseal(&what, stored).await?;
        json::read(&payload).map_err(|problem| Error::Unreadable { what, problem })
    }

    /// What was stored, as the codec gives it back.
    pub(crate) async fn unseal(&self, what: &str, stored: Payload) -> Result<Payload> {
        // A codec has nothing to say about what was never written.
        if stored.is_empty() {
            return Ok(stored);
        }
        self.shared.codec.decode(stored).await.map_err(|source| Error::Codec {
            what: what.to_owned(),
            source,
        })
    }

    /// Asks the server what it is before something is sent to it; only the first call takes time.
    pub(crate) async fn ready(&self) -> Result<()> {
        #[cfg(feature = "client")]
        self.check_server().await?;
        Ok(())
    }

    pub(crate) fn own_codec(&self) -> std::sync::Arc<dyn crate::codec::Codec> {
        std::sync::Arc::clone(&self.shared.codec)
    }

    pub(crate) fn own_namespace(&self) -> &ff_core::name::Namespace {
        &self.shared.namespace
    }
}
