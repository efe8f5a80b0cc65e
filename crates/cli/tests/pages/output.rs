//! What a terminal prints, as it comes.

use std::io::{BufRead, BufReader, Read};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

/// Every line that was printed by now.
#[derive(Default)]
pub(crate) struct Output {
    heard: Mutex<Heard>,
    changed: Condvar,
}

#[derive(Default)]
struct Heard {
    text: String,
    is_over: bool,
}

/// Why nothing more is waited for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Silence {
    /// Time is up.
    TooLong,
    /// Nobody is left who could print.
    Over,
}

impl Output {
    /// Reads in a thread of its own.
    pub(crate) fn of(from: impl Read + Send + 'static) -> Arc<Self> {
        let output = Arc::new(Self::default());
        let heard = Arc::clone(&output);
        thread::spawn(move || {
            for line in BufReader::new(from).split(b'\n').map_while(Result::ok) {
                let mut heard_now = heard.lock();
                heard_now.text += &String::from_utf8_lossy(&line);
                heard_now.text.push('\n');
                heard.changed.notify_all();
            }
            heard.lock().is_over = true;
            heard.changed.notify_all();
        });
        output
    }

    /// What was printed since a place.
    pub(crate) fn since(&self, start: usize) -> String {
        self.lock().text[start..].to_owned()
    }

    /// The place behind everything that was printed.
    pub(crate) fn end(&self) -> usize {
        self.lock().text.len()
    }

    /// Waits until what was printed since a place has something.
    pub(crate) fn wait<T>(
        &self,
        start: usize,
        patience: Duration,
        look: impl Fn(&str) -> Option<T>,
    ) -> Result<T, Silence> {
        let begun = Instant::now();
        let mut heard = self.lock();
        loop {
            if let Some(found) = look(&heard.text[start..]) {
                return Ok(found);
            }
            let left = patience.saturating_sub(begun.elapsed());
            match (heard.is_over, left.is_zero()) {
                (true, _) => return Err(Silence::Over),
                (_, true) => return Err(Silence::TooLong),
                _ => heard = self.changed.wait_timeout(heard, left).expect("no reader panics").0,
            }
        }
    }

    /// Waits until nobody is left who could print.
    pub(crate) fn is_over_within(&self, patience: Duration) -> bool {
        self.wait(0, patience, |_| None::<()>) == Err(Silence::Over)
    }

    fn lock(&self) -> MutexGuard<'_, Heard> {
        self.heard.lock().expect("no reader panics")
    }
}

#[test]
fn waiting_ends_with_what_was_waited_for_or_with_nobody_left() {
    let output = Output::of(&b"not\nready\xff"[..]);
    let patience = Duration::from_secs(60);
    assert_eq!(output.wait(0, patience, |said| said.find("ready")), Ok("not\n".len()));
    assert_eq!(output.wait("not\n".len(), patience, |said| said.find("ready")), Ok(0));
    assert_eq!(output.wait(0, patience, |said| said.find("steady")), Err(Silence::Over));
    assert!(output.is_over_within(patience));
    assert_eq!((output.since(4), output.end()), ("ready\u{fffd}\n".to_owned(), 13));
    let silent = Output::default();
    assert_eq!(
        silent.wait(0, Duration::ZERO, |said| said.find("a")),
        Err(Silence::TooLong)
    );
}
