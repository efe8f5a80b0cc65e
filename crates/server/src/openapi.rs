//! The OpenAPI document, made from the table of operations and the routes beside it.

mod beside;

use std::sync::LazyLock;

use axum::body::Bytes;
use axum::http::header;
use axum::response::IntoResponse;
use ff_core::caller::Role;
use ff_core::fabric::{Access, Method, Operation, op};
use ff_core::schema::{self, Gives, NAMED, Shape};
use serde_json::{Map, Value, json};

/// What the interface is called in its own document, whatever the release.
const VERSION: &str = "1.0";

/// An execution id in a URL: as everywhere, or without what must be quoted there.
const ID_IN_URL: &str = "ExecutionIdInUrl";
const ID_IN_URL_PATTERN: &str = r"^(\{fp:(0|[1-9][0-9]{0,4})\}|fp:(0|[1-9][0-9]{0,4})):[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$";

static JSON: LazyLock<Bytes> = LazyLock::new(|| document().to_string().into());

/// `GET /openapi.json`.
pub(crate) async fn serve() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], JSON.clone())
}

/// The whole document.
pub fn document() -> Value {
    let mut interface = schema::interface();
    interface.named.insert(
        ID_IN_URL.to_owned(),
        json!({ "type": "string", "pattern": ID_IN_URL_PATTERN, "description":
            "An execution id, `{fp:N}:<uuid>` percent-encoded; or `fp:N:<uuid>`, which needs no quoting." }),
    );
    let mut paths: Map<String, Value> = Map::new();
    let mut nouns: Vec<&str> = Vec::new();
    let operations = interface.operations.iter();
    let operations = operations.map(|(operation, shape)| {
        let described = of_operation(operation, shape, &interface.named);
        (operation.noun, operation.method, operation.path, described)
    });
    for (noun, method, path, described) in operations.chain(beside::routes()) {
        if !nouns.contains(&noun) {
            nouns.push(noun);
        }
        let at = paths.entry(format!("/v1{path}")).or_insert_with(|| json!({}));
        at[method.as_str().to_lowercase()] = described;
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "FlowFabric",
            "version": VERSION,
            "description": ABOUT,
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
        },
        "tags": nouns.iter().map(|noun| json!({ "name": noun })).collect::<Vec<_>>(),
        "security": [{ "key": [] }, { "page": [] }, {}],
        "paths": paths,
        "components": {
            "schemas": interface.named,
            "responses": { "Problem": { "description": "Refused: the code says why.", "content": {
                "application/problem+json": { "schema": named("ProblemDocument") },
            } } },
            "securitySchemes": { "key": { "type": "http", "scheme": "bearer",
                "description": "A key made by `create_key` or `ff key create`. A server without keys, on this machine only, asks for none." },
                "page": { "type": "apiKey", "in": "cookie", "name": "ff_key",
                    "description": "Made by `sign_in` for pages of this server. What is not a GET needs `X-FF-Page: 1` and that origin." } },
        },
    })
}

const ABOUT: &str = "Durable execution over HTTP. Bytes travel as any JSON value under their name, or in base64 under \
    `<name>_base64`, with their content type in `<name>_type`. Times are Unix milliseconds. Requests refuse fields they do not \
    know; answers may gain some. Every refusal is a problem document; `/docs/errors` explains its code.";

fn named(name: &str) -> Value {
    json!({ "$ref": format!("{NAMED}{name}") })
}

/// What every route says in the same way.
fn described(name: &str, noun: &str, summary: &str, access: Access) -> Value {
    let summary = summary.trim();
    let first = summary.split_once(". ").map_or(summary, |(first, _)| first);
    let first = first.split('\n').next().unwrap_or(first).trim_end_matches('.');
    let mut described = json!({
        "operationId": name,
        "tags": [noun],
        "summary": first,
        "description": format!("{}\n\n{}", summary.replace("\n ", "\n"), who(access)),
        "responses": { "default": { "$ref": "#/components/responses/Problem" } },
    });
    if access == Access::Anyone {
        described["security"] = json!([{}]);
    }
    described
}

fn who(access: Access) -> String {
    let role = |role: Role| format!("Role: `{}`", role.as_str());
    match access {
        Access::Anyone => "For whoever shows what it asks for; no key is needed.".to_owned(),
        Access::AnyRole => "For every key.".to_owned(),
        Access::Role(needed) => role(needed) + ".",
        Access::RoleOrHolder(needed) => role(needed) + ", or `worker` under the lease of an execution it concerns.",
    }
}

fn of_operation(operation: &Operation, shape: &Shape, schemas: &Map<String, Value>) -> Value {
    let mut described = described(operation.name, operation.noun, operation.summary, operation.access);
    let mut takes = shape.takes.clone();
    let mut parameters: Vec<Value> = operation
        .path_fields()
        .filter_map(|name| Some(parameter("path", name, &taken(&mut takes, name)?, true)))
        .collect();
    if operation.method.has_body() {
        if let Some(body) = body(&takes) {
            described["requestBody"] = body;
        }
    } else {
        parameters.extend(query(&takes, schemas));
    }
    parameters.extend(headers(operation));
    if !parameters.is_empty() {
        described["parameters"] = parameters.into();
    }
    answers(operation, &shape.gives, schemas, &mut described["responses"]);
    beside::add(operation, &mut described);
    described
}

/// Takes a field out of a request that is described.
fn taken(takes: &mut Value, name: &str) -> Option<Value> {
    if let Some(required) = takes["required"].as_array_mut() {
        required.retain(|other| other != name);
    }
    takes["properties"].as_object_mut()?.remove(name)
}

