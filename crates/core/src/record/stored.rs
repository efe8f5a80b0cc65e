//! How records are stored: JSON whose members only ever become more.
//!
//! While servers are being replaced, an older one reads and writes what a newer one wrote. It must neither refuse it nor drop
//! what it has no field for. So a record that may hold such members begins with the format it was written in,
//! `{"format":2,…`; whoever knows only an earlier one keeps the members it does not know and puts them back when it writes the
//! record. A record without that mark holds nothing unknown: reading it costs one comparison more than it would without any
//! of this.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::{
    AccessKeyRecord, Attempt, Budget, Edge, Execution, Flow, Lane, QuotaPolicy, Record, RecordKey, SavedView, Signal,
    SignalKeyRecord, Step, SubmissionKeyRecord, Waitpoint, Worker,
};
use crate::keyring::KeyRing;

/// The format records are written in here. It is raised with every member that is added to a stored record; the first has no
/// mark.
pub const FORMAT: u64 = 5;

const MARK: &str = "format";
const MARKED: &str = r#"{"format":"#;

/// What is stored as a document of its own.
pub trait Stored: Serialize + DeserializeOwned {
    /// What a later format holds besides what this one knows.
    fn carried(&self) -> &Carried;

    /// Keeps what a later format holds.
    fn carry(&mut self, carried: Carried);
}

macro_rules! stored {
    ($($record:ty),+ $(,)?) => {
        $(
            impl Stored for $record {
                fn carried(&self) -> &Carried {
                    &self.carried
                }

                fn carry(&mut self, carried: Carried) {
                    self.carried = carried;
                }
            }
        )+
    };
}

stored!(
    AccessKeyRecord,
    Attempt,
    Budget,
    Edge,
    Flow,
    KeyRing,
    Lane,
    QuotaPolicy,
    SavedView,
    Signal,
    SignalKeyRecord,
    Step,
    SubmissionKeyRecord,
    Waitpoint,
    Worker,
);

impl Stored for Execution {
    fn carried(&self) -> &Carried {
        &self.carried
    }

    fn carry(&mut self, carried: Carried) {
        if let Some(attempt) = &mut self.attempt {
            // It becomes a record of its own when another attempt follows.
            attempt.carried = carried.of_member("attempt");
        }
        self.carried = carried;
    }
}

/// What a record held when it was read that its reader does not know; usually nothing.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Carried(Option<Arc<Later>>);

/// A document of a later format.
#[derive(PartialEq, Eq)]
struct Later {
    format: u64,
    /// As it was written.
    whole: Value,
    /// As far as it is known here.
    known: Value,
}

impl fmt::Debug for Carried {
    /// Says that there is something, not what: it may be a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let format = self.0.as_deref().map(|later| later.format);
        f.debug_tuple("Carried").field(&format).finish()
    }
}

impl Carried {
    /// The format a record that carries this is written in.
    fn format(&self) -> u64 {
        self.0.as_deref().map_or(FORMAT, |later| later.format.max(FORMAT))
    }

    /// What one member of the record carries.
    fn of_member(&self, name: &str) -> Carried {
        let part = |later: &Later| {
            Some(Later {
                format: later.format,
                whole: later.whole.get(name)?.clone(),
                known: later.known.get(name)?.clone(),
            })
        };
        Carried(self.0.as_deref().and_then(part).map(Arc::new))
    }
}

/// Reads a stored document.
///
/// # Errors
///
/// When the text is no such document.
pub fn read<T: Stored>(text: &str) -> serde_json::Result<T> {
    match format_of(text) {
        ..=FORMAT => serde_json::from_str(text),
        _ => read_value(serde_json::from_str(text)?),
    }
}

/// The format that a text begins with; without a mark it is the first.
fn format_of(text: &str) -> u64 {
    let Some(marked) = text.strip_prefix(MARKED) else {
        return 1;
    };
    let digits = marked.bytes().take_while(u8::is_ascii_digit).count();
    marked[..digits].parse().unwrap_or(u64::MAX)
}

