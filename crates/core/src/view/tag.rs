//! A tag to look for, as it stands in a query: `key=value`.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A tag to look for, `key=value`: one of a list of them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(with = "String"))]
pub struct WantedTag {
    /// The key, in full.
    pub key: String,
    /// The value, in full.
    pub value: String,
}

impl Serialize for WantedTag {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{}={}", self.key, self.value))
    }
}

impl<'de> Deserialize<'de> for WantedTag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (key, value) = key_and_value(deserializer)?;
        Ok(Self { key, value })
    }
}

pub(super) fn serialize<S: Serializer>(tag: &Option<(String, String)>, serializer: S) -> Result<S::Ok, S::Error> {
    match tag {
        Some((key, value)) => serializer.collect_str(&format_args!("{key}={value}")),
        None => serializer.serialize_none(),
    }
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<(String, String)>, D::Error> {
    key_and_value(deserializer).map(Some)
}

/// Keys have no `=` in them; values may.
fn key_and_value<'de, D: Deserializer<'de>>(deserializer: D) -> Result<(String, String), D::Error> {
    let text = String::deserialize(deserializer)?;
    let (key, value) = text
        .split_once('=')
        .ok_or_else(|| serde::de::Error::custom("a tag is looked for as key=value"))?;
    Ok((key.to_owned(), value.to_owned()))
}
