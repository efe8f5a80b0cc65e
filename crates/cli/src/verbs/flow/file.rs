//! A flow in a file: what `create_flow_graph` takes, as JSON or YAML.

use anyhow::Context;
use ff_core::command::flow::FlowGraph;
use ff_core::fabric::op;
use ff_core::schema;
use serde_json::{Value, json};

use crate::verbs::input;

/// Reads the graph in this file; `-` is standard input. JSON is YAML, too.
pub(super) fn read(path: &str) -> anyhow::Result<FlowGraph> {
    let text = input::text_file(path)?;
    parse(&text).with_context(|| format!("{path} is no flow"))
}

fn parse(text: &str) -> anyhow::Result<FlowGraph> {
    let document: Value = serde_saphyr::from_str(text).map_err(|error| {
        // What follows shows the text around it.
        let told = error.to_string();
        anyhow::anyhow!(
            "{}",
            told.lines().next().unwrap_or_default().trim_start_matches("error: ")
        )
    })?;
    Ok(ff_core::wire::from_request(document.to_string().as_bytes())?)
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
    }
}