fn parameter(place: &str, name: &str, schema: &Value, required: bool) -> Value {
    let mut schema = schema::present(schema).unwrap_or_else(|| schema.clone());
    if schema["$ref"] == named("ExecutionId")["$ref"] {
        schema["$ref"] = named(ID_IN_URL)["$ref"].clone();
    }
    let description = schema.as_object_mut().and_then(|schema| schema.remove("description"));
    let mut parameter = json!({ "name": name, "in": place, "required": required, "schema": schema });
    if let Some(description) = description {
        parameter["description"] = description;
    }
    parameter
}

fn query(takes: &Value, schemas: &Map<String, Value>) -> Vec<Value> {
    let required = |name: &str| {
        takes["required"]
            .as_array()
            .is_some_and(|names| names.iter().any(|other| other == name))
    };
    let fields = takes["properties"].as_object().into_iter().flatten();
    let fits = fields.filter(|(_, schema)| fits_into_text(schema, schemas));
    fits.map(|(name, schema)| parameter("query", name, schema, required(name)))
        .collect()
}

/// Objects do not fit into a query.
fn fits_into_text(schema: &Value, schemas: &Map<String, Value>) -> bool {
    let schema = schema::present(schema).unwrap_or_else(|| schema.clone());
    let meant = schema["$ref"]
        .as_str()
        .and_then(|at| schemas.get(at.strip_prefix(NAMED)?))
        .unwrap_or(&schema);
    meant["type"] != "object"
}

fn body(takes: &Value) -> Option<Value> {
    let fields = takes["properties"].as_object()?;
    if fields.is_empty() {
        return None;
    }
    let needed = takes["required"].as_array().is_some_and(|names| !names.is_empty()) || takes.get("oneOf").is_some();
    let mut schema = takes.clone();
    if schema["required"].as_array().is_some_and(Vec::is_empty) {
        schema.as_object_mut()?.remove("required");
    }
    Some(json!({ "required": needed, "content": { "application/json": { "schema": schema } } }))
}

const X_FENCE: &str = "X-Fence";
const FENCE_HELP: &str = "The lease of a worker that asks: `<execution id> <lease id> <epoch> <attempt id>`.";

fn header(name: &str, description: &str) -> Value {
    let schema = json!({ "type": "string", "description": description });
    parameter("header", name, &schema, false)
}

/// What HTTP takes beside the fields.
fn headers(operation: &Operation) -> Vec<Value> {
    let mut headers = Vec::new();
    if operation.method == Method::POST {
        headers.push(header("Idempotency-Key", "Makes repeated requests one."));
    }
    if operation.method == Method::GET && matches!(operation.access, Access::RoleOrHolder(_)) {
        headers.push(header(X_FENCE, FENCE_HELP));
    }
    if operation.name == op::deliver_signal.name {
        headers.push(header(
            "X-Waitpoint-Token",
            "The waitpoint's token, unless it is in the body.",
        ));
    }
    if FOLLOWED.contains(&operation.name) {
        headers.push(header("Last-Event-ID", "Goes on after this event."));
    }
    headers
}

/// Operations that can be answered as server-sent events.
const FOLLOWED: [&str; 2] = [op::events.name, op::tail_stream.name];

fn json_answer(description: &str, schema: &Value) -> Value {
    json!({ "description": description, "content": { "application/json": { "schema": schema } } })
}

fn bytes_answer(description: &str) -> Value {
    json!({ "description": description, "content": { "*/*": { "schema": {} } } })
}

fn answers(operation: &Operation, gives: &Gives, schemas: &Map<String, Value>, responses: &mut Value) {
    let maybe = match gives {
        Gives::Nothing => true,
        Gives::Bytes { maybe } | Gives::Json { maybe, .. } => *maybe,
    };
    if maybe {
        responses["204"] = json!({ "description": "Done, and there is nothing to say." });
    }
    match gives {
        Gives::Nothing => {}
        Gives::Bytes { .. } => responses["200"] = bytes_answer("The bytes as they are, with their own content type."),
        Gives::Json { schema, .. } => {
            responses["200"] = json_answer("The outcome.", schema);
            if operation.method == Method::POST && says_created(schema, schemas) {
                responses["201"] = json_answer("There is something new.", schema);
            }
        }
    }
    if FOLLOWED.contains(&operation.name) {
        responses["200"]["content"]["text/event-stream"] = json!({ "schema": { "type": "string" } });
    }
}

/// Whether an outcome can say that there is something new.
fn says_created(schema: &Value, schemas: &Map<String, Value>) -> bool {
    match schema {
        Value::Object(members) => {
            members.get("const").is_some_and(|word| word == "created")
                || members
                    .get("enum")
                    .and_then(Value::as_array)
                    .is_some_and(|words| words.contains(&"created".into()))
                || ["oneOf", "anyOf"]
                    .iter()
                    .any(|key| members.get(*key).is_some_and(|all| says_created(all, schemas)))
                || members
                    .get("properties")
                    .and_then(|fields| fields.get("status"))
                    .is_some_and(|all| says_created(all, schemas))
                || members
                    .get("$ref")
                    .and_then(|at| schemas.get(at.as_str()?.strip_prefix(NAMED)?))
                    .is_some_and(|meant| says_created(meant, schemas))
        }
        Value::Array(items) => items.iter().any(|item| says_created(item, schemas)),
        _ => false,
    }
}