/// The text a document is stored as.
///
/// # Errors
///
/// When it has no JSON form, which no record is without.
pub fn write<T: Stored>(record: &T) -> serde_json::Result<String> {
    // Most records have about this size: growing there step by step would copy them several times.
    let mut text = Vec::with_capacity(1_024);
    match record.carried().0 {
        None => serde_json::to_writer(&mut text, record)?,
        Some(_) => serde_json::to_writer(&mut text, &write_members(record)?)?,
    }
    let mut text = String::from_utf8(text).map_err(serde::ser::Error::custom)?;
    if let format @ 2.. = record.carried().format() {
        text.replace_range(..1, &format!("{MARKED}{format},"));
    }
    Ok(text)
}

/// Reads a stored document that was taken apart already.
///
/// # Errors
///
/// When it is no such document.
pub fn read_value<T: Stored>(whole: Value) -> serde_json::Result<T> {
    let mut record = T::deserialize(&whole)?;
    let format = whole.get(MARK).and_then(Value::as_u64).unwrap_or(1);
    if format > FORMAT {
        let known = serde_json::to_value(&record)?;
        record.carry(Carried(Some(Arc::new(Later { format, whole, known }))));
    }
    Ok(record)
}

/// The document a record is stored as, where it is stored as part of another.
///
/// # Errors
///
/// When it has no JSON form, which no record is without.
pub fn write_value<T: Stored>(record: &T) -> serde_json::Result<Value> {
    let mut members = write_members(record)?;
    if let (format @ 2.., Value::Object(members)) = (record.carried().format(), &mut members) {
        members.insert(MARK.to_owned(), format.into());
    }
    Ok(members)
}

/// The members of a record with what it carries, without the mark.
fn write_members<T: Stored>(record: &T) -> serde_json::Result<Value> {
    let mut members = serde_json::to_value(record)?;
    if let Some(later) = record.carried().0.as_deref() {
        put_back(&mut members, &later.known, &later.whole);
        if let Value::Object(members) = &mut members {
            members.remove(MARK);
        }
    }
    Ok(members)
}

/// The text a record is stored as.
///
/// # Errors
///
/// When it has no JSON form, which no record is without.
pub fn write_record(record: &Record) -> serde_json::Result<String> {
    match record {
        Record::Execution(execution) => write(&**execution),
        Record::Attempt(_, attempt) => write(&**attempt),
        Record::Waitpoint(waitpoint) => write(&**waitpoint),
        Record::Signal(signal) => write(&**signal),
        Record::SignalKey(key) => write(key),
        Record::Step(step) => write(&**step),
        Record::SubmissionKey(key) => write(key),
        Record::Flow(flow) => write(&**flow),
        Record::Gate(gate) => serde_json::to_string(gate),
        Record::Edge(edge) => write(&**edge),
    }
}

/// The record with this key that a text stands for.
///
/// # Errors
///
/// When the text is no such record.
pub fn read_record(key: &RecordKey, text: &str) -> serde_json::Result<Record> {
    Ok(match key {
        RecordKey::Execution(_) => Record::Execution(Box::new(read(text)?)),
        RecordKey::Attempt(id, _) => Record::Attempt(*id, Box::new(read(text)?)),
        RecordKey::Waitpoint(..) => Record::Waitpoint(Box::new(read(text)?)),
        RecordKey::Signal(..) => Record::Signal(Box::new(read(text)?)),
        RecordKey::SignalKey(..) => Record::SignalKey(read(text)?),
        RecordKey::Step(..) => Record::Step(Box::new(read(text)?)),
        RecordKey::SubmissionKey(..) => Record::SubmissionKey(read(text)?),
        RecordKey::Flow(_) => Record::Flow(Box::new(read(text)?)),
        RecordKey::Gate(_) => Record::Gate(serde_json::from_str(text)?),
        RecordKey::Edge(_) => Record::Edge(Box::new(read(text)?)),
    })
}

