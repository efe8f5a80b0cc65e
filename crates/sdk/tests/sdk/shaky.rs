//! A fabric that can be broken: calls are counted, and may get no answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::sync::mpsc;

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
}

/// Any fabric, with a line to it that can break.
#[derive(Clone)]
pub(crate) struct Shaky {
    inner: Arc<dyn Fabric>,
    line: Arc<AtomicU8>,
    exchanges: Arc<AtomicUsize>,
    spawns: Arc<AtomicUsize>,
    told: mpsc::Sender<()>,
}

impl Shaky {
    /// Around a fabric, with a message for each exchange that arrives.
    pub(crate) fn new(inner: impl Fabric + 'static) -> (Self, mpsc::Receiver<()>) {
        let (told, telling) = mpsc::channel();
        let shaky = Self {
            inner: Arc::new(inner),
            line: Arc::default(),
            exchanges: Arc::default(),
            spawns: Arc::default(),
            told,
        };
        (shaky, telling)
    }

    pub(crate) fn set(&self, line: Line) {
        self.line.store(line as u8, Ordering::SeqCst);
    }

    /// Exchanges that were tried.
    pub(crate) fn exchanges(&self) -> usize {
        self.exchanges.load(Ordering::SeqCst)
    }

    /// Calls that started children.
    pub(crate) fn spawns(&self) -> usize {
        self.spawns.load(Ordering::SeqCst)
    }

    fn is(&self, line: Line) -> bool {
        self.line.load(Ordering::SeqCst) == line as u8
    }

    fn note(&self, name: &str) {
        if name == "spawn_children" {
            self.spawns.fetch_add(1, Ordering::SeqCst);
        }
        if name == "exchange" {
            self.exchanges.fetch_add(1, Ordering::SeqCst);
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
