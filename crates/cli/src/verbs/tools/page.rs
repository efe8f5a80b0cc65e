//! `docs/reference/cli.md` is printed from what `ff` knows of its arguments.

use std::fmt::Write;

use clap::{Arg, Args as _, Command};

use crate::config::Given;
use crate::failure::CODES;
use crate::verbs::help::GROUPS;

/// The heading of what nearly every verb takes.
const EVERYWHERE: &str = "Where and how";
const TABLE: &str = "\n| argument | variable | default | meaning |\n|---|---|---|---|\n";

#[test]
fn the_page_of_verbs_is_up_to_date() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/cli.md");
    let page = page();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, &page).unwrap();
    }
    assert!(
        std::fs::read_to_string(path).unwrap_or_default() == page,
        "docs/reference/cli.md is out of date: UPDATE_DOCS=1 cargo test -p ff-cli --bin ff page"
    );
}

fn page() -> String {
    let mut ff = crate::command();
    ff.build();
    let verb = |name: &str| ff.find_subcommand(name).unwrap_or_else(|| panic!("there is no {name}"));
    let mut page = include_str!("page.md").to_owned() + TABLE;
    for argument in verb("list").get_arguments().filter(|argument| is_everywhere(argument)) {
        page += &row(argument);
    }
    page += &exit_codes();
    for (group, verbs) in GROUPS {
        write!(page, "\n## {group}\n").unwrap();
        for name in verbs {
            describe(&mut page, verb(name), "###");
        }
    }
    page
}

/// A verb, what it takes, and its verbs.
fn describe(page: &mut String, verb: &Command, level: &str) {
    let name = verb.get_bin_name().unwrap_or(verb.get_name());
    let about = verb
        .get_long_about()
        .or(verb.get_about())
        .map(ToString::to_string)
        .unwrap_or_default();
    write!(page, "\n{level} {name}\n\n{}\n", sentence(&about)).unwrap();
    let own: Vec<_> = verb.get_arguments().filter(|argument| is_own(verb, argument)).collect();
    let mut inner = verb
        .get_subcommands()
        .filter(|inner| inner.get_name() != "help")
        .peekable();
    if inner.peek().is_none() {
        let usage = verb.clone().render_usage().to_string();
        write!(page, "\n```text\n{}\n```\n", usage.trim_start_matches("Usage: ")).unwrap();
    }
    if !own.is_empty() {
        page.push_str(TABLE);
        page.extend(own.into_iter().map(row));
    }
    if name == "ff serve" {
        page.push_str("\nAnd every setting of [config.md](config.md), as a flag.\n");
    }
    if verb.get_arguments().any(|argument| argument.get_id() == "output") {
        page.push_str("\nAnd [where and how](#where-and-how).\n");
    }
    if let Some(after) = verb.get_after_long_help() {
        write!(page, "\n```text\n{after}\n```\n").unwrap();
    }
    for inner in inner {
        describe(page, inner, "####");
    }
}

fn is_everywhere(argument: &Arg) -> bool {
    argument.get_help_heading() == Some(EVERYWHERE)
}

/// Whether it is told with this verb.
fn is_own(verb: &Command, argument: &Arg) -> bool {
    let settings = || Given::augment_args(Command::new("ff"));
    let is_setting = || {
        settings()
            .get_arguments()
            .any(|setting| setting.get_id() == argument.get_id())
    };
    let told_elsewhere = is_everywhere(argument) || (verb.get_name() == "serve" && is_setting());
    !argument.is_hide_set() && argument.get_id() != "help" && !told_elsewhere
}

fn row(argument: &Arg) -> String {
    let short = argument.get_short().map(|short| format!("-{short}, "));
    let variable = argument.get_env().map(|name| format!("`{}`", name.display()));
    let (meaning, default) = meaning_and_default(argument);
    let cells = [
        format!("`{}{argument}`", short.unwrap_or_default()),
        variable.unwrap_or_default(),
        default,
        format!("{meaning}{}", choices(argument)),
    ];
    let on_one_line = |cell: String| {
        cell.split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
            .replace('|', "\\|")
    };
    format!("| {} |\n", cells.map(on_one_line).join(" | "))
}

/// The words it takes, unless what is said of it says them.
fn choices(argument: &Arg) -> String {
    let values = argument.get_possible_values();
    if values.is_empty() || argument.is_hide_possible_values_set() || !argument.get_action().takes_values() {
        return String::new();
    }
    let names: Vec<_> = values.iter().map(|value| format!("`{}`", value.get_name())).collect();
    format!(": {}", names.join(", "))
}

/// What is said of an argument, and its default, which may stand in what is said.
fn meaning_and_default(argument: &Arg) -> (String, String) {
    let help = argument.get_long_help().or(argument.get_help());
    let help = help.map(ToString::to_string).unwrap_or_default();
    if let Some((before, rest)) = help.split_once(" [default: ") {
        let (default, after) = rest.split_once(']').unwrap_or((rest, ""));
        return (format!("{before}{after}"), default.to_owned());
    }
    let takes_value = argument.get_action().takes_values();
    let given = argument.get_default_values().iter().filter(|_| takes_value);
    let default = given.map(|value| format!("`{}`", value.display())).collect();
    (help, default)
}

/// The first paragraph of what a verb says about itself has no full stop.
fn sentence(about: &str) -> String {
    let (first, rest) = about.split_once("\n\n").unwrap_or((about, ""));
    let first = first.trim_end_matches('.');
    if rest.is_empty() {
        format!("{first}.")
    } else {
        format!("{first}.\n\n{rest}")
    }
}

fn exit_codes() -> String {
    let mut table = "\n## Exit codes\n\n| code | meaning |\n|---|---|\n".to_owned();
    for line in CODES.lines().skip(1) {
        let (code, meaning) = line.trim().split_once("  ").expect("a code and what it means");
        writeln!(table, "| {code} | {} |", meaning.trim()).unwrap();
    }
    table
}
