//! A serde deserializer over [`Fields`]: knows marked names, refuses unknown ones, says where a fault is.

use std::borrow::Cow;

use bytes::Bytes;
use serde::de::value::{BorrowedStrDeserializer, CowStrDeserializer};
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, MapAccess, SeqAccess, VariantAccess,
    Visitor,
};
use serde_json::value::RawValue;

use super::bytes::Triple;
use super::fault::Fault;
use super::fields::{Fields, Given, Members, given_twice};
use super::nearest::nearest;
use super::{Mark, mark};
use crate::error::{Code, Rejection};

/// What becomes of a field nobody knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// The sender is told: a request.
    Refused,
    /// It is passed over: a reply of a newer server.
    Ignored,
}

/// Types whose faults have a code of their own.
const CODES: [(&str, Code); 2] = [
    ("Policy", Code::InvalidPolicy),
    ("ResumeCondition", Code::InvalidCondition),
];

/// Reads a value from its fields.
pub fn read<'a, T: Deserialize<'a>>(fields: Fields<'a>, unknown: Unknown) -> Result<T, Rejection> {
    Ok(read_struct(fields, unknown)?)
}

fn read_struct<'a, T: Deserialize<'a>>(mut fields: Fields<'a>, unknown: Unknown) -> Result<T, Fault> {
    let mut known = Vec::new();
    let inline = Inline {
        fields: &mut fields,
        known: &mut known,
        unknown,
    };
    let value = T::deserialize(inline);
    finished(value, &fields, &known, unknown)
}

/// Reads the list of this name, whose items are what several calls would give, and nothing else.
pub fn read_many<'a, T: Deserialize<'a>>(mut fields: Fields<'a>, name: &'static str) -> Result<Vec<T>, Rejection> {
    let Some(Given::Json(list)) = fields.take(name) else {
        return Err(<Fault as serde::de::Error>::missing_field(name).into());
    };
    finish(&fields, &[name], Unknown::Refused)?;
    let items: Vec<&'a RawValue> = serde_json::from_str(list.get()).map_err(|error| Fault::from(error).under(name))?;
    let read_item = |(index, item): (usize, &'a RawValue)| {
        let offers = fields.offers_to_item(index);
        let read_item = |fields: Fields<'a>| read_struct(fields.with_offers(offers), Unknown::Refused);
        let read = Fields::of_object(item.get()).and_then(read_item);
        read.map_err(|fault| fault.under(index).under(name).into())
    };
    items.into_iter().enumerate().map(read_item).collect()
}

/// Reads any JSON value.
pub(super) fn read_value<'a, T: Deserialize<'a>>(json: &'a [u8], unknown: Unknown) -> Result<T, Rejection> {
    let value: &RawValue = serde_json::from_slice(json).map_err(|error| Fault::new(error.to_string()))?;
    Ok(T::deserialize(Node::json(value, unknown))?)
}

/// What was read, unless there is something nobody took. Where something is missing and a name that nobody knows is like its
/// own, that one is what is wrong.
fn finished<T>(
    read: Result<T, Fault>,
    fields: &Fields<'_>,
    known: &[&'static str],
    unknown: Unknown,
) -> Result<T, Fault> {
    let fault = match read {
        Ok(value) => return finish(fields, known, unknown).map(|()| value),
        Err(fault) => fault,
    };
    let misspelled = |missing| fields.names().find(|name| nearest(name, &[missing]).is_some());
    match fault.absent().filter(|_| unknown == Unknown::Refused) {
        Some(missing) => Err(misspelled(missing).map_or(fault, |name| meant(name, missing))),
        None => Err(fault),
    }
}

fn meant(name: &str, known: &str) -> Fault {
    Fault::unknown(name, format!("there is no such field; is {known} meant?"))
}

/// Refuses what nobody took.
fn finish(fields: &Fields<'_>, known: &[&'static str], unknown: Unknown) -> Result<(), Fault> {
    let Some(name) = fields.names().next().filter(|_| unknown == Unknown::Refused) else {
        return Ok(());
    };
    let detail = match nearest(name, known) {
        Some(near) => return Err(meant(name, near)),
        None if known.is_empty() => "there are no fields here".to_owned(),
        None => format!("there is no such field; known are {}", known.join(", ")),
    };
    Err(Fault::unknown(name, detail))
}

/// The value of one field.
struct Node<'a> {
    value: Value<'a>,
    unknown: Unknown,
}

enum Value<'a> {
    Given(Given<'a>),
    Bytes { name: &'static str, triple: Triple<'a> },
}

