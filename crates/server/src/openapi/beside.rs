//! What the routes beside the table take and answer: HTTP's own forms, so they are written by hand.

use ff_core::fabric::{Method, Operation, op};
use serde_json::{Value, json};

use super::{bytes_answer, described, header, json_answer, named, parameter};
use crate::extras::{EXTRAS, Extra};

/// The group they stand in.
const NOUN: &str = "http";

/// Every route beside the table.
pub(super) fn routes() -> impl Iterator<Item = (&'static str, Method, &'static str, Value)> {
    EXTRAS.iter().map(|extra| (NOUN, extra.method, extra.path, of(extra)))
}

fn of(extra: &Extra) -> Value {
    let mut described = described(extra.name, NOUN, extra.summary, extra.access);
    let Route {
        parameters,
        takes_bytes,
        takes_json,
        answers,
    } = route(extra.name);
    if takes_bytes {
        described["requestBody"] = json!({ "required": false, "content": { "*/*": { "schema": {} } } });
    }
    if let Some(schema) = takes_json {
        described["requestBody"] = json!({ "required": true, "content": { "application/json": { "schema": schema } } });
    }
    if !parameters.is_empty() {
        described["parameters"] = parameters.into();
    }
    for (status, answer) in answers {
        described["responses"][status] = answer;
    }
    described
}

/// What a route takes and answers.
#[derive(Default)]
struct Route {
    parameters: Vec<Value>,
    takes_bytes: bool,
    takes_json: Option<Value>,
    answers: Vec<(&'static str, Value)>,
}

fn route(name: &str) -> Route {
    let query = |name: &str, schema: Value| parameter("query", name, &schema, false);
    match name {
        "server_info" => Route {
            answers: vec![("200", json_answer("What it is.", &named("ServerInfo")))],
            ..Route::default()
        },
        "submit" => Route {
            parameters: vec![
                parameter("path", "execution_kind", &named("ExecutionKind"), true),
                query("lane", named("LaneId")),
                query("namespace", named("Namespace")),
                query(
                    "priority",
                    json!({ "type": "integer", "minimum": 0, "maximum": ff_core::limits::PRIORITY_MAX }),
                ),
                query("key", named("IdempotencyKey")),
                query("delay_ms", named("Duration")),
                query("deadline_at", named("Timestamp")),
                wait(),
                header("Idempotency-Key", "The same as `key`."),
            ],
            takes_bytes: true,
            answers: submitted(),
            ..Route::default()
        },
        "sign_in" => Route {
            parameters: vec![from_page()],
            takes_json: Some(
                json!({ "type": "object", "required": ["key"], "additionalProperties": false,
                "properties": { "key": named("AccessKey") } }),
            ),
            answers: vec![(
                "204",
                json!({ "description": "The cookie `ff_key` stands for the key.", "headers": { "Set-Cookie": {
                    "schema": { "type": "string" } } } }),
            )],
            ..Route::default()
        },
        "sign_out" => Route {
            parameters: vec![from_page()],
            answers: vec![("204", json!({ "description": "The browser forgets the cookie." }))],
            ..Route::default()
        },
        "me" => Route {
            answers: vec![("200", json_answer("Who asks.", &me()))],
            ..Route::default()
        },
        "follow_stream" => Route {
            parameters: vec![
                parameter("path", "execution_id", &named("ExecutionId"), true),
                header("Last-Event-ID", "Goes on after this event: `<attempt>/<ms>-<seq>`."),
                header(super::X_FENCE, super::FENCE_HELP),
            ],
            answers: vec![(
                "200",
                json!({ "description": "Events, until the execution has ended.",
                    "content": { "text/event-stream": { "schema": { "type": "string" } } } }),
            )],
            ..Route::default()
        },
        "callback" => Route {
            parameters: vec![
                parameter(
                    "path",
                    "sealed",
                    &json!({ "type": "string", "description": "As the callback's URL has it." }),
                    true,
                ),
                header(
                    "Idempotency-Key",
                    "Makes repeated deliveries one; so does `webhook-id`.",
                ),
            ],
            takes_bytes: true,
            answers: vec![("202", json!({ "description": "Taken, also when it was before." }))],
            ..Route::default()
        },
        _ => Route::default(),
    }
}

fn from_page() -> Value {
    let schema = json!({ "const": "1", "description":
        "Said by pages of this server, which also have its origin; nobody else is let in." });
    parameter("header", "X-FF-Page", &schema, true)
}

fn me() -> Value {
    json!({ "type": "object", "required": ["role", "may", "via", "server_time"], "properties": {
        "key_name": { "$ref": named("Identity")["$ref"], "description": "Absent where no key was needed." },
        "role": named("Role"),
        "namespace": { "$ref": named("Namespace")["$ref"], "description": "The one it sees; absent: all of them." },
        "may": { "type": "array", "items": { "type": "string" }, "description": "Operations and routes by name." },
        "via": { "enum": ["key", "cookie", "nothing"], "description": "How it is known who asks." },
        "server_time": named("Timestamp"),
    } })
}

fn wait() -> Value {
    let schema = json!({ "type": "integer", "minimum": 0, "maximum": 30_000,
        "description": "How long to wait for its end, to be answered its result." });
    parameter("query", "wait_ms", &schema, false)
}

/// What a submission is answered: that it is there, or its result when it ended in time.
fn submitted() -> Vec<(&'static str, Value)> {
    let mut result =
        bytes_answer("It was there before, and nobody waited; or it has ended, and this is its result as it is.");
    result["content"]["application/json"] = json!({ "schema": {} });
    vec![
        ("200", result),
        ("201", json_answer("There is a new execution.", &named("Created"))),
        (
            "202",
            json_answer(
                "It was there before, and has not ended while somebody waited.",
                &named("Created"),
            ),
        ),
        ("204", json!({ "description": "It has ended without a result." })),
    ]
}

/// What HTTP adds to an operation of the table.
pub(super) fn add(operation: &Operation, described: &mut Value) {
    if operation.name != op::create_execution.name {
        return;
    }
    if let Some(parameters) = described["parameters"].as_array_mut() {
        parameters.push(wait());
    }
    for (status, answer) in submitted() {
        described["responses"][status] = answer;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_route_beside_the_table_says_what_it_answers() {
        for extra in EXTRAS {
            let Route {
                parameters, answers, ..
            } = route(extra.name);
            assert!(!answers.is_empty(), "{}", extra.name);
            let fields = extra.path.matches('{').count();
            assert_eq!(
                parameters.iter().filter(|one| one["in"] == "path").count(),
                fields,
                "{}",
                extra.name
            );
        }
    }
}
