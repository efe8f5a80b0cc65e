//! Somebody who follows the events, and sometimes falls behind.

use ff_core::error::Code;
use ff_core::time::Duration;
use ff_core::token::SignedCursor;
use ff_core::view::ReadEvents;

use super::actor::{Actor, Heard, call};
use super::board::Phase;
use crate::invariants::Reading;

/// Follows all events of all namespaces.
pub(super) struct Listener {
    actor: Actor,
    /// How far it has come; `None`: it begins anew.
    bookmark: Option<(SignedCursor, Reading)>,
}

impl Listener {
    pub(super) fn new(actor: Actor) -> Self {
        Self { actor, bookmark: None }
    }

    /// A listener's whole life. At its end it reads all there is.
    pub(super) async fn listen(mut self) {
        while self.actor.board.phase() == Phase::Storm {
            self.read().await;
            let away = self.actor.luck.choose([300, 300, 3_000, 20_000]);
            self.actor.pause(0, away).await;
            if self.actor.luck.one_in(12) {
                // Whoever begins in the middle has much to catch up with.
                self.bookmark = None;
            }
        }
        while self.actor.board.phase() != Phase::Rest {
            self.actor.pause(1_000, 1_000).await;
        }
        while self.read().await {}
    }

    /// Reads on; `false` when there is no more.
    async fn read(&mut self) -> bool {
        let watch = &self.actor.stage.watch;
        let bookmark = self.bookmark.take();
        let wait = self.actor.luck.choose([0, 0, 2_000]);
        let request = ReadEvents {
            cursor: bookmark.as_ref().map(|(cursor, _)| cursor.clone()),
            limit: Some(self.actor.luck.choose([1, 5, 40])),
            wait: match self.actor.board.phase() {
                Phase::Rest => Duration::ZERO,
                _ => Duration::from_millis(wait),
            },
            ..ReadEvents::default()
        };
        match call!(self.actor, events, request).await {
            Heard::Told(events) => {
                // Whoever begins has done so when it is first answered: it may have asked several times.
                let mut reading = bookmark.map_or_else(|| watch.begin_reading(), |(_, reading)| reading);
                for event in &events.events {
                    watch.saw(&mut reading, &event.line);
                }
                let more = !events.events.is_empty();
                if !more && self.actor.board.phase() == Phase::Rest {
                    watch.saw_everything(&reading);
                }
                self.bookmark = Some((events.next, reading));
                more
            }
            // It has missed something, or the key of its cursor is gone, and it knows: it begins anew, a moment later. What
            // is dropped in the millisecond in which somebody begins may have been dropped just after that.
            Heard::Refused(refusal) if matches!(refusal.code, Code::CursorExpired | Code::InvalidCursor) => {
                self.actor.pause(1, 1).await;
                true
            }
            Heard::Refused(refusal) => {
                let detail = format!("the events are refused: {refusal}");
                self.actor.complain("whoever follows the events can go on", detail);
                false
            }
            Heard::Nothing => {
                self.bookmark = bookmark;
                true
            }
        }
    }
}
