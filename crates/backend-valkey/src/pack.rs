//! Arguments for the library: msgpack, which Lua reads without copying it apart by hand.
//!
//! Bytes travel as msgpack strings, because the server's `cmsgpack` refuses the type for binary data, and numbers that may
//! not fit into a double travel as text.

use std::fmt::{self, Display};
use std::io::Write as _;

use bytes::Bytes;
use ff_core::ledger::NUMBER_MAX;
use rmp::Marker;
use rmp::encode::{write_array_len, write_bool, write_sint, write_str_len};

/// What is there, written down; nothing where nothing is.
pub(crate) struct IfAny<T>(pub(crate) Option<T>);

impl<T: Display> Display for IfAny<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_ref().map_or(Ok(()), |value| value.fmt(f))
    }
}

/// A count, a moment or a span as Lua takes it: it tells no larger number from its neighbours.
pub(crate) fn count(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(NUMBER_MAX).min(NUMBER_MAX)
}

/// What stands in for an empty list: Lua then makes no table for it.
const NOTHING: bool = false;

/// The arguments of a call in the making: one that is packed, and large values beside it.
#[derive(Default)]
pub(crate) struct Pack {
    packed: Vec<u8>,
    beside: Vec<Bytes>,
}

impl Pack {
    /// With room for so many bytes more: growing would copy what is there.
    pub(crate) fn with_room(mut self, bytes: usize) -> Self {
        self.packed.reserve(bytes);
        self
    }

    /// Begins a list of so many values.
    pub(crate) fn list(&mut self, len: usize) -> &mut Self {
        let len = u32::try_from(len).expect("a call has fewer than 2^32 values");
        write_array_len(&mut self.packed, len).expect("a vector takes every byte");
        self
    }

    /// Adds bytes or text.
    pub(crate) fn text(&mut self, text: impl AsRef<[u8]>) -> &mut Self {
        let bytes = text.as_ref();
        let len = u32::try_from(bytes.len()).expect("a value has fewer than 2^32 bytes");
        write_str_len(&mut self.packed, len).expect("a vector takes every byte");
        self.packed.extend_from_slice(bytes);
        self
    }

    /// Adds text as it is written down, which needs no memory of its own.
    pub(crate) fn display(&mut self, text: impl Display) -> &mut Self {
        let header = self.packed.len();
        self.packed.extend_from_slice(&[Marker::Str32.to_u8(), 0, 0, 0, 0]);
        let begin = self.packed.len();
        write!(self.packed, "{text}").expect("a vector takes every byte");
        let len = u32::try_from(self.packed.len() - begin).expect("a value has fewer than 2^32 bytes");
        self.packed[header + 1..begin].copy_from_slice(&len.to_be_bytes());
        self
    }

    /// Adds a number that fits into a double.
    pub(crate) fn number(&mut self, number: impl Into<i64>) -> &mut Self {
        write_sint(&mut self.packed, number.into()).expect("a vector takes every byte");
        self
    }

    /// Adds a number if there is one.
    pub(crate) fn maybe(&mut self, number: Option<i64>) -> &mut Self {
        match number {
            Some(number) => self.number(number),
            None => self.nothing(),
        }
    }

    /// Adds a truth value.
    pub(crate) fn flag(&mut self, flag: bool) -> &mut Self {
        write_bool(&mut self.packed, flag).expect("a vector takes every byte");
        self
    }

    /// Adds a value that is not there.
    pub(crate) fn nothing(&mut self) -> &mut Self {
        self.flag(NOTHING)
    }

    /// Adds text if there is some.
    pub(crate) fn optional(&mut self, text: Option<impl AsRef<[u8]>>) -> &mut Self {
        match text {
            Some(text) => self.text(text),
            None => self.nothing(),
        }
    }

    /// Adds a list of texts.
    pub(crate) fn texts(&mut self, texts: impl ExactSizeIterator<Item: AsRef<[u8]>>) -> &mut Self {
        self.each(texts, |pack, text| {
            pack.text(text);
        })
    }

    /// Adds a list, each item by `add`.
    pub(crate) fn each<T>(
        &mut self,
        items: impl ExactSizeIterator<Item = T>,
        add: impl FnMut(&mut Self, T),
    ) -> &mut Self {
        self.row(1, items, add)
    }

    /// Adds a list of items that are so many values each, one after the other: Lua then makes no table for each.
    pub(crate) fn row<T>(
        &mut self,
        width: usize,
        items: impl ExactSizeIterator<Item = T>,
        mut add: impl FnMut(&mut Self, T),
    ) -> &mut Self {
        if items.len() == 0 {
            return self.nothing();
        }
        self.list(width * items.len());
        for item in items {
            add(self, item);
        }
        self
    }

    /// Adds bytes that travel beside the packed argument, which may be large: Lua hashes every string it makes, so they
    /// should not be part of two. What is packed is their number among the arguments.
    pub(crate) fn large(&mut self, bytes: Bytes) -> &mut Self {
        self.beside.push(bytes);
        // Lua counts from 1, and the packed argument comes first.
        self.number(count(self.beside.len() + 1))
    }

    /// Adds what was packed elsewhere. Only one of several may have values beside it.
    pub(crate) fn append(&mut self, other: Pack) -> &mut Self {
        debug_assert!(self.beside.is_empty() || other.beside.is_empty(), "numbers would meet");
        self.packed.extend_from_slice(&other.packed);
        self.beside.extend(other.beside);
        self
    }

    /// How many arguments there are.
    pub(crate) fn len(&self) -> usize {
        1 + self.beside.len()
    }

    /// How many bytes they have.
    pub(crate) fn bytes(&self) -> usize {
        self.packed.len() + self.beside.iter().map(Bytes::len).sum::<usize>()
    }

    /// The arguments.
    pub(crate) fn write(self, command: &mut redis::Cmd) {
        command.arg(self.packed);
        for bytes in self.beside {
            command.arg(&bytes[..]);
        }
    }
}
