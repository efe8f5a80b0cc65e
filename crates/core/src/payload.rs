//! Bytes that travel through the engine untouched.

use std::fmt;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::name::ContentType;

/// An input, result, signal or frame: any bytes, with the content type they were given under.
///
/// As a field of a command or view it travels in three fields ([`crate::wire`]); stores keep its two parts apart.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Payload {
    /// The bytes as they came.
    pub bytes: Bytes,
    /// What the sender said they are.
    pub content_type: ContentType,
}

impl Payload {
    /// Raw bytes.
    pub fn binary(bytes: impl Into<Bytes>) -> Self {
        Self {
            bytes: bytes.into(),
            content_type: ContentType::binary(),
        }
    }

    /// The JSON text of `value`.
    pub fn json(value: &serde_json::Value) -> Self {
        Self {
            bytes: value.to_string().into(),
            content_type: ContentType::json(),
        }
    }

    /// How many bytes there are.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }
}

/// The two parts of a payload, in the order in which they are written.
#[derive(Serialize, Deserialize)]
#[serde(rename = "Payload")]
struct Parts<'p>(std::borrow::Cow<'p, ContentType>, Bytes);

impl Serialize for Payload {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Parts(std::borrow::Cow::Borrowed(&self.content_type), self.bytes.clone()).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Payload {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Parts(content_type, bytes) = Parts::deserialize(deserializer)?;
        Ok(Self {
            bytes,
            content_type: content_type.into_owned(),
        })
    }
}

impl fmt::Debug for Payload {
    /// Payloads are the user's business: logs show how much, never what.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Payload({} bytes, {})", self.len(), self.content_type)
    }
}

/// Payloads under names, as a task is handed the results of its upstreams: `{"text": {"payload": …}}`.
pub mod by_name {
    use std::collections::BTreeMap;

    use serde::de::DeserializeOwned;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::Payload;

    /// A payload that has a name of its own.
    #[derive(Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "NamedPayload"))]
    pub(crate) struct Named {
        /// The bytes.
        #[serde(rename = "payload:bytes")]
        payload: Payload,
    }

    /// Writes them.
    pub fn serialize<S: Serializer, N: Serialize + Ord>(
        payloads: &BTreeMap<N, Payload>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let named = |payload: &Payload| Named {
            payload: payload.clone(),
        };
        serializer.collect_map(payloads.iter().map(|(name, payload)| (name, named(payload))))
    }

    /// Reads them.
    pub fn deserialize<'de, D: Deserializer<'de>, N: DeserializeOwned + Ord>(
        deserializer: D,
    ) -> Result<BTreeMap<N, Payload>, D::Error> {
        let payloads = BTreeMap::<N, Named>::deserialize(deserializer)?;
        Ok(payloads
            .into_iter()
            .map(|(name, named)| (name, named.payload))
            .collect())
    }
}
