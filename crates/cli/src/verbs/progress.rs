//! How far something is, for whoever waits at a terminal.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// A bar is drawn this often at most.
const EVERY: Duration = Duration::from_millis(100);
const WIDTH: usize = 30;

/// A bar on standard error; nothing where that is no terminal.
pub(crate) struct Progress {
    what: &'static str,
    drawn: Option<Instant>,
    is_terminal: bool,
}

impl Progress {
    pub(crate) fn of(what: &'static str) -> Self {
        Self {
            what,
            drawn: None,
            is_terminal: std::io::stderr().is_terminal(),
        }
    }

    /// So much of all of it is done.
    pub(crate) fn at(&mut self, done: u64, all: u64) {
        let is_soon = self.drawn.is_some_and(|drawn| drawn.elapsed() < EVERY);
        if !self.is_terminal || (is_soon && done < all) {
            return;
        }
        self.drawn = Some(Instant::now());
        // Whether somebody sees it changes nothing.
        let _ = write!(std::io::stderr(), "\r{}  {}", self.what, bar(done, all));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.drawn.is_some() {
            let _ = write!(std::io::stderr(), "\r\u{1b}[K");
        }
    }
}

fn bar(done: u64, all: u64) -> String {
    let of = |whole: u64| u128::from(done) * u128::from(whole) / u128::from(all.max(1));
    let filled = usize::try_from(of(WIDTH as u64)).unwrap_or(WIDTH).min(WIDTH);
    format!("[{}{}] {} %", "█".repeat(filled), " ".repeat(WIDTH - filled), of(100))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_fills() {
        assert!(bar(0, 7).ends_with("] 0 %") && bar(7, 7).ends_with("█] 100 %"));
        assert!(bar(1, 2).contains("█ ") && bar(1, 2).ends_with("50 %"));
        assert!(bar(0, 0).ends_with("0 %"));
    }
}