impl<'a> Node<'a> {
    fn json(value: &'a RawValue, unknown: Unknown) -> Self {
        Self {
            value: Value::Given(Given::Json(value)),
            unknown,
        }
    }

    fn is_null(&self) -> bool {
        matches!(&self.value, Value::Given(Given::Json(value)) if value.get() == "null")
    }

    /// The value as JSON, where only JSON will do.
    fn raw(&self) -> Result<&'a RawValue, Fault> {
        match &self.value {
            Value::Given(Given::Json(value)) => Ok(value),
            Value::Given(Given::Text(_)) => Err(Fault::new("this does not fit into a path or query")),
            Value::Given(Given::Texts(_)) => Err(given_twice()),
            Value::Bytes { name, triple } => match triple.json {
                Some(json) if triple.base64.is_none() && triple.content_type.is_none() => Ok(json),
                _ => Err(Fault::new(format!("{name} takes JSON only"))),
            },
        }
    }
}

/// Plain values: JSON speaks for itself, text is parsed.
macro_rules! scalars {
    ($($method:ident $visit:ident $type:ty, $noun:literal;)+) => {
        $(
            fn $method<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Fault> {
                if let Value::Given(Given::Text(text)) = &self.value {
                    let value: $type = text.parse().map_err(|_| Fault::new(concat!("this is not ", $noun)))?;
                    return visitor.$visit(value);
                }
                Ok(serde_json::Deserializer::from_str(self.raw()?.get()).$method(visitor)?)
            }
        )+
    };
}

macro_rules! texts {
    ($($method:ident)+) => {
        $(
            fn $method<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Fault> {
                if let Value::Given(Given::Text(text)) = self.value {
                    return match text {
                        Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
                        Cow::Owned(text) => visitor.visit_string(text),
                    };
                }
                Ok(serde_json::Deserializer::from_str(self.raw()?.get()).$method(visitor)?)
            }
        )+
    };
}

impl<'a> Deserializer<'a> for Node<'a> {
    type Error = Fault;

    scalars! {
        deserialize_bool visit_bool bool, "true or false";
        deserialize_u8 visit_u8 u8, "a number from 0 to 255";
        deserialize_u16 visit_u16 u16, "a number from 0 to 65,535";
        deserialize_u32 visit_u32 u32, "a whole number";
        deserialize_u64 visit_u64 u64, "a whole number";
        deserialize_i8 visit_i8 i8, "a whole number";
        deserialize_i16 visit_i16 i16, "a whole number";
        deserialize_i32 visit_i32 i32, "a whole number";
        deserialize_i64 visit_i64 i64, "a whole number";
        deserialize_f32 visit_f32 f32, "a number";
        deserialize_f64 visit_f64 f64, "a number";
    }

    texts! {
        deserialize_any deserialize_str deserialize_string deserialize_char deserialize_identifier
        deserialize_bytes deserialize_byte_buf deserialize_unit
    }

    fn deserialize_option<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Fault> {
        match &self.value {
            Value::Given(_) if self.is_null() => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'a>>(self, _: &'static str, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_struct<V: Visitor<'a>>(
        self,
        name: &'static str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let mut fields = Fields::of_object(self.raw()?.get())?;
        let mut known = Vec::new();
        let inline = Inline {
            fields: &mut fields,
            known: &mut known,
            unknown: self.unknown,
        };
        let read = inline.deserialize_struct(name, names, visitor);
        finished(read, &fields, &known, self.unknown).map_err(|fault| coded(fault, name))
    }

    fn deserialize_map<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Fault> {
        let members: Members<'a> = serde_json::from_str(self.raw()?.get())?;
        members.check_distinct()?;
        visitor.visit_map(Map {
            members: members.0.into_iter(),
            value: None,
            unknown: self.unknown,
        })
    }

    fn deserialize_seq<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Fault> {
        let items: Vec<Given<'a>> = match self.value {
            Value::Given(Given::Text(text)) => vec![Given::Text(text)],
            Value::Given(Given::Texts(texts)) => texts.into_iter().map(Given::Text).collect(),
            Value::Given(Given::Json(_)) | Value::Bytes { .. } => {
                let items: Vec<&'a RawValue> = serde_json::from_str(self.raw()?.get())?;
                items.into_iter().map(Given::Json).collect()
            }
        };
        visitor.visit_seq(Items {
            items: items.into_iter().enumerate(),
            unknown: self.unknown,
        })
    }

    fn deserialize_tuple<V: Visitor<'a>>(self, _: usize, visitor: V) -> Result<V::Value, Fault> {
        self.deserialize_seq(visitor)
    }

    /// Only a payload is one of these: its content type and its bytes.
    fn deserialize_tuple_struct<V: Visitor<'a>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let Value::Bytes { name, triple } = self.value else {
            return self.deserialize_seq(visitor);
        };
        let payload = triple.payload(name)?;
        visitor.visit_seq(Parts {
            content_type: Some(payload.content_type.to_string()),
            bytes: Some(payload.bytes),
        })
    }

    fn deserialize_enum<V: Visitor<'a>>(
        self,
        name: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let read = match &self.value {
            Value::Given(Given::Text(text)) => visitor.visit_enum(CowStrDeserializer::<Fault>::new(text.clone())),
            Value::Given(Given::Json(value)) if value.get().starts_with('{') => {
                let members: Members<'a> = serde_json::from_str(value.get())?;
                let mut members = members.0.into_iter();
                match (members.next(), members.next()) {
                    (Some((variant, value)), None) => visitor.visit_enum(Variant {
                        variant,
                        value: Node::json(value, self.unknown),
                    }),
                    _ => Err(Fault::new("an object with exactly one member is expected")),
                }
            }
            _ => {
                let text: Cow<'a, str> = Cow::deserialize(self)?;
                visitor.visit_enum(CowStrDeserializer::<Fault>::new(text))
            }
        };
        read.map_err(|fault| coded(fault, name))
    }

    fn deserialize_unit_struct<V: Visitor<'a>>(self, _: &'static str, visitor: V) -> Result<V::Value, Fault> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_ignored_any<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_unit()
    }
}

