//! Executions from submission to their end.

use ff_core::command::lease::{Complete, Fail, UpdateProgress};
use ff_core::command::steps::{ProgressNote, RecordSteps, StepReport};
use ff_core::command::stream::AppendFrame;
use ff_core::fabric::{Fabric, On};
use ff_core::frame::{Frame, FrameMode};
use ff_core::name::{Category, ContentType, FrameType, LaneId, StepKey};
use ff_core::payload::Payload;
use ff_core::policy::Policy;
use serde_json::json;

use super::scene::Scene;

/// One that completed, one that failed, one that runs, one that nobody can run, one that is to run later.
fn busy() -> Scene {
    let scene = Scene::empty();
    scene.submit(0x1, "greet", |command| {
        command.tags.insert("name".to_owned(), "hello".to_owned());
        command.tags.insert("team".to_owned(), "docs".to_owned());
    });
    let task = scene.claim("default");
    for word in ["word 1 of 2", "word 2 of 2"] {
        let frame = AppendFrame {
            fence: Some(task.fence),
            frame_type: FrameType::parse("word").unwrap(),
            payload: Payload::json(&json!(word)),
            mode: FrameMode::Durable,
            correlation_id: None,
            request_id: None,
        };
        scene.with(async |engine| engine.append_frame(On::new(task.execution_id, frame)).await.unwrap());
    }
    let complete = Complete {
        fence: Some(task.fence),
        result: Some(Payload::json(&json!({ "words": 2 }))),
        ..Complete::default()
    };
    scene.with(async |engine| engine.complete(On::new(task.execution_id, complete)).await.unwrap());
    scene.pass(60);

    scene.submit(0x2, "summarize", |_| ());
    let task = scene.claim("default");
    let fail = Fail {
        fence: Some(task.fence),
        reason: "the model refused:\nno \u{1b}[31mreason\u{1b}[0m was given".to_owned(),
        category: Category::permanent(),
        retry_after: None,
        steps: Vec::new(),
    };
    scene.with(async |engine| engine.fail(On::new(task.execution_id, fail)).await.unwrap());
    scene.pass(60);

    scene.submit(0x3, "agent", |command| {
        command.tags.extend([("name".to_owned(), "research".to_owned())]);
    });
    let task = scene.claim("default");
    let steps = ["plan#0", "llm#0"].map(|key| {
        let output = Payload::json(&json!({ "text": key }));
        StepReport::done(StepKey::parse(key).unwrap(), Some(output))
    });
    let record = RecordSteps {
        fence: Some(task.fence),
        steps: steps.into(),
        progress: None,
    };
    let progress = UpdateProgress {
        fence: Some(task.fence),
        progress: ProgressNote {
            pct: Some(40),
            message: Some("reading sources".to_owned()),
        },
    };
    scene.with(async |engine| {
        engine.record_steps(On::new(task.execution_id, record)).await.unwrap();
        engine
            .update_progress(On::new(task.execution_id, progress))
            .await
            .unwrap();
    });

    scene.submit(0x4, "train", |command| {
        command.lane_id = LaneId::parse("gpu").unwrap();
        let needs = json!({ "routing_requirements": { "required_capabilities": ["a100"] } });
        command.policy = Policy::from_json(&needs).unwrap();
        command.priority = 7;
    });
    let later = scene.with(async |engine| engine.store_time().await.unwrap());
    scene.submit(0x5, "report", |command| {
        command.delay_until = Some(later + ff_core::time::Duration::from_hours(2));
    });
    scene.pass(15);
    scene
}

#[test]
fn nothing_is_there_yet() {
    Scene::empty().prints(
        "empty",
        &[
            "list",
            "list -o json",
            "list -o ndjson",
            "approvals",
            "lanes",
            "budget list",
            "quota list",
            "flow list",
            "flow list --kind nobody",
            "workers --namespace elsewhere",
            "events --no-follow",
            "top --namespace elsewhere",
            "quota get 00000000",
            "approve nobody",
        ],
    );
}

#[test]
fn lists_fit_the_terminal() {
    let scene = busy();
    scene.prints(
        "list",
        &[
            "list",
            "list --state failed --state completed",
            "list --kind nobody",
            "list --limit 2",
        ],
    );
    let wide = scene.ff_in(120, &["list"]).output().unwrap();
    let wide = String::from_utf8(wide.stdout).unwrap();
    for columns in [60, 80, 120] {
        let listed = scene.ff_in(columns, &["list"]).output().unwrap();
        let listed = String::from_utf8(listed.stdout).unwrap();
        assert!(
            listed.lines().all(|line| line.chars().count() <= columns),
            "{columns}:\n{listed}"
        );
        assert!(!listed.contains('\u{1b}'), "no colours where there is no terminal");
    }
    assert!(wide.contains("the model refused: no"), "{wide}");
}

#[test]
fn one_is_shown_with_everything_about_it() {
    busy().prints(
        "get",
        &[
            "get hello",
            "get 00000002",
            "get research",
            "get 00000004",
            "get 00000005",
        ],
    );
}

#[test]
fn what_happened_to_one_is_told_in_order() {
    busy().prints(
        "history",
        &["history hello", "history 00000002", "steps research", "steps hello"],
    );
}

