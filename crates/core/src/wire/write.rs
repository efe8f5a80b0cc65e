//! A serde serializer in front of another one: writes marked fields as they travel.

use std::{fmt, io};

use serde::ser::{
    Impossible, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};

use super::bytes::{Form, form, usual_type};
use super::{Mark, mark};

/// A value as it travels.
pub fn to_json<T: Serialize + ?Sized>(value: &T) -> serde_json::Result<Vec<u8>> {
    let mut json = Vec::new();
    to_writer(&mut json, value)?;
    Ok(json)
}

/// Writes a value as it travels.
pub fn to_writer<W: io::Write, T: Serialize + ?Sized>(writer: W, value: &T) -> serde_json::Result<()> {
    value.serialize(Wire(&mut serde_json::Serializer::new(writer)))
}

/// Serializes as things travel, through the serializer inside.
struct Wire<S>(S);

/// A value that is written through [`Wire`] wherever it stands.
struct Nested<'v, T: ?Sized>(&'v T);

impl<T: Serialize + ?Sized> Serialize for Nested<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(Wire(serializer))
    }
}

macro_rules! plain {
    ($($method:ident($type:ty);)+) => {
        $(
            fn $method(self, value: $type) -> Result<S::Ok, S::Error> {
                self.0.$method(value)
            }
        )+
    };
}

impl<S: Serializer> Serializer for Wire<S> {
    type Ok = S::Ok;
    type Error = S::Error;
    type SerializeSeq = Wire<S::SerializeSeq>;
    type SerializeTuple = Wire<S::SerializeTuple>;
    type SerializeTupleStruct = Wire<S::SerializeTupleStruct>;
    type SerializeTupleVariant = Wire<S::SerializeTupleVariant>;
    type SerializeMap = Wire<S::SerializeMap>;
    type SerializeStruct = Fields<S::SerializeMap>;
    type SerializeStructVariant = Wire<S::SerializeStructVariant>;

