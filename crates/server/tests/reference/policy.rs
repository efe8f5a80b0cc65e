//! `docs/reference/policy.md`: its tables are made from the schema of a policy, and its examples are read as policies.

use ff_core::policy::{Policy, RetryPolicy};
use ff_server::openapi;
use serde_json::{Value, json};

const TEXT: &str = include_str!("policy.md");

#[test]
fn the_page_of_policies_shows_every_field() {
    let document = openapi::document();
    let schemas = &document["components"]["schemas"];
    let mut page = TEXT.to_owned();
    let mut shown = Vec::new();
    while let Some((before, rest)) = page.split_once("{{") {
        let (name, after) = rest.split_once("}}").unwrap();
        let filled = if name == "defaults" {
            defaults()
        } else {
            table(schemas, name)
        };
        shown.push(name.to_owned());
        page = format!("{before}{filled}{after}");
    }
    for name in parts_of_a_policy(schemas) {
        assert!(shown.contains(&name), "the page has no table of {name}");
    }
    super::up_to_date("policy.md", &page);
}

#[test]
fn every_example_is_a_policy_and_every_field_has_one() {
    let examples: Vec<&str> = TEXT
        .split("```json\n")
        .skip(1)
        .map(|rest| rest.split("```").next().unwrap())
        .collect();
    assert!(!examples.is_empty());
    let mut named = String::new();
    for example in examples.into_iter().filter(|example| !example.contains("{{")) {
        Policy::from_json(&serde_json::from_str(example).unwrap()).unwrap();
        named += example;
    }
    let schemas = &openapi::document()["components"]["schemas"];
    for field in fields(&schemas["Policy"]) {
        assert!(named.contains(&format!("\"{field}\"")), "no example has {field}");
    }
}

/// What holds where nothing is said, from the code that applies it.
fn defaults() -> String {
    let policy = Policy::default();
    let said = json!({
        "max_reclaim_count": policy.reclaims_max(),
        "max_replay_count": policy.replays_max(),
        "max_signals_per_execution": policy.signals_max(),
        "dedup_window_ms": policy.dedup_window(),
        "stream_policy": policy.stream(),
        "retention_ms": policy.retention(),
    });
    let retry = json!({ "retry_policy": RetryPolicy::default() });
    format!("{said:#}\n```\n\nA `retry_policy` that is there, and says nothing else:\n\n```json\n{retry:#}")
}

/// A line for each field of a schema.
fn table(schemas: &Value, name: &str) -> String {
    let mut table = "| field | value | meaning |\n|---|---|---|\n".to_owned();
    for (path, field) in rows(&schemas[name], "") {
        let meaning = field["description"].as_str().unwrap_or_default().split_whitespace();
        let meaning = meaning.collect::<Vec<_>>().join(" ");
        table += &format!("| `{path}` | {} | {meaning} |\n", kind(&field));
    }
    table.trim_end().to_owned()
}

/// Fields with their paths: those of alternatives that have only one field stand under it.
fn rows(schema: &Value, under: &str) -> Vec<(String, Value)> {
    let mut rows = Vec::new();
    for alternative in schema["oneOf"].as_array().into_iter().flatten() {
        match alternative["const"].as_str() {
            Some(word) => rows.push((
                word.to_owned(),
                json!({ "description": alternative["description"], "const": word }),
            )),
            None => rows.extend(rows_of_one(alternative, under)),
        }
    }
    rows.extend(rows_of_one(schema, under));
    rows
}

fn rows_of_one(schema: &Value, under: &str) -> Vec<(String, Value)> {
    let mut rows = Vec::new();
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let path = format!("{under}{name}");
        if field["properties"].is_object() {
            rows.push((
                path.clone(),
                json!({ "description": schema["description"], "type": "object" }),
            ));
            rows.extend(rows_of_one(field, &format!("{path}.")));
        } else {
            rows.push((path, field.clone()));
        }
    }
    rows
}

/// What stands in a field: a type, or a link to the part of the page that tells of it.
fn kind(field: &Value) -> String {
    if field["const"].is_string() {
        return "word".to_owned();
    }
    let any = field["anyOf"].as_array().into_iter().flatten();
    let reference = any
        .map(|one| &one["$ref"])
        .chain([&field["$ref"]])
        .find_map(Value::as_str);
    if let Some(reference) = reference {
        let name = reference.rsplit('/').next().unwrap().trim_end_matches("Input");
        return match name {
            "Duration" => "milliseconds".to_owned(),
            "Retention" => "milliseconds, or `\"never\"`".to_owned(),
            "BudgetId" | "QuotaPolicyId" => "id".to_owned(),
            "CapabilitySet" => "list of tokens".to_owned(),
            "Category" => "category".to_owned(),
            _ => format!("[{0}](#{0})", snake(name)),
        };
    }
    let named = match &field["type"] {
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null"),
        kind => kind.as_str(),
    };
    match named {
        Some("array") => format!("list of {}", kind(&field["items"])),
        named => named.unwrap_or_default().to_owned(),
    }
}

/// `RetryPolicy` as a heading of the page: `retry_policy`.
fn snake(name: &str) -> String {
    let parts = name.split_inclusive(char::is_lowercase).map(|part| {
        let begins = part.starts_with(char::is_uppercase);
        format!("{}{}", if begins { "_" } else { "" }, part.to_lowercase())
    });
    parts.collect::<String>().trim_start_matches('_').to_owned()
}

fn fields(schema: &Value) -> impl Iterator<Item = &str> {
    schema["properties"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, _)| name.as_str())
}

/// Every schema that a policy leads to and that has fields or words of its own.
fn parts_of_a_policy(schemas: &Value) -> Vec<String> {
    let (mut found, mut next) = (Vec::new(), vec!["Policy".to_owned()]);
    while let Some(name) = next.pop() {
        let schema = &schemas[name.as_str()];
        let has_rows = !rows(schema, "").is_empty();
        if found.contains(&name) || !has_rows {
            continue;
        }
        let text = schema.to_string();
        let leads_to = text.split("#/components/schemas/").skip(1);
        next.extend(leads_to.filter_map(|rest| rest.split('"').next()).map(str::to_owned));
        found.push(name);
    }
    found
}
