//! What `ff` says about itself.

use super::scene::Scene;
use serde_json::Value;

#[test]
fn help_is_short_and_says_what_is_taken() {
    Scene::empty().prints("help", &["submit --help", "replay --help", "budget --help"]);
}

#[test]
fn the_verbs_are_shown_by_what_they_are_about() {
    let told = Scene::empty().ff(&["--help"]).output().unwrap();
    let told = String::from_utf8(told.stdout).unwrap();
    for word in [
        "Executions:\n  submit",
        "What waits:\n  approvals",
        "Exit codes:\n  0  done",
        "http://127.0.0.1:7117",
    ] {
        assert!(told.contains(word), "{word} is missing in\n{told}");
    }
    assert!(told.lines().all(|line| line.chars().count() <= 80), "{told}");
    assert!(!told.contains("Others:"), "every verb stands in a group:\n{told}");
}

#[test]
fn shells_complete_what_ff_knows() {
    let scene = Scene::empty();
    for shell in ["bash", "zsh", "fish"] {
        let script = scene.ff(&["completions", shell]).output().unwrap();
        let script = String::from_utf8(script.stdout).unwrap();
        assert!(script.contains("rotate-secret") && script.contains("ndjson"), "{shell}");
    }
}

#[test]
fn there_is_a_manual_page_for_every_verb() {
    let scene = Scene::empty();
    let written = scene.ff(&["man", "pages"]).output().unwrap();
    assert!(written.status.success(), "{}", String::from_utf8_lossy(&written.stderr));
    let folder = scene.folder.path().join("pages");
    for page in ["ff.1", "ff-submit.1", "ff-flow-graph.1", "ff-budget-charge.1"] {
        let text = std::fs::read_to_string(folder.join(page)).unwrap_or_else(|_| panic!("{page} is missing"));
        assert!(text.contains(".TH"), "{page}");
    }
}

#[test]
fn files_have_schemas() {
    let scene = Scene::empty();
    let config: Value = scene.json(&["schema", "config"]);
    assert_eq!(config["properties"]["listen"]["default"], "127.0.0.1:7117");
    assert_eq!(config["additionalProperties"], false);
    let flow: Value = scene.json(&["schema", "flow"]);
    assert!(flow["properties"]["members"].is_object());
}
