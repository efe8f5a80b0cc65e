//! What a member of a flow is handed of the members before it.

use std::collections::BTreeMap;

use ff_core::payload::Payload;
use serde::de::DeserializeOwned;

use crate::json;

/// Something that can be read from the results of upstreams, each under its name.
///
/// `#[derive(FromInputs)]` reads a field of each name: a `Vec` collects `pages.0`, `pages.1`, …, an `Option` may be missing.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say what it reads from the results of upstreams",
    label = "not something to read inputs into",
    note = "put `#[derive(FromInputs)]` on a struct with a field for each name, or take `()` when there are no inputs"
)]
pub trait FromInputs: Sized + Send + 'static {
    /// What it reads: flows are checked against it before they are submitted.
    const NAMES: &'static [InputName];

    /// Reads it.
    fn from_inputs(inputs: &NamedInputs) -> Result<Self, InputError>;
}

/// A name that a task reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputName {
    /// The name; of many, what stands before the dot and the number.
    pub name: &'static str,
    /// How many results it stands for.
    pub reads: Reads,
}

/// How many results a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// One, which must be there.
    One,
    /// One, or none.
    Maybe,
    /// All of `name.0`, `name.1`, …, as many as are there.
    Many,
}

/// The results of upstreams by name, as the codec gave them back.
#[derive(Clone, Debug, Default)]
pub struct NamedInputs(BTreeMap<String, Payload>);

/// Why inputs cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InputError {
    /// No upstream hands anything over under this name.
    #[error("the input {name:?} is missing: no upstream that succeeded hands its result over under this name")]
    Missing {
        /// The name.
        name: String,
    },
    /// What is there is something else than what is read.
    #[error("the input {name:?} {problem}")]
    Unreadable {
        /// The name.
        name: String,
        /// Where in it, and why not.
        problem: json::Unreadable,
    },
}

impl FromInputs for () {
    const NAMES: &'static [InputName] = &[];

    fn from_inputs(_: &NamedInputs) -> Result<Self, InputError> {
        Ok(())
    }
}

impl InputName {
    /// A name under which one result must be there.
    pub const fn one(name: &'static str) -> Self {
        Self {
            name,
            reads: Reads::One,
        }
    }

    /// A name under which there may be a result.
    pub const fn maybe(name: &'static str) -> Self {
        Self {
            name,
            reads: Reads::Maybe,
        }
    }

    /// A name that collects `name.0`, `name.1`, ….
    pub const fn many(name: &'static str) -> Self {
        Self {
            name,
            reads: Reads::Many,
        }
    }
}

impl NamedInputs {
    /// Inputs from decoded payloads.
    pub fn new(payloads: impl IntoIterator<Item = (String, Payload)>) -> Self {
        Self(payloads.into_iter().collect())
    }

    /// The bytes under a name.
    pub fn payload(&self, name: &str) -> Option<&Payload> {
        self.0.get(name)
    }

    /// The names there are, in the order of the alphabet.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Reads what must be there under a name.
    pub fn one<T: DeserializeOwned>(&self, name: &str) -> Result<T, InputError> {
        self.maybe(name)?
            .ok_or_else(|| InputError::Missing { name: name.to_owned() })
    }

    /// Reads what may be there under a name.
    pub fn maybe<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, InputError> {
        self.0.get(name).map(|payload| read(name, payload)).transpose()
    }

    /// Reads all of `name.0`, `name.1`, … that are there, in the order of their numbers.
    ///
    /// Some may be missing: where a flow goes on with the first three, the others have given nothing.
    pub fn many<T: DeserializeOwned>(&self, name: &str) -> Result<Vec<T>, InputError> {
        let mut found: Vec<_> = self
            .0
            .iter()
            .filter_map(|(key, payload)| Some((number(name, key)?, key, payload)))
            .collect();
        found.sort_by_key(|(number, _, _)| *number);
        found.into_iter().map(|(_, key, payload)| read(key, payload)).collect()
    }
}

fn read<T: DeserializeOwned>(name: &str, payload: &Payload) -> Result<T, InputError> {
    json::read(payload).map_err(|problem| InputError::Unreadable {
        name: name.to_owned(),
        problem,
    })
}

/// The number of a collected input: of `pages.7`, 7.
fn number(name: &str, key: &str) -> Option<usize> {
    key.strip_prefix(name)?.strip_prefix('.')?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inputs(values: &[(&str, &str)]) -> NamedInputs {
        NamedInputs::new(
            values
                .iter()
                .map(|(name, json)| ((*name).to_owned(), Payload::binary(json.as_bytes().to_vec()))),
        )
    }

    #[test]
    fn collected_inputs_come_in_the_order_of_their_numbers() {
        let inputs = inputs(&[
            ("p.10", "10"),
            ("p.2", "2"),
            ("p.0", "0"),
            ("p", "7"),
            ("page.1", "1"),
            ("p.x", "1"),
        ]);
        assert_eq!(inputs.many::<u32>("p").unwrap(), [0, 2, 10]);
    }

    #[test]
    fn a_missing_input_is_named() {
        let error = inputs(&[]).one::<u32>("text").unwrap_err();
        assert_eq!(
            error,
            InputError::Missing {
                name: "text".to_owned()
            }
        );
        assert_eq!(inputs(&[]).maybe::<u32>("text").unwrap(), None);
    }

    #[test]
    fn an_input_of_another_type_says_where_it_differs() {
        let error = inputs(&[("pages.3", r#"{"a":["x"]}"#)])
            .many::<BTreeMap<String, Vec<u32>>>("pages")
            .unwrap_err();
        let text = error.to_string();
        assert!(
            text.starts_with(r#"the input "pages.3" cannot be read at a[0]: "#),
            "{text}"
        );
    }
}
