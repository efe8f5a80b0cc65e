//! What is to be done with the blocks of a page, in order.

use crate::directive::{Directive, comment};
use crate::fences::{self, Fenced};

/// The terminal of a block that names none.
const MAIN: &str = "main";

/// A page that is run.
#[derive(Debug)]
pub(crate) struct Page {
    /// From the root of the repository.
    pub(crate) path: String,
    pub(crate) steps: Vec<Step>,
}

/// One block, and what is done with it.
#[derive(Debug)]
pub(crate) struct Step {
    /// Which block of the page it is, from 1.
    pub(crate) number: usize,
    /// The line of its fence.
    pub(crate) line: usize,
    pub(crate) language: String,
    pub(crate) text: String,
    pub(crate) actions: Vec<Action>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Run it.
    Run { terminal: String, end: End },
    /// It is what the block before it printed.
    Printed { terminal: String },
    /// It appears in what a terminal prints.
    Appears { terminal: String },
    /// Write it into a file of the page's folder.
    Write { path: String },
    /// Find it in a file of the repository, or in one of a folder.
    Find { path: String },
}

/// How a block that is run ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Well,
    Badly,
    /// Not by itself; the page goes on once it has said this.
    Stopped {
        after: String,
    },
}

/// What is wrong with a page before anything of it is run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Unclear {
    pub(crate) line: usize,
    pub(crate) what: String,
}

impl Page {
    /// Reads a page.
    pub(crate) fn read(path: &str, text: &str) -> Result<Self, Unclear> {
        let lines: Vec<&str> = text.lines().collect();
        let blocks = fences::blocks(text);
        let everywhere = every_from(&lines, &blocks)?;
        let mut steps: Vec<Step> = Vec::new();
        for (index, block) in blocks.iter().enumerate() {
            let before = index.checked_sub(1).map(|before| &blocks[before]);
            let mut directives = directives(&lines, block)?;
            if directives.is_empty() {
                let all = everywhere.iter().filter(|(language, _)| *language == block.language);
                directives.extend(all.map(|(_, path)| Directive::From(path.clone())));
            }
            let shown = before.filter(|before| is_close(&lines, before, block));
            let shows = shown.and_then(|_| steps.last());
            let actions = actions(block, &directives, shows).map_err(|what| Unclear { line: block.line, what })?;
            steps.push(Step {
                number: index + 1,
                line: block.line,
                language: block.language.clone(),
                text: block.text.clone(),
                actions,
            });
        }
        let path = path.to_owned();
        Ok(Self { path, steps })
    }
}

/// The comments on the lines before a block.
fn directives(lines: &[&str], block: &Fenced) -> Result<Vec<Directive>, Unclear> {
    let before = lines[..block.line - 1].iter().zip(1..block.line).rev();
    let comments = before.map_while(|(line, number)| Some((comment(line)?, number)));
    let mut directives = Vec::new();
    for (comment, line) in comments {
        let directive = Directive::read(comment).map_err(|what| Unclear { line, what })?;
        if !matches!(directive, Directive::EveryFrom { .. }) {
            directives.push(directive);
        }
    }
    directives.reverse();
    Ok(directives)
}

/// What is said about all blocks of a language. Any other directive stands before a block.
fn every_from(lines: &[&str], blocks: &[Fenced]) -> Result<Vec<(String, String)>, Unclear> {
    let mut everywhere = Vec::new();
    for (line, number) in lines.iter().zip(1..) {
        let Some(directive) = comment(line).and_then(|comment| Directive::read(comment).ok()) else {
            continue;
        };
        if blocks.iter().any(|block| (block.line..=block.last).contains(&number)) {
            continue;
        }
        let follows = lines[number..].iter().position(|line| comment(line).is_none());
        let is_before_block = follows.is_some_and(|skipped| {
            let next = number + skipped + 1;
            blocks.iter().any(|block| block.line == next)
        });
        match directive {
            Directive::EveryFrom { language, path } => everywhere.push((language, path)),
            _ if is_before_block => {}
            _ => {
                return Err(Unclear {
                    line: number,
                    what: "this comment belongs on the line before a block".to_owned(),
                });
            }
        }
    }
    Ok(everywhere)
}

