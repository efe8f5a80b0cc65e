//! Threads that end with whoever started them.

use std::io;
use std::thread::{Builder, JoinHandle};

/// A thread that is waited for when this is dropped. Whoever holds it must have told it to end by then.
#[derive(Debug)]
pub(crate) struct Thread(Option<JoinHandle<()>>);

impl Thread {
    pub(crate) fn start(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<Self> {
        Builder::new()
            .name(name.to_owned())
            .spawn(work)
            .map(|thread| Self(Some(thread)))
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        if let Some(thread) = self.0.take() {
            // One that panicked has said so.
            let _ = thread.join();
        }
    }
}
