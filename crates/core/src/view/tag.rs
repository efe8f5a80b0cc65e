//! A tag to look for, as it stands in a query: `key=value`.

use serde::{Deserialize, Deserializer, Serializer};

pub(super) fn serialize<S: Serializer>(tag: &Option<(String, String)>, serializer: S) -> Result<S::Ok, S::Error> {
    match tag {
        Some((key, value)) => serializer.collect_str(&format_args!("{key}={value}")),
        None => serializer.serialize_none(),
    }
}

/// Keys have no `=` in them; values may.
pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<(String, String)>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let (key, value) = text
        .split_once('=')
        .ok_or_else(|| serde::de::Error::custom("a tag is looked for as key=value"))?;
    Ok(Some((key.to_owned(), value.to_owned())))
}
