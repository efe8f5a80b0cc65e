//! What verbs print: a table for people, JSON for programs.

mod clean;
mod details;
mod ink;
mod pretty;
mod table;

use std::fmt::Display;
use std::io::{IsTerminal, Write};

use ff_core::wire;
use serde::Serialize;

use crate::say;

pub(crate) use clean::clean;
pub(crate) use details::{Details, wrapped};
pub(crate) use ink::{Ink, Paint, state_ink};
pub(crate) use table::{Cell, Column, Table, cut};

/// In which form things are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// For a person, as wide as the terminal
    #[default]
    Table,
    /// One JSON document, as the interface has it
    Json,
    /// A JSON document per line
    Ndjson,
}

/// Where it is printed.
#[derive(Clone, Copy)]
pub(crate) struct Out {
    pub(crate) format: Format,
    pub(crate) paint: Paint,
    /// Columns of the terminal; absent: as wide as it gets.
    pub(crate) width: Option<usize>,
}

impl Out {
    /// Standard output, in this form.
    pub(crate) fn standard(format: Format) -> Self {
        Self {
            format,
            paint: Paint::of_stdout(),
            width: width(),
        }
    }

    /// Whether people read it.
    pub(crate) fn is_table(&self) -> bool {
        self.format == Format::Table
    }

    /// Prints a list; a person is told of an empty one.
    pub(crate) fn list<T: Serialize>(
        &self,
        items: &[T],
        table: impl FnOnce() -> Table,
        none: impl Display,
    ) -> anyhow::Result<()> {
        match self.format {
            Format::Table if items.is_empty() => say::aside(none),
            Format::Table => self.text(&table().render(self.width, self.paint))?,
            Format::Json => {
                let items = items.iter().map(wire::to_json).collect::<Result<Vec<_>, _>>()?;
                let list = [b"[".to_vec(), items.join(&b","[..]), b"]".to_vec()].concat();
                self.text(&pretty::json(std::str::from_utf8(&list)?))?;
            }
            Format::Ndjson => items.iter().try_for_each(|item| self.json_line(item))?,
        }
        Ok(())
    }

    /// Prints one thing.
    pub(crate) fn one<T: Serialize>(&self, item: &T, details: impl FnOnce() -> Details) -> anyhow::Result<()> {
        match self.format {
            Format::Table => self.text(&details().render(self.width, self.paint)),
            _ => self.json(item),
        }
    }

    /// Prints what became of something that was asked for.
    pub(crate) fn done<T: Serialize>(&self, outcome: &T, sentence: impl Display) -> anyhow::Result<()> {
        match self.format {
            Format::Table => self.text(&format!("{sentence}\n")),
            _ => self.json(outcome),
        }
    }

    /// Prints one JSON document.
    pub(crate) fn json<T: Serialize>(&self, item: &T) -> anyhow::Result<()> {
        match self.format {
            Format::Ndjson => self.json_line(item),
            _ => self.text(&pretty::json(std::str::from_utf8(&wire::to_json(item)?)?)),
        }
    }

    fn json_line<T: Serialize>(&self, item: &T) -> anyhow::Result<()> {
        let mut line = wire::to_json(item)?;
        line.push(b'\n');
        self.bytes(&line)
    }

    /// Prints text that is ready.
    pub(crate) fn text(&self, text: &str) -> anyhow::Result<()> {
        self.bytes(text.as_bytes())
    }

    /// Prints bytes as they are, at once: whoever follows something sees it when it comes.
    pub(crate) fn bytes(&self, bytes: &[u8]) -> anyhow::Result<()> {
        let mut stdout = std::io::stdout().lock();
        stdout.write_all(bytes)?;
        stdout.flush()?;
        Ok(())
    }
}

/// Columns of the terminal, or what `COLUMNS` says where there is none.
fn width() -> Option<usize> {
    if std::io::stdout().is_terminal() {
        return terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    }
    std::env::var("COLUMNS").ok()?.parse().ok()
}
