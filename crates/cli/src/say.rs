//! What a person at the terminal reads.

use std::fmt::Display;
use std::io::Write;

/// Prints one line. Nobody reading it (a closed pipe) is no reason to stop.
pub(crate) fn line(text: impl Display) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

/// Says one line beside what is printed, for a person: it never gets between what a program reads.
pub(crate) fn aside(text: impl Display) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