#[test]
fn why_one_does_not_run_is_explained() {
    busy().prints(
        "explain",
        &[
            "explain 00000004",
            "explain 00000005",
            "explain research",
            "explain hello",
        ],
    );
}

#[test]
fn results_and_frames_come_as_they_are() {
    busy().prints(
        "output",
        &[
            "result hello",
            "result 00000002",
            "result 00000005 --timeout 10ms",
            "tail hello",
            "tail hello --raw",
            "tail hello -o ndjson",
            "steps research --output-of plan#0",
            "steps research --output-of nothing",
            "wait hello",
            "wait 00000002",
            "wait 00000005 --timeout 10ms",
        ],
    );
}

#[test]
fn frames_that_are_no_text_lose_nothing() {
    let scene = Scene::empty();
    scene.submit(0x1, "sound", |_| ());
    let task = scene.claim("default");
    let payloads = [
        Payload::binary(vec![0xff, 0x00, 0x80]),
        Payload {
            content_type: ContentType::parse("text/plain; charset=utf-8").unwrap(),
            bytes: "größer".into(),
        },
        Payload {
            content_type: ContentType::json(),
            bytes: r#"{"price": 1.10}"#.into(),
        },
    ];
    for payload in &payloads {
        let frame = AppendFrame {
            fence: Some(task.fence),
            frame_type: FrameType::parse("part").unwrap(),
            payload: payload.clone(),
            mode: FrameMode::Durable,
            correlation_id: Some("c-1".to_owned()),
            request_id: None,
        };
        scene.with(async |engine| engine.append_frame(On::new(task.execution_id, frame)).await.unwrap());
    }
    let complete = Complete {
        fence: Some(task.fence),
        ..Complete::default()
    };
    scene.with(async |engine| engine.complete(On::new(task.execution_id, complete)).await.unwrap());
    scene.prints(
        "frames",
        &["tail 00000001", "tail 00000001 -o ndjson", "tail 00000001 -o json"],
    );
    let told = scene.ff(&["tail", "00000001", "-o", "ndjson"]).output().unwrap();
    let read: Vec<Frame> = told
        .stdout
        .split_inclusive(|byte| *byte == b'\n')
        .map(|line| ff_core::wire::from_reply(line).unwrap())
        .collect();
    let read: Vec<_> = read.into_iter().map(|frame| frame.payload).collect();
    assert_eq!(read, payloads, "what the interface reads of it is what was put out");
}

#[test]
fn what_changes_one_says_what_it_did() {
    busy().prints(
        "change",
        &[
            "hold 00000004 --reason holidays",
            "hold 00000004",
            "explain 00000004",
            "unhold 00000004",
            "unhold 00000004",
            "priority 00000004 9",
            "priority 00000004 9",
            "priority 00000004 9001",
            "cancel 00000005",
            "cancel 00000005",
            "cancel hello",
            "replay 00000004",
            "replay 00000002",
            "get 00000002",
        ],
    );
}

#[test]
fn what_is_submitted_is_what_was_said() {
    let scene = Scene::empty();
    let said = [
        "submit",
        "report",
        "--input",
        r#"{"pages": 1.10}"#,
        "--lane",
        "slow",
        "--name",
        "nightly",
        "--tag",
        "team=a=b",
        "--priority",
        "3",
        "--delay",
        "90s",
        "--retries",
        "2",
        "--backoff",
        "5s",
        "--timeout",
        "1min",
        "--deadline",
        "2h",
        "--needs",
        "gpu",
        "--keep",
        "never",
        "-o",
        "json",
    ];
    let created = scene.json(&said);
    assert_eq!(created["status"], "created");
    let id = created["execution_id"].as_str().unwrap();
    let view = scene.json(&["get", "nightly", "-o", "json"]);
    assert_eq!(view["execution_id"], id);
    assert_eq!(view["tags"], json!({ "name": "nightly", "team": "a=b" }));
    assert_eq!((&view["lane_id"], &view["priority"]), (&json!("slow"), &json!(3)));
    assert_eq!(view["public_state"], "delayed");
    let input = scene.with(async |engine| engine.get_input(id.parse().unwrap()).await.unwrap());
    assert_eq!(&input.bytes[..], br#"{"pages": 1.10}"#);
    let key = ["submit", "report", "--idempotency-key", "k-1"];
    let first = scene.ff(&key).output().unwrap();
    let second = scene.ff(&key).output().unwrap();
    assert_eq!(first.stdout, second.stdout);
    assert!(String::from_utf8_lossy(&second.stderr).contains("submitted before"));
}

#[test]
fn json_has_everything_in_the_order_of_the_interface() {
    let scene = busy();
    let listed = scene.json(&["list", "-o", "json"]);
    assert_eq!(listed.as_array().unwrap().len(), 5);
    let lines = scene.ff(&["list", "-o", "ndjson"]).output().unwrap();
    let lines = String::from_utf8(lines.stdout).unwrap();
    assert_eq!(lines.lines().count(), 5);
    assert!(
        lines.lines().all(|line| line.starts_with("{\"execution_id\":")),
        "{lines}"
    );
}
