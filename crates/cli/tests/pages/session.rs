//! Runs a page.

use std::fmt::{self, Display, Formatter};
use std::time::Duration;

use crate::folder::{Folder, is_piece_of};
use crate::guard::Guard;
use crate::output::Silence;
use crate::page::{Action, End, Page, Step};
use crate::printed::follow;
use crate::terminal::Terminal;

/// How much of what each terminal has printed is told when a page fails.
const SHOWN: usize = 80;

/// Why a page does not do what it says.
#[derive(Debug)]
pub(crate) struct Failure {
    place: String,
    what: String,
    printed: String,
}

impl Display for Failure {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { place, what, printed } = self;
        write!(f, "{place}: {what}\n{printed}")
    }
}

/// The terminals of a page, while it is run.
struct Session<'page> {
    // It is dropped first: terminals wait for what it ends.
    guard: Guard,
    terminals: Vec<(String, Terminal)>,
    folder: &'page Folder,
    patience: Duration,
}

/// Runs every block of a page in a folder. Each may take as long as `patience`.
pub(crate) fn run(page: &Page, folder: &Folder, patience: Duration) -> Result<(), Failure> {
    let mut session = Session {
        guard: Guard::start(),
        terminals: Vec::new(),
        folder,
        patience,
    };
    for step in &page.steps {
        for action in &step.actions {
            session.act(step, action).map_err(|what| Failure {
                place: format!("{}:{}: block {} ({})", page.path, step.line, step.number, step.language),
                what,
                printed: session.printed(),
            })?;
        }
    }
    session.end().map_err(|what| Failure {
        place: format!("{}: at its end", page.path),
        what,
        printed: session.printed(),
    })
}

impl Session<'_> {
    fn act(&mut self, step: &Step, action: &Action) -> Result<(), String> {
        let patience = self.patience;
        let compare = |printed: &str| follow(&step.text, printed);
        let compared = match action {
            Action::Run { terminal, end } => return self.run(step, terminal, end),
            Action::Write { path } => return self.folder.write(path, &step.text),
            Action::Find { path } => return find(&step.text, path),
            Action::Printed { terminal } => self.opened(terminal)?.compare_block(patience, compare),
            Action::Appears { terminal } => self.opened(terminal)?.compare_new(patience, compare),
        };
        compared.map_err(|missing| {
            let at = step.line + missing.line;
            format!("its line {at} is not printed, or not in this order: {}", missing.text)
        })
    }

    fn run(&mut self, step: &Step, name: &str, end: &End) -> Result<(), String> {
        let file = self
            .folder
            .keep(step.number, &step.text)
            .map_err(|error| error.to_string())?;
        let patience = self.patience;
        let terminal = self.terminal(name);
        if terminal.is_running() {
            terminal
                .interrupt(patience)
                .map_err(|why| format!("what runs in terminal {name} {why}"))?;
        }
        terminal.run(&file);
        let ended = match end {
            End::Stopped { after } => terminal.said(after, patience),
            End::Well | End::Badly => terminal.ended(patience).map(Some),
        };
        let ended = match (ended, end) {
            (Ok(ended), _) => ended,
            (Err(Silence::Over), _) => return Err(format!("it ends the shell of terminal {name}")),
            (Err(Silence::TooLong), End::Stopped { after }) => {
                return Err(format!("within {} s it does not say: {after}", patience.as_secs()));
            }
            (Err(Silence::TooLong), _) => return Err(format!("it has not ended within {} s", patience.as_secs())),
        };
        match (end, ended) {
            (End::Stopped { .. }, None) => Ok(()),
            (End::Stopped { after }, Some(ended)) => {
                Err(format!("it ends with {} and has not said: {after}", ended.code))
            }
            (End::Badly, Some(ended)) if ended.code == 0 => Err("it should fail, and does not".to_owned()),
            (End::Well, Some(ended)) if ended.code != 0 => {
                let at = step.line + ended.line;
                Err(format!("it ends with {}, because of line {at}", ended.code))
            }
            _ => Ok(()),
        }
    }

    /// The terminal of this name, opened now if it is not.
    fn terminal(&mut self, name: &str) -> &mut Terminal {
        let index = self.terminals.iter().position(|(of, _)| of == name).unwrap_or_else(|| {
            let mark = self.guard.mark();
            let terminal = Terminal::start(|shell| {
                self.folder.prepare(shell);
                shell.env(mark.0, mark.1);
            });
            self.guard.watch(terminal.group());
            self.terminals.push((name.to_owned(), terminal));
            self.terminals.len() - 1
        });
        &mut self.terminals[index].1
    }

    fn opened(&mut self, name: &str) -> Result<&mut Terminal, String> {
        let opened = self.terminals.iter_mut().find(|(of, _)| of == name);
        let (_, terminal) = opened.ok_or_else(|| format!("nothing was run in terminal {name}"))?;
        Ok(terminal)
    }

    /// Ends what runs, the newest terminal first, and sees that nothing is left.
    fn end(&mut self) -> Result<(), String> {
        let patience = self.patience;
        for (name, terminal) in self
            .terminals
            .iter_mut()
            .rev()
            .filter(|(_, terminal)| terminal.is_running())
        {
            terminal
                .interrupt(patience)
                .map_err(|why| format!("what runs in terminal {name} {why}"))?;
        }
        self.terminals.iter_mut().for_each(|(_, terminal)| terminal.close());
        let are_over = self
            .terminals
            .iter()
            .all(|(_, terminal)| terminal.is_over_within(patience));
        match self.guard.end() {
            left if left.is_empty() && are_over => Ok(()),
            left => Err(format!("the page leaves processes behind: {}", left.join(" · "))),
        }
    }

    fn printed(&self) -> String {
        let terminals = self.terminals.iter().map(|(name, terminal)| {
            let printed = terminal.printed();
            let lines: Vec<&str> = printed.lines().collect();
            let shown = &lines[lines.len().saturating_sub(SHOWN)..];
            let cut = if shown.len() < lines.len() { "…\n" } else { "" };
            format!("--- printed so far in terminal {name}:\n{cut}{}\n", shown.join("\n"))
        });
        terminals.collect()
    }
}

fn find(piece: &str, path: &str) -> Result<(), String> {
    match is_piece_of(piece, path) {
        Ok(true) => Ok(()),
        Ok(false) => Err(format!("it is not, or no longer, a piece of {path}")),
        Err(error) => Err(format!("{path} cannot be read: {error}")),
    }
}