    plain! {
        serialize_bool(bool);
        serialize_i8(i8);
        serialize_i16(i16);
        serialize_i32(i32);
        serialize_i64(i64);
        serialize_u8(u8);
        serialize_u16(u16);
        serialize_u32(u32);
        serialize_u64(u64);
        serialize_f32(f32);
        serialize_f64(f64);
        serialize_char(char);
        serialize_str(&str);
        serialize_bytes(&[u8]);
        serialize_unit_struct(&'static str);
    }

    fn serialize_none(self) -> Result<S::Ok, S::Error> {
        self.0.serialize_none()
    }

    fn serialize_unit(self) -> Result<S::Ok, S::Error> {
        self.0.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        self.0.serialize_some(&Nested(value))
    }

    fn serialize_unit_variant(self, name: &'static str, at: u32, variant: &'static str) -> Result<S::Ok, S::Error> {
        self.0.serialize_unit_variant(name, at, variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, name: &'static str, value: &T) -> Result<S::Ok, S::Error> {
        self.0.serialize_newtype_struct(name, &Nested(value))
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        at: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        self.0.serialize_newtype_variant(name, at, variant, &Nested(value))
    }

    fn serialize_seq(self, len: Option<usize>) -> Result<Self::SerializeSeq, S::Error> {
        self.0.serialize_seq(len).map(Wire)
    }

    fn serialize_tuple(self, len: usize) -> Result<Self::SerializeTuple, S::Error> {
        self.0.serialize_tuple(len).map(Wire)
    }

    fn serialize_tuple_struct(self, name: &'static str, len: usize) -> Result<Self::SerializeTupleStruct, S::Error> {
        self.0.serialize_tuple_struct(name, len).map(Wire)
    }

    fn serialize_tuple_variant(
        self,
        name: &'static str,
        at: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Self::SerializeTupleVariant, S::Error> {
        self.0.serialize_tuple_variant(name, at, variant, len).map(Wire)
    }

    fn serialize_map(self, len: Option<usize>) -> Result<Self::SerializeMap, S::Error> {
        self.0.serialize_map(len).map(Wire)
    }

    /// As a map, because a marked field becomes several, or none.
    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self::SerializeStruct, S::Error> {
        self.0.serialize_map(None).map(Fields)
    }

    fn serialize_struct_variant(
        self,
        name: &'static str,
        at: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Self::SerializeStructVariant, S::Error> {
        self.0.serialize_struct_variant(name, at, variant, len).map(Wire)
    }
}

macro_rules! items {
    ($($trait:ident $method:ident;)+) => {
        $(
            impl<S: $trait> $trait for Wire<S> {
                type Ok = S::Ok;
                type Error = S::Error;

                fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), S::Error> {
                    self.0.$method(&Nested(value))
                }

                fn end(self) -> Result<S::Ok, S::Error> {
                    self.0.end()
                }
            }
        )+
    };
}

items! {
    SerializeSeq serialize_element;
    SerializeTuple serialize_element;
    SerializeTupleStruct serialize_field;
    SerializeTupleVariant serialize_field;
}

impl<S: SerializeMap> SerializeMap for Wire<S> {
    type Ok = S::Ok;
    type Error = S::Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), S::Error> {
        self.0.serialize_key(key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), S::Error> {
        self.0.serialize_value(&Nested(value))
    }

    fn end(self) -> Result<S::Ok, S::Error> {
        self.0.end()
    }
}

impl<S: SerializeStructVariant> SerializeStructVariant for Wire<S> {
    type Ok = S::Ok;
    type Error = S::Error;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), S::Error> {
        self.0.serialize_field(name, &Nested(value))
    }

    fn end(self) -> Result<S::Ok, S::Error> {
        self.0.end()
    }
}

/// The fields of a struct, written into the map inside.
struct Fields<M>(M);

fn write<M: SerializeMap, T: Serialize + ?Sized>(map: &mut M, name: &'static str, value: &T) -> Result<(), M::Error> {
    match mark(name) {
        Mark::Plain if value.serialize(IsNone) == Ok(true) => Ok(()),
        Mark::Plain => map.serialize_entry(name, &Nested(value)),
        Mark::Bytes(name) => value.serialize(Bytes {
            map,
            name,
            content_type: String::new(),
        }),
        Mark::Inline => value.serialize(Inline(map)),
    }
}

impl<M: SerializeMap> SerializeStruct for Fields<M> {
    type Ok = M::Ok;
    type Error = M::Error;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), M::Error> {
        write(&mut self.0, name, value)
    }

    fn end(self) -> Result<M::Ok, M::Error> {
        self.0.end()
    }
}

/// Refuses every kind of value that is not named: the type of a marked field is a mistake in this crate.
macro_rules! nothing_else {
    ($($method:ident($($arg:ty),*) -> $result:ty;)+) => {
        $(
            fn $method(self, $(_: $arg),*) -> Result<$result, Self::Error> {
                Err(serde::ser::Error::custom("a marked field has a type that cannot be written so"))
            }
        )+
    };
}

macro_rules! refused_scalars {
    () => {
        nothing_else! {
            serialize_bool(bool) -> Self::Ok;
            serialize_i8(i8) -> Self::Ok;
            serialize_i16(i16) -> Self::Ok;
            serialize_i32(i32) -> Self::Ok;
            serialize_i64(i64) -> Self::Ok;
            serialize_u8(u8) -> Self::Ok;
            serialize_u16(u16) -> Self::Ok;
            serialize_u32(u32) -> Self::Ok;
            serialize_u64(u64) -> Self::Ok;
            serialize_f32(f32) -> Self::Ok;
            serialize_f64(f64) -> Self::Ok;
            serialize_char(char) -> Self::Ok;
            serialize_unit() -> Self::Ok;
            serialize_unit_struct(&'static str) -> Self::Ok;
            serialize_unit_variant(&'static str, u32, &'static str) -> Self::Ok;
            serialize_seq(Option<usize>) -> Self::SerializeSeq;
            serialize_tuple(usize) -> Self::SerializeTuple;
            serialize_tuple_variant(&'static str, u32, &'static str, usize) -> Self::SerializeTupleVariant;
            serialize_map(Option<usize>) -> Self::SerializeMap;
            serialize_struct_variant(&'static str, u32, &'static str, usize) -> Self::SerializeStructVariant;
        }

        fn serialize_newtype_variant<T: Serialize + ?Sized>(
            self,
            _: &'static str,
            _: u32,
            _: &'static str,
            _: &T,
        ) -> Result<Self::Ok, Self::Error> {
            Err(serde::ser::Error::custom(
                "a marked field has a type that cannot be written so",
            ))
        }
    };
}

/// An option is what stands in it, and nothing when nothing does.
macro_rules! transparent {
    () => {
        fn serialize_none(self) -> Result<(), M::Error> {
            Ok(())
        }

        fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), M::Error> {
            value.serialize(self)
        }

        fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<(), M::Error> {
            value.serialize(self)
        }
    };
}

/// Asks whether a value is an absent option: such a field is not written, so that an older reader is not told of fields it
/// does not know and that say nothing.
struct IsNone;

/// It is no option at all.
#[derive(Debug, PartialEq)]
struct NotAnOption;

impl serde::ser::Error for NotAnOption {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }
}

