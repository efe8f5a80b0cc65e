//! The verbs by what they are about, for `ff --help`.

use std::fmt::Write;

use clap::Command;

use super::output::wrapped;
use crate::failure::CODES;

/// What the verbs are about. A verb that stands nowhere is shown at the end.
pub(super) const GROUPS: [(&str, &[&str]); 7] = [
    ("To begin", &["dev", "init", "worker"]),
    (
        "Executions",
        &[
            "submit", "list", "get", "wait", "result", "tail", "history", "steps", "explain", "cancel", "replay",
            "priority", "hold", "unhold",
        ],
    ),
    ("What waits", &["approvals", "approve", "reject", "signal"]),
    ("Flows", &["flow"]),
    (
        "Operating",
        &["top", "events", "lanes", "lane", "workers", "budget", "quota", "doctor"],
    ),
    (
        "Servers and stores",
        &["serve", "key", "rotate-secret", "migrate", "backup", "restore", "bench"],
    ),
    ("Tools", &["schema", "completions", "man", "conformance"]),
];

/// Lines are no wider: that is the narrowest terminal there usually is.
const WIDTH: usize = 80;
const TEMPLATE: &str = "{about-with-newline}\n{usage-heading} {usage}\n\n{before-help}Options:\n{options}{after-help}";
const START: &str = "\
Verbs ask the server at http://127.0.0.1:7117, where `ff dev` listens.
--url or FF_URL names another one.
Where an execution is asked for, its id, its name or the last eight digits of its id will do.";

/// The command with its verbs in groups.
pub(crate) fn grouped(command: Command) -> Command {
    let verbs = verbs(&command);
    let after = format!("{START}\n\n{CODES}");
    command.help_template(TEMPLATE).before_help(verbs).after_help(after)
}

fn verbs(command: &Command) -> String {
    let is_grouped = |name: &str| GROUPS.iter().any(|(_, verbs)| verbs.contains(&name));
    let all = || command.get_subcommands().filter(|verb| !verb.is_hide_set());
    let widest = all().map(|verb| verb.get_name().len()).max().unwrap_or(0);
    let mut text = String::new();
    let mut group = |name: &str, verbs: Vec<&Command>| {
        if verbs.is_empty() {
            return;
        }
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name}:");
        for verb in verbs {
            let about = verb.get_about().map(ToString::to_string).unwrap_or_default();
            let mut name = verb.get_name();
            for line in wrapped(&about, Some(WIDTH - widest - 4)) {
                let _ = writeln!(text, "  {:<widest$}  {line}", std::mem::take(&mut name));
            }
        }
        text.push('\n');
    };
    for (name, verbs) in GROUPS {
        let named = |verb: &&str| all().find(|known| known.get_name() == *verb);
        group(name, verbs.iter().filter_map(named).collect());
    }
    group("Others", all().filter(|verb| !is_grouped(verb.get_name())).collect());
    text
}
