//! What travels, against the schemas that describe it.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use boon::{Compiler, SchemaIndex, Schemas};
use ff_core::fabric::Operation;
use ff_core::schema::{Gives, interface};
use serde_json::{Map, Value, json};

/// The schemas of what operations take and give, by their names.
struct Compiled {
    schemas: Schemas,
    takes: BTreeMap<&'static str, SchemaIndex>,
    gives: BTreeMap<&'static str, SchemaIndex>,
}

static COMPILED: LazyLock<Compiled> = LazyLock::new(|| {
    const AT: &str = "http://localhost/interface.json";
    let interface = interface();
    let mut operations = Map::new();
    for (operation, shape) in &interface.operations {
        let gives = match &shape.gives {
            Gives::Json { schema, .. } => schema.clone(),
            // No JSON is as this says.
            Gives::Nothing | Gives::Bytes { .. } => Value::Bool(false),
        };
        operations.insert(
            operation.name.to_owned(),
            json!({ "takes": shape.takes, "gives": gives }),
        );
    }
    let document = json!({ "components": { "schemas": interface.named }, "operations": operations });
    let mut compiler = Compiler::new();
    compiler.add_resource(AT, document).unwrap();
    let mut schemas = Schemas::new();
    let mut all = |part: &str| {
        let named = interface.operations.iter().map(|(operation, _)| {
            let at = format!("{AT}#/operations/{}/{part}", operation.name);
            (operation.name, compiler.compile(&at, &mut schemas).unwrap())
        });
        named.collect::<BTreeMap<_, _>>()
    };
    let (takes, gives) = (all("takes"), all("gives"));
    Compiled { schemas, takes, gives }
});

/// A request that was not refused for its form is as its schema says.
pub(crate) fn taken(operation: &Operation, json: &[u8]) {
    check(operation, json, &COMPILED.takes);
}

/// An answer is as its schema says.
pub(crate) fn given(operation: &Operation, json: &[u8]) {
    check(operation, json, &COMPILED.gives);
}

fn check(operation: &Operation, json: &[u8], schemas: &BTreeMap<&'static str, SchemaIndex>) {
    let value: Value = serde_json::from_slice(json).unwrap();
    if let Err(error) = COMPILED.schemas.validate(&value, schemas[operation.name]) {
        panic!("{}: {value:#}\nis not as its schema says: {error:#}", operation.name);
    }
}
