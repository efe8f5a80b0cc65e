//! A fabric that can be broken: calls are counted, and may get no answer.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, mpsc};

use async_trait::async_trait;
use ff_core::error::Code;
use ff_core::fabric::types::*;
use ff_core::fabric::{Fabric, Result};
use ff_core::{argument, outcome};

/// What happens to calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Line {
    /// They are answered.
    Up,
    /// They do not arrive.
    Down,
    /// They arrive, and the answers are lost.
    Deaf,
    /// They do not arrive, and nobody says so.
    Hung,
}

/// Any fabric, with a line to it that can break.
#[derive(Clone)]
pub(crate) struct Shaky {
    inner: Arc<dyn Fabric>,
    line: Arc<AtomicU8>,
    calls: Arc<Mutex<HashMap<&'static str, usize>>>,
    told: mpsc::Sender<()>,
}

impl Shaky {
    /// Around a fabric, with a message for each exchange that arrives.
    pub(crate) fn new(inner: impl Fabric + 'static) -> (Self, mpsc::Receiver<()>) {
        let (told, telling) = mpsc::channel();
        let shaky = Self {
            inner: Arc::new(inner),
            line: Arc::default(),
            calls: Arc::default(),
            told,
        };
        (shaky, telling)
    }

    pub(crate) fn set(&self, line: Line) {
        self.line.store(line as u8, Ordering::SeqCst);
    }

    /// Calls of an operation that were tried.
    pub(crate) fn calls(&self, name: &str) -> usize {
        self.calls.lock().unwrap().get(name).copied().unwrap_or_default()
    }

    /// Exchanges that were tried.
    pub(crate) fn exchanges(&self) -> usize {
        self.calls("exchange")
    }

    fn is(&self, line: Line) -> bool {
        self.line.load(Ordering::SeqCst) == line as u8
    }

    fn note(&self, name: &'static str) {
        *self.calls.lock().unwrap().entry(name).or_default() += 1;
        if name == "exchange" {
            let _ = self.told.send(());
        }
    }

    fn check(&self, line: Line) -> Result<()> {
        match self.is(line) {
            true => Err(Code::Unavailable.because("the line is broken")),
            false => Ok(()),
        }
    }
}

macro_rules! shaky {
    ($($noun:ident { $(
        $(#[doc = $doc:literal])+
        $name:ident: $method:ident $path:literal, $who:ident $(or $holder:ident)?, $body:ident, $take:tt => $give:tt;
    )+ })+) => {
        #[async_trait]
        impl Fabric for Shaky {
            $($(
                async fn $name(&self, command: argument!($take)) -> Result<outcome!($give)> {
                    self.note(stringify!($name));
                    if self.is(Line::Hung) {
                        return std::future::pending().await;
                    }
                    self.check(Line::Down)?;
                    let answer = self.inner.$name(command).await;
                    self.check(Line::Deaf)?;
                    answer
                }
            )+)+
        }
    };
}

ff_core::operations!(shaky);
