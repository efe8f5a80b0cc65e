//! A flow in a file: what `create_flow_graph` takes, as JSON or YAML.

use anyhow::Context;
use ff_core::command::flow::FlowGraph;
use ff_core::fabric::op;
use ff_core::limits::FLOW_MEMBERS_MAX;
use ff_core::{schema, wire};
use serde_json::{Value, json};

use crate::verbs::input;

/// A file has no more bytes: the largest flow has 100,000 members.
const BYTES_MAX: u64 = 256 * 1024 * 1024;

/// Reads the graph in this file; `-` is standard input.
pub(super) fn read(path: &str) -> anyhow::Result<FlowGraph> {
    let text = input::text_file(path, BYTES_MAX)?;
    parse(&text).with_context(|| format!("{path} is no flow"))
}

fn parse(text: &str) -> anyhow::Result<FlowGraph> {
    // As it is written: its numbers keep every digit.
    if wire::is_json(text.as_bytes()) {
        return Ok(wire::from_request(text.as_bytes())?);
    }
    let document: Value = serde_saphyr::from_str_with_options(text, yaml()).map_err(|error| {
        // What follows shows the text around it.
        let told = error.to_string();
        anyhow::anyhow!(
            "{}",
            told.lines().next().unwrap_or_default().trim_start_matches("error: ")
        )
    })?;
    Ok(wire::from_request(document.to_string().as_bytes())?)
}

/// YAML 1.2, where `no` is a word, and as much of it as a large flow needs: whoever writes the file is not against us.
fn yaml() -> serde_saphyr::Options {
    const MANY: usize = 50_000_000;
    serde_saphyr::options! {
        strict_booleans: true,
        alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: MANY },
        budget: serde_saphyr::budget! {
            max_events: MANY,
            max_nodes: MANY,
            max_aliases: MANY,
            max_merge_keys: MANY,
            max_total_scalar_bytes: usize::MAX,
            enforce_alias_anchor_ratio: false,
        },
    }
}

/// The JSON Schema of such a file.
pub(crate) fn schema() -> Value {
    let interface = schema::interface();
    let graph = interface
        .operations
        .into_iter()
        .find(|(operation, _)| operation.name == op::create_flow_graph.name);
    let mut document = graph.map_or(Value::Null, |(_, shape)| shape.takes);
    document["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    document["title"] = json!("A flow of FlowFabric");
    // A call takes a part of it; a file has all.
    let described = [
        ("members", format!("Its members, 1 to {FLOW_MEMBERS_MAX}.")),
        ("edges", "Which member waits for which.".to_owned()),
        (
            "open",
            "Whether its members may run once all of it is there; absent: yes.".to_owned(),
        ),
    ];
    for (field, description) in described {
        document["properties"][field]["description"] = json!(description);
    }
    document["components"] = json!({ "schemas": interface.named });
    document
}

#[cfg(test)]
mod tests {
    use super::*;

    const YAML: &str = "
flow_kind: report
tags: { name: nightly }
members:
  - key: fetch
    execution_kind: fetch
    input: { url: 'https://example.org', tries: 3 }
  - key: render
    execution_kind: render
edges:
  - { upstream: fetch, downstream: render, data_passing_ref: page }
";

    #[test]
    fn a_flow_is_read_from_yaml_and_json_alike() {
        let flow = parse(YAML).unwrap();
        assert_eq!((flow.members.len(), flow.edges.len(), flow.open), (2, 1, true));
        let input: Value = serde_json::from_slice(&flow.members[0].submission.input.bytes).unwrap();
        assert_eq!(input, json!({ "url": "https://example.org", "tries": 3 }));
        let json = r#"{"flow_kind": "report", "members": [{"key": "a", "execution_kind": "x"}]}"#;
        assert_eq!(parse(json).unwrap().members[0].key, "a");
    }

    #[test]
    fn input_is_what_was_written() {
        let input =
            |text: &str| String::from_utf8(parse(text).unwrap().members[0].submission.input.bytes.to_vec()).unwrap();
        let json = r#"{"flow_kind": "x", "members": [{"key": "a", "execution_kind": "x", "input": {"sum": 1.10, "n": 12345678901234567890123}}]}"#;
        assert_eq!(input(json), r#"{"sum": 1.10, "n": 12345678901234567890123}"#);
        let yaml = "flow_kind: x\nmembers:\n  - { key: a, execution_kind: x, input: { country: no, done: true } }\n";
        assert_eq!(input(yaml), r#"{"country":"no","done":true}"#);
    }

    #[test]
    fn a_large_flow_may_repeat_what_its_members_share() {
        let member = |number| format!("  - {{ key: page-{number}, <<: *page }}\n");
        let members: String = (0..30_000).map(member).collect();
        let yaml = format!(
            "flow_kind: x\nmembers:\n  - &page {{ key: first, execution_kind: page, lane_id: web }}\n{members}"
        );
        let flow = parse(&yaml).unwrap();
        assert_eq!(flow.members.len(), 30_001);
        let last = flow.members.last().unwrap();
        assert_eq!(
            (last.key.as_str(), last.submission.lane_id.as_str()),
            ("page-29999", "web")
        );
    }

    #[test]
    fn a_mistake_is_pointed_at() {
        let wrong = parse("flow_kind: report\nmembers:\n  - { key: a, execution_knid: x }\n").unwrap_err();
        assert!(wrong.to_string().contains("execution_knid"), "{wrong}");
        assert!(parse("flow_kind: [").is_err());
    }

    #[test]
    fn the_schema_describes_members_and_edges() {
        let schema = schema();
        for field in ["flow_kind", "members", "edges"] {
            assert!(
                schema["properties"][field].is_object(),
                "{field} is missing in {schema}"
            );
        }
        let members = &schema["properties"]["members"]["description"];
        assert_eq!(members, "Its members, 1 to 100000.");
    }
}
