//! The JSON Schemas of the interface: what each operation takes and answers, as it travels.
//!
//! The types say their names and units, and `schemars` reads them; what [`crate::wire`] adds to serde (bytes in three fields,
//! groups that stand inline, absent options left out, unknown fields refused) is added here, in `travel`.

mod forms;
pub(crate) mod text;
mod travel;

use std::collections::BTreeSet;

use schemars::generate::{Contract, SchemaGenerator, SchemaSettings};
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};

use crate::fabric::{OPERATIONS, Operation};
use crate::view::ServerInfo;
use travel::Travel;
pub use travel::present;

/// Where a schema that has a name stands in the document, before its name.
pub const NAMED: &str = "#/components/schemas/";

/// What is added to the name of a type that looks different in a request than in a reply.
const IN_REQUESTS: &str = "Input";

/// What an operation takes and answers.
pub struct Shape {
    /// The schema of its fields, an object: wherever they stand in a request.
    pub takes: Value,
    /// What it answers.
    pub gives: Gives,
}

/// What an operation answers.
pub enum Gives {
    /// That it is done.
    Nothing,
    /// Bytes of a user, as they are.
    Bytes {
        /// Or nothing at all.
        maybe: bool,
    },
    /// JSON.
    Json {
        /// What it looks like.
        schema: Value,
        /// Or nothing at all.
        maybe: bool,
    },
}

impl Gives {
    pub(crate) const fn json(schema: Value) -> Self {
        Gives::Json { schema, maybe: false }
    }
}

/// An object with one list of what `schema` says.
pub(crate) fn list(name: &str, schema: &Value) -> Value {
    json!({ "type": "object", "properties": { name: { "type": "array", "items": schema } }, "required": [name] })
}

/// Collects the schemas of types: a request and a reply may differ in what must be there.
pub struct Schemas {
    requests: SchemaGenerator,
    replies: SchemaGenerator,
}

impl Schemas {
    fn new() -> Self {
        let mut settings = SchemaSettings::draft2020_12();
        settings.definitions_path = NAMED.trim_start_matches('#').trim_end_matches('/').to_owned().into();
        settings.contract = Contract::Deserialize;
        let requests = settings.clone().into_generator();
        settings.contract = Contract::Serialize;
        Self {
            requests,
            replies: settings.into_generator(),
        }
    }

    pub(crate) fn request<T: JsonSchema>(&mut self) -> Value {
        self.requests.subschema_for::<T>().to_value()
    }

    pub(crate) fn reply<T: JsonSchema>(&mut self) -> Value {
        self.replies.subschema_for::<T>().to_value()
    }
}

/// The schemas of the whole interface.
pub struct Interface {
    /// What each operation takes and answers, in the order of the table.
    pub operations: Vec<(&'static Operation, Shape)>,
    /// What they refer to, by name.
    pub named: Map<String, Value>,
}

/// The schemas of every operation.
pub fn interface() -> Interface {
    let mut schemas = Schemas::new();
    let raw: Vec<_> = OPERATIONS
        .iter()
        .map(|operation| (*operation, (operation.shape)(&mut schemas)))
        .collect();
    let server = schemas.reply::<ServerInfo>();
    let mut requests = Travel::requests(schemas.requests.take_definitions(false));
    let mut replies = Travel::replies(schemas.replies.take_definitions(false));
    // What a server says about itself is no operation, and described beside them.
    replies.schema(&server);
    let mut operations: Vec<_> = raw
        .into_iter()
        .map(|(operation, shape)| {
            let gives = match shape.gives {
                Gives::Json { schema, maybe } => Gives::Json {
                    schema: replies.schema(&schema),
                    maybe,
                },
                other => other,
            };
            let takes = requests.fields(&shape.takes);
            (operation, Shape { takes, gives })
        })
        .collect();
    let (given, answered) = (requests.named, replies.named);
    let different = different(&given, &answered);
    for (_, shape) in &mut operations {
        rename(&mut shape.takes, &different);
    }
    let mut named = answered;
    for (name, mut schema) in given {
        rename(&mut schema, &different);
        named.insert(in_requests(&name, &different), schema);
    }
    Interface { operations, named }
}

/// The names under which a request and a reply mean different schemas, or refer to such.
fn different(given: &Map<String, Value>, answered: &Map<String, Value>) -> BTreeSet<String> {
    let both = || {
        given
            .iter()
            .filter_map(|(name, schema)| Some((name, schema, answered.get(name)?)))
    };
    let mut names: BTreeSet<String> = both()
        .filter(|(_, one, other)| one != other)
        .map(|(name, ..)| name.clone())
        .collect();
    loop {
        let refers = |schema: &Value| {
            let mut renamed = schema.clone();
            rename(&mut renamed, &names);
            renamed != *schema
        };
        let more: BTreeSet<_> = both()
            .filter(|(_, schema, _)| refers(schema))
            .map(|(name, ..)| name.clone())
            .collect();
        if more.is_subset(&names) {
            return names;
        }
        names.extend(more);
    }
}

fn in_requests(name: &str, different: &BTreeSet<String>) -> String {
    match different.contains(name) {
        true => format!("{name}{IN_REQUESTS}"),
        false => name.to_owned(),
    }
}

/// Makes what a schema refers to the request's form of it, where there are two.
fn rename(schema: &mut Value, different: &BTreeSet<String>) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(|item| rename(item, different)),
        Value::Object(members) => {
            for (key, value) in members {
                match value.as_str().and_then(|text| text.strip_prefix(NAMED)) {
                    Some(name) if key == "$ref" => *value = format!("{NAMED}{}", in_requests(name, different)).into(),
                    _ => rename(value, different),
                }
            }
        }
        _ => {}
    }
}

/// Any value at all.
fn anything() -> Schema {
    true.into()
}

#[cfg(test)]
mod tests;
