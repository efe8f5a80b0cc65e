//! The document that describes the interface.

use ff_core::fabric::OPERATIONS;
use ff_server::openapi;
use serde_json::Value;

#[test]
fn the_committed_document_is_the_one_that_is_made() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/openapi.json");
    let made = format!("{:#}\n", openapi::document());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, &made).unwrap();
    }
    let written = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        written == made,
        "openapi.json is out of date: UPDATE_DOCS=1 cargo test -p ff-server --test reference"
    );
}

#[test]
fn every_operation_is_described_with_everything_it_takes() {
    let document = openapi::document();
    for operation in OPERATIONS {
        let described = &document["paths"][format!("/v1{}", operation.path)][operation.method.as_str().to_lowercase()];
        assert_eq!(described["operationId"], operation.name);
        let parameters = described["parameters"].as_array().into_iter().flatten();
        let in_path = parameters
            .filter(|parameter| parameter["in"] == "path")
            .map(|parameter| &parameter["name"]);
        assert!(in_path.eq(operation.path_fields()), "{}", operation.name);
        assert!(
            operation.method.has_body() || described.get("requestBody").is_none(),
            "{}",
            operation.name
        );
    }
}

#[test]
fn what_a_request_must_show_is_no_part_of_a_url() {
    let document = openapi::document();
    let operations = document["paths"]
        .as_object()
        .unwrap()
        .values()
        .flat_map(|path| path.as_object().unwrap().values());
    for operation in operations {
        let parameters = operation["parameters"].as_array().into_iter().flatten();
        let secret = |parameter: &&Value| {
            ["lease_id", "waitpoint_token", "grant"]
                .iter()
                .any(|name| parameter["name"] == *name)
        };
        assert_eq!(parameters.filter(secret).count(), 0, "{}", operation["operationId"]);
    }
}
