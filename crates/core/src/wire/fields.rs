//! The named values of a request or reply, before anybody knows what they mean.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use serde::Deserialize;
use serde::de::{MapAccess, Visitor};
use serde_json::value::RawValue;

use super::depth;
use super::fault::Fault;

/// More fields than any command has: whoever sends many does not make us compare them all.
const FIELDS_MAX: usize = 256;
/// More values than any list of a query may have.
const REPEATED_MAX: usize = 1_000;

/// Named values: those of a JSON object, of a path, of a query.
#[derive(Clone, Debug, Default)]
pub struct Fields<'a> {
    entries: Vec<(Cow<'a, str>, Given<'a>)>,
    /// Values for fields that were not given.
    offers: Vec<Offer>,
}

/// A value for a field, in case it was not given.
#[derive(Clone, Debug)]
pub(super) struct Offer {
    name: &'static str,
    text: String,
    /// Whether each item of a list is offered something else.
    told_apart: bool,
}

/// One value as it was sent.
#[derive(Clone, Debug)]
pub(super) enum Given<'a> {
    /// In a body.
    Json(&'a RawValue),
    /// In a path or query, where everything is text.
    Text(Cow<'a, str>),
    /// In a query, several times under one name: a list.
    Texts(Vec<Cow<'a, str>>),
}

/// What is wrong with a name that stands there twice and means one thing.
pub(super) fn given_twice() -> Fault {
    Fault::new("is given twice")
}

impl<'a> Fields<'a> {
    /// The members of a JSON object.
    pub fn of_json(json: &'a [u8]) -> Result<Self, Fault> {
        let text = std::str::from_utf8(json).map_err(|_| Fault::new("the body is not UTF-8 text"))?;
        depth::check(text)?;
        Self::of_object(text)
    }

    pub(super) fn of_object(text: &'a str) -> Result<Self, Fault> {
        if !text.trim_start().starts_with('{') {
            return Err(Fault::new("a JSON object is expected"));
        }
        let members: Members<'a> = serde_json::from_str(text).map_err(|error| malformed(&error))?;
        let mut fields = Self::default();
        for (name, value) in members.0 {
            if fields.known(&name).is_some() {
                return Err(given_twice().under(name));
            }
            fields.add(name, Given::Json(value))?;
        }
        Ok(fields)
    }

    /// Adds a value of a path or query. Under a name that stands there already it is one more of a list, which whoever reads
    /// the field as one value refuses; a body is not added to.
    pub fn add_text(&mut self, name: impl Into<Cow<'a, str>>, text: impl Into<Cow<'a, str>>) -> Result<(), Fault> {
        let (name, text) = (name.into(), text.into());
        match self.known(&name) {
            None => return self.add(name, Given::Text(text)),
            Some(Given::Json(_)) => return Err(given_twice().under(name)),
            Some(Given::Texts(texts)) if texts.len() == REPEATED_MAX => {
                return Err(Fault::new(format!("is given more than {REPEATED_MAX} times")).under(name));
            }
            Some(Given::Texts(texts)) => texts.push(text),
            Some(given @ Given::Text(_)) => {
                if let Given::Text(first) = std::mem::replace(given, Given::Texts(Vec::new())) {
                    *given = Given::Texts(vec![first, text]);
                }
            }
        }
        Ok(())
    }

    /// Offers a value for a field, in case it is known and was not given; to each item of a list one of its own.
    pub fn offer(&mut self, name: &'static str, text: impl Into<String>) {
        self.offers.push(Offer {
            name,
            text: text.into(),
            told_apart: true,
        });
    }

    /// Offers a value for a field, in case it is known and was not given; to every item of a list the same.
    pub fn offer_to_all(&mut self, name: &'static str, text: impl Into<String>) {
        self.offers.push(Offer {
            name,
            text: text.into(),
            told_apart: false,
        });
    }

    /// The value of this name as the text it would have in a path or query, left where it is.
    pub fn text(&self, name: &str) -> Result<Option<Cow<'_, str>>, Fault> {
        let given = self.entries.iter().find(|(known, _)| known == name);
        match given.map(|(_, given)| given) {
            None => Ok(None),
            Some(Given::Text(text)) => Ok(Some(Cow::Borrowed(text))),
            Some(Given::Texts(_)) => Err(given_twice().under(name)),
            Some(Given::Json(value)) => Ok(Some(Cow::Owned(plain(value)?))),
        }
    }

    /// What is offered to an item of a list: the same, told apart from what the others are offered where it must be.
    pub(super) fn offers_to_item(&self, index: usize) -> Vec<Offer> {
        let mut offers = self.offers.clone();
        let told_apart = offers.iter_mut().filter(|offer| offer.told_apart);
        told_apart.for_each(|offer| offer.text = format!("{}/{index}", offer.text));
        offers
    }

    pub(super) fn with_offers(mut self, offers: Vec<Offer>) -> Self {
        self.offers = offers;
        self
    }

    fn known(&mut self, name: &str) -> Option<&mut Given<'a>> {
        let mut entries = self.entries.iter_mut();
        entries.find(|(known, _)| known == name).map(|(_, given)| given)
    }

    fn add(&mut self, name: Cow<'a, str>, value: Given<'a>) -> Result<(), Fault> {
        if self.entries.len() == FIELDS_MAX {
            return Err(Fault::new(format!("there are more than {FIELDS_MAX} fields here")));
        }
        self.entries.push((name, value));
        Ok(())
    }

    /// Whether there is a value of this name; in JSON `null` is none.
    pub fn is_given(&self, name: &str) -> bool {
        let given = self.entries.iter().find(|(known, _)| known == name);
        given.is_some_and(|(_, value)| !matches!(value, Given::Json(value) if value.get() == "null"))
    }

    /// Gives a value of a path or query, unless there is one of this name.
    pub fn add_missing(&mut self, name: &'static str, text: impl Into<Cow<'a, str>>) {
        if !self.is_given(name) {
            self.take(name);
            self.entries.push((name.into(), Given::Text(text.into())));
        }
    }

    /// Takes the value of this name out.
    pub(super) fn take(&mut self, name: &str) -> Option<Given<'a>> {
        if let Some(at) = self.entries.iter().position(|(known, _)| known == name) {
            return Some(self.entries.remove(at).1);
        }
        let at = self.offers.iter().position(|offer| offer.name == name)?;
        Some(Given::Text(self.offers.remove(at).text.into()))
    }

    /// Takes out a value as the text it would have in a path or query: a JSON string without its quotes.
    pub fn take_text(&mut self, name: &str) -> Result<Option<String>, Fault> {
        match self.take(name) {
            None => Ok(None),
            Some(Given::Text(text)) => Ok(Some(text.into_owned())),
            Some(Given::Texts(_)) => Err(given_twice().under(name)),
            Some(Given::Json(value)) => Ok(Some(plain(value)?)),
        }
    }

    /// Every value as text, for a query: a list as one text for each of its items. What is not there in JSON is left out.
    pub fn into_texts(self) -> Result<Vec<(String, String)>, Fault> {
        let mut texts = Vec::with_capacity(self.entries.len());
        for (name, value) in self.entries {
            let values = match value {
                Given::Text(text) => vec![text.into_owned()],
                Given::Texts(texts) => texts.into_iter().map(Cow::into_owned).collect(),
                Given::Json(value) if value.get() == "null" => continue,
                Given::Json(value) if value.get().starts_with('[') => {
                    let items: Vec<&RawValue> = serde_json::from_str(value.get())?;
                    items.into_iter().map(plain).collect::<Result<_, _>>()?
                }
                Given::Json(value) => vec![plain(value)?],
            };
            texts.extend(values.into_iter().map(|text| (name.clone().into_owned(), text)));
        }
        Ok(texts)
    }

    /// The values as a JSON object, for a body.
    pub fn into_json(self) -> Result<Vec<u8>, Fault> {
        let mut json = Vec::from(*b"{");
        for (name, value) in self.entries {
            if json.len() > 1 {
                json.push(b',');
            }
            serde_json::to_writer(&mut json, &name)?;
            json.push(b':');
            match value {
                Given::Json(value) => json.extend_from_slice(value.get().as_bytes()),
                Given::Text(text) => serde_json::to_writer(&mut json, &text)?,
                Given::Texts(texts) => serde_json::to_writer(&mut json, &texts)?,
            }
        }
        json.push(b'}');
        Ok(json)
    }

    /// The names that nobody took.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|(name, _)| name.as_ref())
    }
}

