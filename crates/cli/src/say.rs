//! What a person at the terminal reads.

use std::fmt::Display;

/// Prints one line. Nobody reading it (a closed pipe) is no reason to stop.
pub(crate) fn line(text: impl Display) {
    use std::io::Write;
    let _ = writeln!(std::io::stdout(), "{text}");
}
