//! The fields of a limit. What is absent has no field.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::str::FromStr;

use ff_backend::Result;
use ff_core::time::Timestamp;
use redis::Value;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::corrupt;
use crate::pack::Pack;
use crate::reply::{document, list, text};

/// Fields by name, as text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fields(BTreeMap<String, String>);

impl Fields {
    /// Reads name, value, name, value …; `None`: there is no such hash.
    pub(crate) fn parse(found: Value) -> Result<Option<Self>> {
        let mut fields = BTreeMap::new();
        for pair in list(found)?.chunks_exact(2) {
            fields.insert(text(&pair[0])?.to_owned(), text(&pair[1])?.to_owned());
        }
        Ok(Some(Self(fields)).filter(|fields| !fields.0.is_empty()))
    }

    /// The same fields with one more.
    #[must_use]
    pub(crate) fn with(mut self, name: impl Into<String>, value: &impl ToString) -> Self {
        self.0.insert(name.into(), value.to_string());
        self
    }

    /// The same fields with one more, if there is a value.
    #[must_use]
    pub(crate) fn with_some(self, name: impl Into<String>, value: Option<impl ToString>) -> Self {
        match value {
            Some(value) => self.with(name, &value),
            None => self,
        }
    }

    /// The same fields with a document, if it says anything.
    #[must_use]
    pub(crate) fn with_document<T: Serialize + PartialEq + Default>(self, name: &str, document: &T) -> Self {
        let text = || serde_json::to_string(document).expect("what a limit keeps is a document");
        self.with_some(name, (*document != T::default()).then(text))
    }

    /// The document of a field; empty when it is not there.
    pub(crate) fn document<T: DeserializeOwned + Default>(&self, name: &str) -> Result<T> {
        self.0.get(name).map_or_else(|| Ok(T::default()), document)
    }

    /// The value of a field, if it is there.
    pub(crate) fn find<T: FromStr<Err: Display>>(&self, name: &str) -> Result<Option<T>> {
        let parse = |value: &String| {
            value
                .parse()
                .map_err(|error| corrupt(format!("{name} {value:?}: {error}")))
        };
        self.0.get(name).map(parse).transpose()
    }

    /// The value of a field that is always there.
    pub(crate) fn get<T: FromStr<Err: Display>>(&self, name: &str) -> Result<T> {
        self.find(name)?
            .ok_or_else(|| corrupt(format!("the field {name} is missing")))
    }

    /// The moment a field names, if it is there.
    pub(crate) fn moment(&self, name: &str) -> Result<Option<Timestamp>> {
        Ok(self.find(name)?.map(Timestamp::from_millis))
    }

    /// What follows `prefix` in the names of fields, with their values.
    pub(crate) fn under<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        let rest = move |(name, value): (&'a String, &'a String)| Some((name.strip_prefix(prefix)?, value.as_str()));
        self.0.iter().filter_map(rest)
    }

    /// Packs the fields that differ from `before` as name, value …, and then the names of those that are gone.
    pub(crate) fn pack_since(&self, before: &Fields, pack: &mut Pack) {
        let differs = |(name, value): &(&String, &String)| before.0.get(*name) != Some(*value);
        let set: Vec<&String> = self
            .0
            .iter()
            .filter(differs)
            .flat_map(|(name, value)| [name, value])
            .collect();
        let gone: Vec<&String> = before.0.keys().filter(|name| !self.0.contains_key(*name)).collect();
        for texts in [set, gone] {
            pack.each(texts.into_iter(), |pack, text| {
                pack.text(text);
            });
        }
    }
}
