//! What travels, against the schemas that describe it.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use boon::{Compiler, SchemaIndex, Schemas};
use ff_core::fabric::{Operation, op};
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

/// Whether the answer to a batch says that an item was refused for its form.
pub(crate) fn refuses_an_item(json: &[u8]) -> bool {
    json.windows(BAD_REQUEST.len()).any(|bytes| bytes == BAD_REQUEST)
}

const BAD_REQUEST: &[u8] = br#""status":400"#;

fn check(operation: &Operation, json: &[u8], schemas: &BTreeMap<&'static str, SchemaIndex>) {
    let value: Value = serde_json::from_slice(json).unwrap();
    if let Err(error) = COMPILED.schemas.validate(&value, schemas[operation.name]) {
        panic!("{}: {value:#}\nis not as its schema says: {error:#}", operation.name);
    }
}

#[test]
#[should_panic(expected = "is not as its schema says")]
fn what_is_missing_is_noticed() {
    taken(&op::cancel_execution, b"{}");
}

#[test]
#[should_panic(expected = "is not as its schema says")]
fn a_status_nobody_knows_is_noticed() {
    given(&op::cancel_execution, br#"{"status":"perhaps"}"#);
}