fn coded(fault: Fault, name: &str) -> Fault {
    match CODES.iter().find(|(known, _)| *known == name) {
        Some((_, code)) => fault.coded(*code),
        None => fault,
    }
}

/// Fields that stand between those around them: a struct takes its own out of them and leaves the rest.
struct Inline<'f, 'a> {
    fields: &'f mut Fields<'a>,
    /// The names that were asked for, to tell the sender of another one.
    known: &'f mut Vec<&'static str>,
    unknown: Unknown,
}

impl<'de> Deserializer<'de> for Inline<'_, 'de> {
    type Error = Fault;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_map(Struct {
            names: names.iter(),
            value: None,
            inline: self,
        })
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self)
    }

    /// Nothing but a struct has fields.
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_unit()
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map enum identifier ignored_any
    }
}

/// The fields of a struct, in the order in which it names them.
struct Struct<'f, 'a> {
    names: std::slice::Iter<'static, &'static str>,
    value: Option<Field<'a>>,
    inline: Inline<'f, 'a>,
}

enum Field<'a> {
    One(&'static str, Value<'a>),
    Inline,
}

impl<'a> Struct<'_, 'a> {
    /// The field of this name, if it was given.
    fn find(&mut self, name: &'static str) -> Result<Option<Field<'a>>, Fault> {
        let fields = &mut *self.inline.fields;
        match mark(name) {
            Mark::Inline => Ok(Some(Field::Inline)),
            Mark::Plain => {
                self.inline.known.push(name);
                let given = fields.take(name);
                Ok(given.map(|given| Field::One(name, Value::Given(given))))
            }
            Mark::Bytes(base) => {
                self.inline.known.push(base);
                let json = match fields.take(base) {
                    Some(Given::Json(value)) => Some(value),
                    Some(Given::Text(_) | Given::Texts(_)) => {
                        return Err(Fault::new("bytes do not fit into a path or query").under(base));
                    }
                    None => None,
                };
                let triple = Triple {
                    json,
                    base64: fields.take_text(&format!("{base}_base64"))?,
                    content_type: fields.take_text(&format!("{base}_type"))?,
                };
                let is_given = triple.json.is_some() || triple.base64.is_some() || triple.content_type.is_some();
                Ok(is_given.then_some(Field::One(base, Value::Bytes { name: base, triple })))
            }
        }
    }
}

impl<'a> MapAccess<'a> for Struct<'_, 'a> {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'a>>(&mut self, seed: K) -> Result<Option<K::Value>, Fault> {
        while let Some(name) = self.names.next() {
            if let Some(field) = self.find(name)? {
                self.value = Some(field);
                return seed.deserialize(BorrowedStrDeserializer::new(name)).map(Some);
            }
        }
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'a>>(&mut self, seed: V) -> Result<V::Value, Fault> {
        let unknown = self.inline.unknown;
        match self.value.take() {
            Some(Field::One(name, value)) => seed
                .deserialize(Node { value, unknown })
                .map_err(|fault| fault.under(name)),
            Some(Field::Inline) => seed.deserialize(Inline {
                fields: &mut *self.inline.fields,
                known: &mut *self.inline.known,
                unknown,
            }),
            None => Err(Fault::new("a value was asked for before its name")),
        }
    }
}