/// Adds to `now` what `whole` had besides `known`, wherever `now` still speaks of the same thing.
fn put_back(now: &mut Value, known: &Value, whole: &Value) {
    match (now, known, whole) {
        (Value::Object(now), Value::Object(known), Value::Object(whole)) if same_thing(now, known) => {
            for (name, value) in whole {
                match (now.get_mut(name), known.get(name)) {
                    (Some(now), Some(known)) => put_back(now, known, value),
                    (None, None) => {
                        now.insert(name.clone(), value.clone());
                    }
                    // It was there and was taken away, or has come since.
                    (None, Some(_)) | (Some(_), None) => {}
                }
            }
        }
        (Value::Array(now), Value::Array(known), Value::Array(whole)) => {
            for item in now {
                let before = known.iter().zip(whole).find(|(known, _)| same_item(item, known));
                if let Some((known, whole)) = before {
                    put_back(item, known, whole);
                }
            }
        }
        _ => {}
    }
}

/// Whether two objects are one thing at two times: what has an id is known by it.
fn same_thing(now: &Map<String, Value>, before: &Map<String, Value>) -> bool {
    now.get("id") == before.get("id")
}

/// Whether two items of a list are one thing at two times: by their id, or because nothing about it has changed.
fn same_item(now: &Value, before: &Value) -> bool {
    match (now, before) {
        (Value::Object(now), Value::Object(before)) if now.contains_key("id") => same_thing(now, before),
        _ => now == before,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Value, format_of, put_back};

    /// `now` with what a later format held where this one knew only `known`.
    fn with(mut now: Value, known: &Value, whole: &Value) -> Value {
        put_back(&mut now, known, whole);
        now
    }

    #[test]
    fn a_text_begins_with_its_format_unless_it_is_the_first() {
        for (text, format) in [
            (r#"{"id":1,"format":7}"#, 1),
            (r#"{"format":2,"id":1}"#, 2),
            (r#"{"format":317}"#, 317),
            (r#"{"format":"odd"}"#, u64::MAX),
        ] {
            assert_eq!(format_of(text), format, "{text}");
        }
    }

    #[test]
    fn what_was_changed_or_taken_away_stays_so() {
        let known = json!({ "priority": 1, "hold": { "since": 1 } });
        let whole = json!({ "priority": 1, "hold": { "since": 1, "later": 1 }, "later": 2 });
        assert_eq!(
            with(json!({ "priority": 9 }), &known, &whole),
            json!({ "priority": 9, "later": 2 })
        );
    }

    #[test]
    fn a_part_with_another_id_is_another_part() {
        let known = json!({ "attempt": { "id": "a" } });
        let whole = json!({ "attempt": { "id": "a", "later": 1 } });
        assert_eq!(
            with(json!({ "attempt": { "id": "a", "index": 0 } }), &known, &whole),
            json!({ "attempt": { "id": "a", "index": 0, "later": 1 } })
        );
        let other = json!({ "attempt": { "id": "b" } });
        assert_eq!(with(other.clone(), &known, &whole), other);
    }

    #[test]
    fn items_of_a_list_are_found_wherever_they_stand_now() {
        let known = json!([{ "id": 1 }, { "id": 2, "sent": false }, { "name": "x" }, { "name": "y" }]);
        let whole = json!([
            { "id": 1, "later": 1 }, { "id": 2, "sent": false, "later": 2 }, { "name": "x", "later": 3 }, { "name": "y", "later": 4 }
        ]);
        assert_eq!(
            with(
                json!([{ "name": "y" }, { "name": "z" }, { "id": 2, "sent": true }]),
                &known,
                &whole
            ),
            json!([{ "name": "y", "later": 4 }, { "name": "z" }, { "id": 2, "sent": true, "later": 2 }])
        );
    }
}
