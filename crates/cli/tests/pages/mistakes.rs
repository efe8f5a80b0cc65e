//! Pages with one mistake each: every one of them fails, and says where and why.

use std::time::{Duration, Instant};

use crate::folder::Folder;
use crate::page::Page;
use crate::session;

const PATIENCE: Duration = Duration::from_secs(60);

fn ran(page: &str) -> Result<(), String> {
    ran_within(page, PATIENCE)
}

fn ran_within(page: &str, patience: Duration) -> Result<(), String> {
    let page = Page::read("page.md", page).map_err(|unclear| format!("page.md:{}: {}", unclear.line, unclear.what))?;
    let folder = Folder::new().unwrap();
    session::run(&page, &folder, patience).map_err(|failure| failure.to_string())
}

/// What is said of a page, which has all of this.
fn said_of(page: &str, parts: &[&str]) {
    let said = ran(page).expect_err(page);
    for part in parts {
        assert!(said.contains(part), "{part:?} is not in:\n{said}");
    }
}

#[test]
fn a_page_without_a_mistake_passes() {
    let page = r#"
<!-- terminal: server -->
<!-- runs until stopped, after: ready -->
```sh
mkdir place; cd place
NAME=Ana
sh -c 'echo starts; echo ready >&2; echo "got $0" >&2; exec tail -f /dev/null'
```

Shown in two places:

```text
starts
got …
```

<!-- file: place/names.txt -->
```text
Ben
```

```sh
cat place/names.txt && X=kept
echo "$X" >&2
```

```text
Ben
kept
```

<!-- fails -->
```sh
test "$X" = lost
```

Its shell is where it was:

<!-- terminal: server -->
```sh
echo "$NAME $(basename "$PWD") $(cat names.txt)"
```

<!-- prints in server -->
```text
Ana place Ben
```

<!-- from: LICENSE -->
```text
"You" (or "Your") shall mean an individual or Legal Entity
exercising permissions granted by this License.
```

<!-- not run: nobody has such a machine -->
```fish
shutdown
```
"#;
    ran(page).unwrap();
}

#[test]
fn a_line_that_is_not_printed() {
    said_of(
        "```sh\necho one; echo two\n```\n```text\none\nthree\n```\n",
        &[
            "page.md:4: block 2 (text)",
            "its line 6 is not printed",
            ": three",
            "terminal main:\none\ntwo\n",
        ],
    );
}

#[test]
fn lines_in_another_order() {
    said_of(
        "```sh\necho one; echo two\n```\n```text\ntwo\none\n```\n",
        &["its line 6", ": one"],
    );
}

#[test]
fn a_line_that_does_not_appear_in_another_terminal() {
    let page = "<!-- terminal: a -->\n```sh\necho one\n```\n<!-- prints in a -->\n```text\ntwo\n```\n";
    said_of(page, &["page.md:6: block 2 (text)", ": two"]);
    let twice = "```sh\necho one\n```\n```text\none\n```\n<!-- prints in main -->\n```text\none\n```\n";
    said_of(twice, &["page.md:8: block 3"]);
    said_of(
        "<!-- prints in b -->\n```text\none\n```\n",
        &["nothing was run in terminal b"],
    );
}

#[test]
fn a_command_that_fails_before_others_that_do_not() {
    said_of(
        "\n```sh\necho one\n(exit 7)\necho two\n```\n",
        &[
            "page.md:2: block 1 (sh): it ends with 7, because of line 4",
            "main:\none\n",
        ],
    );
    said_of("```sh\necho \"begun\n```\n", &["it ends with 2"]);
}

#[test]
fn a_shell_that_is_ended() {
    said_of("```sh\nexit 0\n```\n", &["it ends the shell of terminal main"]);
}

#[test]
fn a_block_that_should_fail_and_does_not() {
    said_of("<!-- fails -->\n```sh\ntrue\n```\n", &["it should fail, and does not"]);
}

#[test]
fn a_server_that_ends_instead_of_running() {
    let server = |command: &str| {
        format!("<!-- terminal: server -->\n<!-- runs until stopped, after: ready -->\n```sh\n{command}\n```\n")
    };
    said_of(
        &server("echo no; (exit 3)"),
        &["it ends with 3 and has not said: ready"],
    );
    let later = server("trap '' INT; sh -c 'echo ready; exit 4'");
    said_of(
        &later,
        &[
            "page.md: at its end",
            "what runs in terminal server should run until it is stopped, and has ended with 4",
        ],
    );
    said_of(
        &format!("{later}<!-- prints in server -->\n```text\nsteady\n```\n"),
        &[": steady"],
    );
}

#[test]
fn a_page_that_hangs() {
    let begun = Instant::now();
    let hangs = |page: &str| ran_within(page, Duration::from_secs(2)).expect_err("it hangs");
    let said = hangs("```sh\necho one\ntail -f /dev/null\n```\n");
    assert!(
        said.starts_with("page.md:1: block 1 (sh): it has not ended within 2 s\n"),
        "{said}"
    );
    assert!(said.ends_with("terminal main:\none\n"), "{said}");
    let said = hangs("<!-- runs until stopped, after: ready -->\n```sh\ntail -f /dev/null\n```\n");
    assert!(said.contains("it does not say: ready"), "{said}");
    let said = hangs(
        "<!-- runs until stopped, after: a -->\n```sh\ntrap '' INT\nsh -c 'echo a; exec tail -f /dev/null'\n```\n",
    );
    assert!(said.contains("at its end") && said.contains("after Ctrl-C"), "{said}");
    assert!(begun.elapsed() < PATIENCE, "nobody waits for what was started");
}

#[test]
fn a_process_that_is_left_behind() {
    let said = ran_within("```sh\ntail -f /dev/null &\n```\n", Duration::from_secs(2)).expect_err("it is left");
    assert!(
        said.contains("at its end: the page leaves processes behind: "),
        "{said}"
    );
}

#[test]
fn a_block_in_an_unknown_language() {
    said_of("```haskell\nmain\n```\n", &["page.md:1: ", "haskell"]);
}

#[test]
fn a_block_that_is_not_run_for_no_reason() {
    said_of(
        "<!-- not run: -->\n```sh\nls\n```\n",
        &["page.md:1: `not run:` does not say what"],
    );
}

#[test]
fn a_piece_that_differs_from_its_file() {
    said_of(
        "<!-- from: LICENSE -->\n```text\nAll rights reversed.\n```\n",
        &["page.md:2", "no longer, a piece of LICENSE"],
    );
    said_of("<!-- from: LICENCE -->\n```text\na\n```\n", &["LICENCE cannot be read"]);
}

#[test]
fn a_file_outside_of_the_folder() {
    said_of(
        "<!-- file: ../a -->\n```text\na\n```\n",
        &["../a is not in the page's folder"],
    );
}