/// Whether a block shows what the one before it prints: between them is nothing, or one paragraph that ends with a colon.
fn is_close(lines: &[&str], before: &Fenced, block: &Fenced) -> bool {
    let between: Vec<&str> = lines[before.last..block.line - 1]
        .iter()
        .map(|line| line.trim())
        .collect();
    let is_said = |line: &&&str| !line.is_empty() && comment(line).is_none();
    let Some(last) = between.iter().rposition(|line| is_said(&line)) else {
        return true;
    };
    let Some(first) = between.iter().position(|line| is_said(&line)) else {
        return true;
    };
    between[last].ends_with(':') && between[first..=last].iter().all(|line| is_said(&line))
}

/// What a block is, without what is done with it.
fn actions(block: &Fenced, directives: &[Directive], before: Option<&Step>) -> Result<Vec<Action>, String> {
    if directives
        .iter()
        .any(|directive| matches!(directive, Directive::NotRun(_)))
    {
        return match directives.len() {
            1 => Ok(Vec::new()),
            _ => Err("a block that is not run is nothing else".to_owned()),
        };
    }
    let mut actions: Vec<Action> = directives.iter().filter_map(apart).collect();
    if !actions.is_empty() {
        if actions.len() < directives.len() {
            return Err("only a block that is run has a terminal, runs until stopped or fails".to_owned());
        }
        let (appears, files): (Vec<_>, Vec<_>) = actions
            .iter()
            .partition(|action| matches!(action, Action::Appears { .. }));
        if appears.len() > 1 || !(appears.is_empty() || files.is_empty()) {
            return Err("what is printed is no file".to_owned());
        }
        compares_something(block, &actions)?;
        return Ok(actions);
    }
    match block.language.as_str() {
        "sh" => Ok(vec![run(directives)?]),
        "text" if directives.is_empty() => {
            let shown = before.ok_or(
                "this block follows no sh block (between them is at most one paragraph, which ends with a colon); a comment before it \
                 may say `prints in NAME` or `not run: REASON`",
            )?;
            match shown.actions.as_slice() {
                [Action::Run { terminal, .. }] => actions.push(Action::Printed {
                    terminal: terminal.clone(),
                }),
                // What is not run prints nothing.
                [] if shown.language == "sh" => {}
                _ => return Err("the block before this one prints nothing".to_owned()),
            }
            compares_something(block, &actions)?;
            Ok(actions)
        }
        "text" => Err("only a sh block has a terminal, runs until stopped or fails".to_owned()),
        language => Err(format!(
            "nobody knows what to do with a block in {}: a comment on the line before it says `file: PATH`, `from: PATH`, `prints in \
             NAME` or `not run: REASON`",
            if language.is_empty() { "no language" } else { language }
        )),
    }
}

/// What is done with a block that is not run.
fn apart(directive: &Directive) -> Option<Action> {
    match directive {
        Directive::PrintsIn(terminal) => Some(Action::Appears {
            terminal: terminal.clone(),
        }),
        Directive::File(path) => Some(Action::Write { path: path.clone() }),
        Directive::From(path) => Some(Action::Find { path: path.clone() }),
        _ => None,
    }
}

/// How a block is run.
fn run(directives: &[Directive]) -> Result<Action, String> {
    let (mut terminal, mut end) = (None, End::Well);
    for directive in directives {
        match directive {
            Directive::Terminal(name) if terminal.is_none() => terminal = Some(name.clone()),
            Directive::Fails if end == End::Well => end = End::Badly,
            Directive::RunsUntilStopped(after) if end == End::Well => end = End::Stopped { after: after.clone() },
            _ => return Err("the comments before this block contradict each other".to_owned()),
        }
    }
    let terminal = terminal.unwrap_or_else(|| MAIN.to_owned());
    Ok(Action::Run { terminal, end })
}

