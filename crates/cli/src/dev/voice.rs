//! How `ff dev` tells what happens: a line each, with whom it is about in front.

use std::fmt::Display;

use crate::say;
use crate::verbs::output::{Ink, Paint, clean};

/// Room for whom a line is about.
const WHO: usize = 12;

/// Tells lines.
#[derive(Clone, Copy)]
pub(crate) struct Voice {
    paint: Paint,
}

impl Voice {
    /// As this terminal can show them.
    pub(crate) fn of_stdout() -> Self {
        Self {
            paint: Paint::of_stdout(),
        }
    }

    /// Tells one line.
    pub(crate) fn tell(self, who: &str, ink: Ink, what: impl Display) {
        let who = self.paint.paint(Ink::Strong, &format!("{:<WHO$}", clean(who)));
        let what = self.paint.paint(ink, &clean(&what.to_string()));
        say::line(format_args!("{who}  {what}"));
    }

    /// Tells more about the line before.
    pub(crate) fn add(self, what: impl Display) {
        let more = self.paint.paint(Ink::Faint, &clean(&what.to_string()));
        say::line(format_args!("{:WHO$}  {more}", ""));
    }
}
