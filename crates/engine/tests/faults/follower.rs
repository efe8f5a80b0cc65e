//! A client that follows the events, and begins anew when it is told that it has missed some.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use ff_core::error::Code;
use ff_core::fabric::Fabric as _;
use ff_core::id::ExecutionId;
use ff_core::limits::PAGE_MAX;
use ff_core::record::{Happening, HistoryLine, HistorySubject};
use ff_core::time::Duration;
use ff_core::token::SignedCursor;
use ff_core::view::ReadEvents;
use ff_engine::Engine;

use crate::insist::insist;
use crate::ledger::Ledger;

const WAIT: Duration = Duration::from_millis(500);

/// What happened, and under which lease.
pub(crate) type Told = (Happening, Option<u64>);

/// One who follows the events.
pub(crate) struct Follower {
    engine: Engine,
    ledger: Arc<Ledger>,
    cursor: Option<SignedCursor>,
    /// What it was told of each execution since it began, in order.
    pub(crate) told: HashMap<ExecutionId, Vec<Told>>,
    /// How often it was told that it has missed something.
    pub(crate) gaps: usize,
}

impl Follower {
    pub(crate) fn new(engine: Engine, ledger: &Arc<Ledger>) -> Self {
        Self {
            engine,
            ledger: Arc::clone(ledger),
            cursor: None,
            told: HashMap::new(),
            gaps: 0,
        }
    }

    /// Reads for as long as workers work.
    pub(crate) async fn follow(mut self) -> Self {
        while !self.ledger.workers_stop.load(Ordering::Relaxed) {
            self.read_on().await;
        }
        self
    }

    /// Reads what there is, or waits a moment for it.
    pub(crate) async fn read_on(&mut self) {
        let request = ReadEvents {
            cursor: self.cursor.clone(),
            limit: Some(PAGE_MAX),
            wait: WAIT,
            ..ReadEvents::default()
        };
        match insist(&self.ledger, || self.engine.events(request.clone())).await.0 {
            Ok(events) => {
                self.cursor = Some(events.next);
                events.events.iter().for_each(|event| self.hear(&event.line));
            }
            Err(rejection) if rejection.code == Code::CursorExpired => {
                self.gaps += 1;
                self.cursor = None;
                self.told.clear();
            }
            Err(rejection) => self.ledger.note_oddity("events", None, &rejection),
        }
    }

    fn hear(&mut self, line: &HistoryLine) {
        if let HistorySubject::Execution(id) = line.subject {
            self.told.entry(id).or_default().push((line.what, line.lease_epoch));
        }
    }
}
