//! A command and everything it started.

use std::sync::atomic::{AtomicBool, Ordering};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::Child;

/// A group of processes. None of them outlives it.
pub(crate) struct Group {
    id: Option<Pid>,
    /// Its number may be somebody else's by now.
    is_gone: AtomicBool,
}

impl Group {
    /// That of a command that was started as the first of its group.
    pub(crate) fn of(child: &Child) -> Self {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        Self {
            id: id.and_then(Pid::from_raw),
            is_gone: AtomicBool::new(false),
        }
    }

    /// Asks all of them to end.
    pub(crate) fn ask_to_end(&self) {
        self.send(Signal::TERM);
    }

    /// Ends all of them.
    pub(crate) fn kill(&self) {
        self.send(Signal::KILL);
        self.is_gone.store(true, Ordering::Relaxed);
    }

    fn send(&self, signal: Signal) {
        if let Some(id) = self.id.filter(|_| !self.is_gone.load(Ordering::Relaxed)) {
            // All of them may have ended.
            let _ = kill_process_group(id, signal);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}