/// A comparison that cannot fail says nothing.
fn compares_something(block: &Fenced, actions: &[Action]) -> Result<(), String> {
    let says_something = block.text.chars().any(|char| !char.is_whitespace() && char != '…');
    let is_compared = actions.iter().any(|action| !matches!(action, Action::Write { .. }));
    if says_something || !is_compared {
        return Ok(());
    }
    Err("this block is empty: nothing could be compared with it".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(page: &str) -> Result<Vec<Vec<Action>>, Unclear> {
        let page = Page::read("a.md", page)?;
        Ok(page.steps.into_iter().map(|step| step.actions).collect())
    }

    fn unclear(page: &str) -> Unclear {
        read(page).expect_err("it is unclear")
    }

    fn run(terminal: &str, end: End) -> Vec<Action> {
        let terminal = terminal.to_owned();
        vec![Action::Run { terminal, end }]
    }

    fn printed() -> Vec<Action> {
        let terminal = "main".to_owned();
        vec![Action::Printed { terminal }]
    }

    #[test]
    fn a_shell_block_is_run_and_a_text_block_after_it_is_what_it_prints() {
        let page = "```sh\nls\n```\n\nIt prints two\nlines:\n\n```text\na\n```\n";
        assert_eq!(read(page), Ok(vec![run("main", End::Well), printed()]));
    }

    #[test]
    fn a_text_block_that_follows_no_shell_block_is_refused() {
        for page in [
            "```text\na\n```\n",
            "```sh\nls\n```\nNot about it.\n```text\na\n```\n",
            "```sh\nls\n```\nOne.\n\nTwo:\n```text\na\n```\n",
            "<!-- file: a -->\n```sh\nls\n```\n```text\na\n```\n",
        ] {
            read(page).expect_err(page);
        }
    }

    #[test]
    fn directives_stand_on_the_lines_before_a_block() {
        let page = "<!-- terminal: server -->\n<!-- runs until stopped, after: ready -->\n```sh\nff dev\n```\n\n<!-- fails -->\n```sh\nfalse\n```\n\
                    <!-- prints in server -->\n```json\n{}\n```\n<!-- file: a.py -->\n<!-- from: b.py -->\n```python\nx\n```\n";
        let after = "ready".to_owned();
        let path = |path: &str| path.to_owned();
        let expected = vec![
            run("server", End::Stopped { after }),
            run("main", End::Badly),
            vec![Action::Appears {
                terminal: path("server"),
            }],
            vec![
                Action::Write { path: path("a.py") },
                Action::Find { path: path("b.py") },
            ],
        ];
        assert_eq!(read(page), Ok(expected));
    }

    #[test]
    fn one_comment_may_speak_for_every_block_of_a_language() {
        let page = "<!-- every rust block is from: examples -->\n\n```rust\nx\n```\n<!-- from: other.rs -->\n```rust\ny\n```\n";
        let find = |path: &str| vec![Action::Find { path: path.to_owned() }];
        assert_eq!(read(page), Ok(vec![find("examples"), find("other.rs")]));
    }

    #[test]
    fn what_is_not_run_prints_nothing() {
        let page = "<!-- not run: it takes an hour -->\n```sh\nmake\n```\n```text\ndone\n```\n";
        assert_eq!(read(page), Ok(vec![vec![], vec![]]));
    }

    #[test]
    fn a_block_that_nobody_can_run_is_refused_with_its_line() {
        let refused = unclear("# T\n\n```json\n{}\n```\n");
        assert_eq!(refused.line, 3);
        assert!(
            refused.what.contains("json") && refused.what.contains("not run: REASON"),
            "{}",
            refused.what
        );
        assert!(unclear("```\nx\n```\n").what.contains("no language"));
        assert!(unclear("```bash\nls\n```\n").what.contains("bash"));
    }

    #[test]
    fn a_block_that_is_not_run_has_a_reason() {
        let refused = unclear("<!-- not run: -->\n```sh\nls\n```\n");
        assert_eq!(refused.line, 1);
        assert!(refused.what.contains("does not say what"), "{}", refused.what);
    }

    #[test]
    fn a_comment_that_directs_nothing_is_refused() {
        assert_eq!(unclear("<!-- fails -->\n\n```sh\nls\n```\n").line, 1);
        assert_eq!(unclear("text\n<!-- terminal: a -->\ntext\n").line, 2);
        assert_eq!(unclear("<!-- termnal: a -->\n```sh\nls\n```\n").line, 1);
        assert_eq!(read("<!-- printed by a test -->\n\ntext\n"), Ok(vec![]));
    }

    #[test]
    fn comments_that_contradict_each_other_are_refused() {
        for comments in [
            "<!-- fails -->\n<!-- runs until stopped, after: x -->",
            "<!-- terminal: a -->\n<!-- terminal: b -->",
            "<!-- not run: why -->\n<!-- fails -->",
            "<!-- file: a -->\n<!-- fails -->",
            "<!-- file: a -->\n<!-- prints in b -->",
        ] {
            read(&format!("{comments}\n```sh\nls\n```\n")).expect_err(comments);
        }
        read("```sh\nls\n```\n<!-- fails -->\n```text\na\n```\n").expect_err("text cannot fail");
    }

    #[test]
    fn a_comparison_that_cannot_fail_is_refused() {
        assert!(
            unclear("```sh\nls\n```\n```text\n…\n\n```\n")
                .what
                .contains("nothing could be compared")
        );
    }
}