fn plain(value: &RawValue) -> Result<String, Fault> {
    if value.get().starts_with('"') {
        return Ok(serde_json::from_str(value.get())?);
    }
    Ok(value.get().to_owned())
}

fn malformed(error: &serde_json::Error) -> Fault {
    Fault::new(format!("this is not JSON: {error}"))
}

/// The members of an object in their order, their values untouched.
pub(super) struct Members<'a>(pub(super) Vec<(Cow<'a, str>, &'a RawValue)>);

impl Members<'_> {
    /// Refuses a name that stands there twice: one of the two would be lost.
    pub(super) fn check_distinct(&self) -> Result<(), Fault> {
        let mut names = HashSet::with_capacity(self.0.len());
        match self.0.iter().find(|(name, _)| !names.insert(name)) {
            None => Ok(()),
            Some((name, _)) => Err(given_twice().under(name)),
        }
    }
}

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
        let mut members = Vec::new();
        while let Some(name) = map.next_key::<Name<'de>>()? {
            members.push((name.0, map.next_value()?));
        }
        Ok(Members(members))
    }
}

/// A member's name, borrowed where it holds no escapes.
struct Name<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Name<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameVisitor;
        impl<'de> Visitor<'de> for NameVisitor {
            type Value = Name<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name")
            }

            fn visit_borrowed_str<E>(self, name: &'de str) -> Result<Name<'de>, E> {
                Ok(Name(Cow::Borrowed(name)))
            }

            fn visit_str<E>(self, name: &str) -> Result<Name<'de>, E> {
                Ok(Name(Cow::Owned(name.to_owned())))
            }
        }
        deserializer.deserialize_str(NameVisitor)
    }
}
