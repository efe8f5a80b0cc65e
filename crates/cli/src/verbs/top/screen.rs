//! The whole terminal for a while, and given back as it was.

use std::io::{Read, Write};

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use tokio::sync::mpsc;

/// Another screen, without a cursor.
const ENTER: &str = "\u{1b}[?1049h\u{1b}[?25l";
/// The cursor again, and the screen there was.
const LEAVE: &str = "\u{1b}[?25h\u{1b}[?1049l";
/// Where drawing begins.
const HOME: &str = "\u{1b}[H";
/// The rest of a line, and of the screen.
const CLEAR_LINE: &str = "\u{1b}[K";
const CLEAR_BELOW: &str = "\u{1b}[J";

/// The terminal, while it is ours.
pub(super) struct Screen {
    /// How it was.
    before: Termios,
    keys: mpsc::Receiver<u8>,
}

impl Screen {
    /// Takes the terminal: keys come one by one and are not shown. Ctrl-C stays a signal.
    pub(super) fn open() -> anyhow::Result<Self> {
        let before = tcgetattr(std::io::stdin())?;
        let mut raw = before.clone();
        raw.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
        tcsetattr(std::io::stdin(), OptionalActions::Now, &raw)?;
        let (sender, keys) = mpsc::channel(16);
        let screen = Self { before, keys };
        std::thread::spawn(move || {
            let pressed = std::io::stdin().lock().bytes().map_while(Result::ok);
            for key in pressed {
                if sender.blocking_send(key).is_err() {
                    return;
                }
            }
        });
        print(ENTER)?;
        Ok(screen)
    }

    /// Columns and rows.
    pub(super) fn size(&self) -> (usize, usize) {
        let size = terminal_size::terminal_size();
        size.map_or((80, 24), |(width, height)| {
            (usize::from(width.0), usize::from(height.0))
        })
    }

    /// Shows these lines and nothing else.
    pub(super) fn draw(&mut self, lines: &[String]) -> anyhow::Result<()> {
        let lines: Vec<String> = lines.iter().map(|line| format!("{line}{CLEAR_LINE}")).collect();
        print(&format!("{HOME}{}{CLEAR_BELOW}", lines.join("\r\n")))
    }

    /// Completes when somebody presses q.
    pub(super) async fn asked_to_stop(&mut self) {
        loop {
            match self.keys.recv().await {
                Some(b'q' | b'Q') => return,
                Some(_) => {}
                // Nobody can press anything any more.
                None => std::future::pending().await,
            }
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // There is nobody left to tell.
        let _ = print(LEAVE);
        let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &self.before);
    }
}

fn print(text: &str) -> anyhow::Result<()> {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()?;
    Ok(())
}