impl fmt::Display for NotAnOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not an option")
    }
}

impl std::error::Error for NotAnOption {}

impl Serializer for IsNone {
    type Ok = bool;
    type Error = NotAnOption;
    type SerializeSeq = Impossible<bool, NotAnOption>;
    type SerializeTuple = Impossible<bool, NotAnOption>;
    type SerializeTupleStruct = Impossible<bool, NotAnOption>;
    type SerializeTupleVariant = Impossible<bool, NotAnOption>;
    type SerializeMap = Impossible<bool, NotAnOption>;
    type SerializeStruct = Impossible<bool, NotAnOption>;
    type SerializeStructVariant = Impossible<bool, NotAnOption>;

    refused_scalars!();
    nothing_else! {
        serialize_str(&str) -> bool;
        serialize_bytes(&[u8]) -> bool;
        serialize_tuple_struct(&'static str, usize) -> Self::SerializeTupleStruct;
        serialize_struct(&'static str, usize) -> Self::SerializeStruct;
    }

    fn serialize_none(self) -> Result<bool, NotAnOption> {
        Ok(true)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, _: &T) -> Result<bool, NotAnOption> {
        Ok(false)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<bool, NotAnOption> {
        value.serialize(self)
    }
}

/// Writes the fields of a struct between those of another.
struct Inline<'m, M>(&'m mut M);

impl<'m, M: SerializeMap> Serializer for Inline<'m, M> {
    type Ok = ();
    type Error = M::Error;
    type SerializeSeq = Impossible<(), M::Error>;
    type SerializeTuple = Impossible<(), M::Error>;
    type SerializeTupleStruct = Impossible<(), M::Error>;
    type SerializeTupleVariant = Impossible<(), M::Error>;
    type SerializeMap = Impossible<(), M::Error>;
    type SerializeStruct = Inline<'m, M>;
    type SerializeStructVariant = Impossible<(), M::Error>;

    refused_scalars!();
    transparent!();
    nothing_else! {
        serialize_str(&str) -> ();
        serialize_bytes(&[u8]) -> ();
        serialize_tuple_struct(&'static str, usize) -> Self::SerializeTupleStruct;
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, M::Error> {
        Ok(self)
    }
}

impl<M: SerializeMap> SerializeStruct for Inline<'_, M> {
    type Ok = ();
    type Error = M::Error;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), M::Error> {
        write(self.0, name, value)
    }

    fn end(self) -> Result<(), M::Error> {
        Ok(())
    }
}

/// Writes a payload: its content type comes first, then its bytes.
struct Bytes<'m, M> {
    map: &'m mut M,
    name: &'static str,
    content_type: String,
}

impl<'m, M: SerializeMap> Serializer for Bytes<'m, M> {
    type Ok = ();
    type Error = M::Error;
    type SerializeSeq = Impossible<(), M::Error>;
    type SerializeTuple = Impossible<(), M::Error>;
    type SerializeTupleStruct = Bytes<'m, M>;
    type SerializeTupleVariant = Impossible<(), M::Error>;
    type SerializeMap = Impossible<(), M::Error>;
    type SerializeStruct = Impossible<(), M::Error>;
    type SerializeStructVariant = Impossible<(), M::Error>;

    refused_scalars!();
    transparent!();
    nothing_else! {
        serialize_str(&str) -> ();
        serialize_struct(&'static str, usize) -> Self::SerializeStruct;
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self, M::Error> {
        Ok(self)
    }

    fn serialize_bytes(self, bytes: &[u8]) -> Result<(), M::Error> {
        let form = form(bytes, &self.content_type);
        match &form {
            Form::Json(value) => self.map.serialize_entry(self.name, value)?,
            Form::Base64(text) => self.map.serialize_entry(&format!("{}_base64", self.name), text)?,
        }
        if self.content_type != usual_type(&form) {
            self.map
                .serialize_entry(&format!("{}_type", self.name), &self.content_type)?;
        }
        Ok(())
    }
}

impl<M: SerializeMap> SerializeTupleStruct for Bytes<'_, M> {
    type Ok = ();
    type Error = M::Error;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, part: &T) -> Result<(), M::Error> {
        if self.content_type.is_empty() {
            let text = serde_json::to_value(part).map_err(serde::ser::Error::custom)?;
            self.content_type = text.as_str().unwrap_or_default().to_owned();
            return Ok(());
        }
        part.serialize(Bytes {
            map: &mut *self.map,
            name: self.name,
            content_type: std::mem::take(&mut self.content_type),
        })
    }

    fn end(self) -> Result<(), M::Error> {
        Ok(())
    }
}
