use serde_json::Value;

use super::*;
use crate::fabric::op;

fn takes(operation: &Operation) -> Value {
    let shapes = interface().operations;
    let found = shapes.into_iter().find(|(other, _)| other.name == operation.name);
    found.unwrap().1.takes
}

fn names(schema: &Value, key: &str) -> BTreeSet<String> {
    match &schema[key] {
        Value::Object(members) => members.keys().cloned().collect(),
        Value::Array(items) => items.iter().map(|item| item.as_str().unwrap().to_owned()).collect(),
        _ => BTreeSet::new(),
    }
}

fn set<const N: usize>(names: [&str; N]) -> BTreeSet<String> {
    names.map(str::to_owned).into()
}

#[test]
fn bytes_travel_in_three_fields_and_a_fence_between_the_others() {
    let complete = takes(&op::complete);
    assert_eq!(
        names(&complete, "properties"),
        set([
            "execution_id",
            "lease_id",
            "lease_epoch",
            "attempt_id",
            "result",
            "result_base64",
            "result_type",
            "steps"
        ])
    );
    assert_eq!(
        names(&complete, "required"),
        set(["execution_id", "lease_id", "lease_epoch", "attempt_id"])
    );
    assert_eq!(complete["additionalProperties"], false);
}

#[test]
fn bytes_that_must_be_there_stand_in_one_of_two_fields() {
    let one_of = json!([{ "required": ["payload"] }, { "required": ["payload_base64"] }]);
    assert_eq!(takes(&op::append_frame)["oneOf"], one_of);
}

#[test]
fn whoever_cancels_may_have_no_lease() {
    assert_eq!(
        names(&takes(&op::cancel_execution), "required"),
        set(["execution_id", "reason"])
    );
}

#[test]
fn what_is_finished_has_the_fields_of_its_operation() {
    let finished = &takes(&op::exchange)["properties"]["finished"]["items"]["oneOf"];
    let ops: Vec<_> = finished
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["properties"]["op"]["const"])
        .collect();
    assert_eq!(
        ops,
        ["complete", "fail", "release", "delay", "wait_children", "suspend"]
    );
    assert_eq!(
        finished[1]["properties"]["reason"],
        takes(&op::fail)["properties"]["reason"]
    );
}

#[test]
fn a_reply_leaves_out_what_is_absent_and_may_grow() {
    let view = &interface().named["ExecutionView"];
    assert_eq!(view["properties"]["flow_id"]["$ref"], "#/components/schemas/FlowId");
    assert!(!names(view, "required").contains("flow_id") && names(view, "required").contains("public_state"));
    assert_eq!(view.get("additionalProperties"), None);
}

#[test]
fn every_schema_that_is_named_has_a_name_of_its_own_and_is_there() {
    let Interface { operations, named } = interface();
    for name in named.keys() {
        assert!(
            !name.ends_with(|c: char| c.is_ascii_digit()),
            "two types are called {name}"
        );
    }
    let mut all = json!(named).to_string();
    for (operation, shape) in operations {
        assert!(
            shape.takes["type"] == "object",
            "{}: the fields of a request",
            operation.name
        );
        all += &shape.takes.to_string();
        if let Gives::Json { schema, .. } = shape.gives {
            all += &schema.to_string();
        }
    }
    let referred = all.split(NAMED).skip(1).map(|rest| &rest[..rest.find('"').unwrap()]);
    // What a server says about itself is no operation's.
    let referred: BTreeSet<&str> = referred.chain(["ServerInfo"]).collect();
    let there: BTreeSet<&str> = named.keys().map(String::as_str).collect();
    assert_eq!(referred, there);
    assert!(!all.contains("..") && !all.contains(":bytes\""), "a mark is left");
}
