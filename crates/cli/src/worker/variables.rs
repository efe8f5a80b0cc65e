//! What the environment of a command says of its task. Values are never put into the command itself: nobody who submits something can
//! make the shell run it.

use ff_core::payload::Payload;
use ff_sdk::TaskInfo;
use tokio::process::Command;

/// Those that are there only for some tasks.
const SOMETIMES: [&str; 4] = ["FF_FLOW_ID", "FF_DEADLINE_MS", "FF_TIER_PROVIDER", "FF_TIER_MODEL"];

/// Tells a command about its task.
pub(super) fn tell(command: &mut Command, task: &TaskInfo, input: &Payload) {
    command
        .env("FF_EXECUTION_ID", task.id().to_string())
        .env("FF_ATTEMPT", task.attempt().to_string())
        .env("FF_KIND", task.kind())
        .env("FF_LANE", task.lane())
        .env("FF_NAMESPACE", task.namespace().as_str())
        .env("FF_TAGS", tags(task))
        .env("FF_INPUT_TYPE", input.content_type.as_str());
    // This process may be such a command itself.
    for name in SOMETIMES {
        command.env_remove(name);
    }
    if let Some(flow_id) = task.flow_id() {
        command.env("FF_FLOW_ID", flow_id.to_string());
    }
    if let Some(deadline) = task.deadline() {
        command.env("FF_DEADLINE_MS", deadline.as_millis().to_string());
    }
    if let Some(tier) = task.tier() {
        command.env("FF_TIER_PROVIDER", &tier.provider);
        command.env("FF_TIER_MODEL", &tier.model);
    }
}

fn tags(task: &TaskInfo) -> String {
    let tags = task.tags().iter();
    let tags: serde_json::Map<_, _> = tags
        .map(|(key, value)| (key.to_string(), value.to_string().into()))
        .collect();
    serde_json::Value::Object(tags).to_string()
}