/// The members of a map: any names.
struct Map<'a> {
    members: std::vec::IntoIter<(Cow<'a, str>, &'a RawValue)>,
    value: Option<(Cow<'a, str>, &'a RawValue)>,
    unknown: Unknown,
}

impl<'a> MapAccess<'a> for Map<'a> {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'a>>(&mut self, seed: K) -> Result<Option<K::Value>, Fault> {
        let Some((name, value)) = self.members.next() else {
            return Ok(None);
        };
        let key = Node {
            value: Value::Given(Given::Text(name.clone())),
            unknown: self.unknown,
        };
        let key = seed.deserialize(key).map_err(|fault| fault.under(&name))?;
        self.value = Some((name, value));
        Ok(Some(key))
    }

    fn next_value_seed<V: DeserializeSeed<'a>>(&mut self, seed: V) -> Result<V::Value, Fault> {
        let (name, value) = self
            .value
            .take()
            .ok_or_else(|| Fault::new("a value was asked for before its name"))?;
        seed.deserialize(Node::json(value, self.unknown))
            .map_err(|fault| fault.under(name))
    }
}

/// The items of a list.
struct Items<'a> {
    items: std::iter::Enumerate<std::vec::IntoIter<Given<'a>>>,
    unknown: Unknown,
}

impl<'a> SeqAccess<'a> for Items<'a> {
    type Error = Fault;

    fn next_element_seed<T: DeserializeSeed<'a>>(&mut self, seed: T) -> Result<Option<T::Value>, Fault> {
        let Some((index, item)) = self.items.next() else {
            return Ok(None);
        };
        let item = seed.deserialize(Node {
            value: Value::Given(item),
            unknown: self.unknown,
        });
        item.map(Some).map_err(|fault| fault.under(index))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.items.len())
    }
}

/// Content type and bytes of a payload.
struct Parts {
    content_type: Option<String>,
    bytes: Option<Bytes>,
}

impl<'a> SeqAccess<'a> for Parts {
    type Error = Fault;

    fn next_element_seed<T: DeserializeSeed<'a>>(&mut self, seed: T) -> Result<Option<T::Value>, Fault> {
        if let Some(content_type) = self.content_type.take() {
            return seed.deserialize(content_type.into_deserializer()).map(Some);
        }
        self.bytes
            .take()
            .map(|bytes| seed.deserialize(Owned(bytes)))
            .transpose()
    }
}

/// Bytes that change hands without being copied.
struct Owned(Bytes);

impl<'de> Deserializer<'de> for Owned {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_byte_buf(self.0.into())
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

/// A variant with its content.
struct Variant<'a> {
    variant: Cow<'a, str>,
    value: Node<'a>,
}

impl<'a> EnumAccess<'a> for Variant<'a> {
    type Error = Fault;
    type Variant = Content<'a>;

    fn variant_seed<V: DeserializeSeed<'a>>(self, seed: V) -> Result<(V::Value, Content<'a>), Fault> {
        let variant = seed.deserialize(CowStrDeserializer::<Fault>::new(self.variant.clone()))?;
        let content = Content {
            variant: self.variant,
            value: self.value,
        };
        Ok((variant, content))
    }
}

/// What stands in a variant.
struct Content<'a> {
    variant: Cow<'a, str>,
    value: Node<'a>,
}

impl<'a> VariantAccess<'a> for Content<'a> {
    type Error = Fault;

    fn unit_variant(self) -> Result<(), Fault> {
        match self.value.raw()?.get() {
            "null" | "{}" => Ok(()),
            _ => Err(Fault::new("this takes nothing").under(self.variant)),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'a>>(self, seed: T) -> Result<T::Value, Fault> {
        seed.deserialize(self.value).map_err(|fault| fault.under(self.variant))
    }

    fn tuple_variant<V: Visitor<'a>>(self, _: usize, visitor: V) -> Result<V::Value, Fault> {
        self.value
            .deserialize_seq(visitor)
            .map_err(|fault| fault.under(self.variant))
    }

    fn struct_variant<V: Visitor<'a>>(self, names: &'static [&'static str], visitor: V) -> Result<V::Value, Fault> {
        let content = self.value.deserialize_struct("", names, visitor);
        content.map_err(|fault| fault.under(self.variant))
    }
}
