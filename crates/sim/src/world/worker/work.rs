//! What is done under a lease that is kept.

use ff_core::command::lease::{Renew, ReportUsage, UpdateProgress};
use ff_core::command::steps::ProgressNote;
use ff_core::command::stream::AppendFrame;
use ff_core::command::waitpoint::CreatePendingWaitpoint;
use ff_core::error::Code;
use ff_core::fabric::On;
use ff_core::frame::FrameMode;
use ff_core::id::WaitpointId;
use ff_core::limits::{FRAME_BYTES_MAX, REQUESTS_REMEMBERED_MAX};
use ff_core::payload::Payload;
use ff_core::time::Duration;

use super::{Held, Worker};
use crate::invariants::{Act, RECEIPTS, SentReport};
use crate::world::actor::{Heard, call, call_once};
use crate::world::board::Door;
use crate::world::names;

impl Worker {
    /// Does one thing; `false` when the lease turned out to be lost.
    pub(super) async fn go_on(&mut self, place: usize, held: &Held) -> bool {
        match self.actor.luck.below(18) {
            0..=4 => self.renew(held).await,
            5 => self.progress(held).await,
            6 | 7 => self.append(held).await,
            8 if self.actor.luck.one_in(8) => self.report_much(held).await,
            8 => self.usage(held).await,
            9 => self.hand_out_waitpoint(place, held).await,
            10 => {
                self.spawn_child(held).await;
                self.depend_on_child(held).await
            }
            11 => self.spawn_child(held).await,
            12..=15 => self.record_steps(held).await,
            16 => self.spawn_children(held).await,
            _ => self.depend_on_child(held).await,
        }
    }

    pub(super) async fn renew(&self, held: &Held) -> bool {
        let command = Renew {
            fence: self.shown(held),
            ttl: self
                .actor
                .luck
                .one_in(4)
                .then(|| Duration::from_secs(self.actor.luck.between(1, 20))),
            doing: Vec::new(),
        };
        let heard = call!(self.actor, renew, On::new(held.id, command)).await;
        if let Heard::Told(renewed) = &heard {
            self.told(held, Act::Renewed(renewed.expires_at));
        }
        keeps(&heard)
    }

    async fn progress(&self, held: &Held) -> bool {
        let command = UpdateProgress {
            fence: self.shown(held),
            progress: ProgressNote {
                pct: Some(u8::try_from(self.actor.luck.below(110)).unwrap_or(0)),
                message: None,
            },
        };
        let heard = call!(self.actor, update_progress, On::new(held.id, command)).await;
        self.used(held, &heard);
        keeps(&heard)
    }

    pub(super) fn frame(&self, held: &Held) -> AppendFrame {
        let luck = &self.actor.luck;
        let mode = match luck.below(4) {
            0 => FrameMode::Summary,
            1 => FrameMode::BestEffort {
                ttl: Duration::from_secs(luck.between(1, 30)),
            },
            _ => FrameMode::Durable,
        };
        let payload = match mode {
            FrameMode::Summary => Payload::json(&serde_json::json!({ "seen": luck.below(10) })),
            _ if luck.one_in(40) => Payload::binary(vec![0; FRAME_BYTES_MAX + 1]),
            _ => names::payload(luck),
        };
        AppendFrame {
            fence: self.shown(held),
            frame_type: names::frame_type("token"),
            payload,
            mode,
            correlation_id: None,
            request_id: Some(names::fresh_request(luck)),
        }
    }

    async fn append(&self, held: &Held) -> bool {
        let heard = call_once!(self.actor, append_frame, On::new(held.id, self.frame(held))).await;
        self.used(held, &heard);
        keeps(&heard)
    }

    pub(super) fn usage_report(&self, held: &Held) -> Option<ReportUsage> {
        let luck = &self.actor.luck;
        // One of the two tells a repetition.
        let dedup_key = luck.one_in(3).then(|| names::fresh_key(luck));
        let named = dedup_key.is_none() || !luck.one_in(4);
        let report = ReportUsage {
            fence: self.shown(held),
            budget_id: held.budget?,
            deltas: names::usage(luck, 16),
            dedup_key,
            request_id: named.then(|| names::fresh_request(luck)),
        };
        self.actor.stage.watch.reports(sent(held, &report));
        Some(report)
    }

    async fn usage(&self, held: &Held) -> bool {
        match self.usage_report(held) {
            Some(report) => self.report(held, report).await,
            None => true,
        }
    }

    async fn report(&self, held: &Held, report: ReportUsage) -> bool {
        let failovers = self.actor.stage.watch.failovers();
        let sent = sent(held, &report);
        let heard = call_once!(self.actor, report_usage, On::new(held.id, report)).await;
        self.used(held, &heard);
        if let Heard::Told(reported) = &heard {
            self.actor.reported(sent, reported, failovers);
        }
        keeps(&heard)
    }

    /// Reports more than anybody remembers by their requests, and then the first of them once more, as one does who has not
    /// heard of its answer and makes the call anew.
    pub(super) async fn report_much(&self, held: &Held) -> bool {
        let luck = &self.actor.luck;
        let Some(first) = self.usage_report(held) else {
            return true;
        };
        if !self.report(held, first.clone()).await {
            return false;
        }
        for _ in 0..REQUESTS_REMEMBERED_MAX + 1 {
            let Some(mut report) = self.usage_report(held) else {
                return true;
            };
            // Nothing is closed by so many.
            report.deltas.retain(|dimension, _| dimension.as_str() == RECEIPTS);
            if !keeps(&call!(self.actor, report_usage, On::new(held.id, report)).await) {
                return false;
            }
        }
        let mut again = first;
        if again.dedup_key.is_some() && luck.flip() {
            again.request_id = Some(names::fresh_request(luck));
        }
        self.report(held, again).await
    }

    async fn hand_out_waitpoint(&mut self, place: usize, held: &Held) -> bool {
        let luck = &self.actor.luck;
        let command = CreatePendingWaitpoint {
            fence: self.shown(held),
            waitpoint_key: names::waitpoint_key(luck.choose(["early", "early", "soon"])),
            expires_in: Duration::from_millis(luck.between(200, 30_000)),
            request_id: Some(names::fresh_request(luck)),
            waitpoint_id: luck.one_in(3).then(|| WaitpointId::from_uuid(luck.uuid())),
        };
        let heard = call_once!(self.actor, create_pending_waitpoint, On::new(held.id, command)).await;
        self.used(held, &heard);
        if let Heard::Told(issued) = &heard {
            self.tasks[place].pending.push(issued.waitpoint_id);
            let door = Door {
                execution_id: held.id,
                waitpoint_id: issued.waitpoint_id,
                token: issued.token.clone(),
            };
            self.actor.board.known().doors.push(door.clone());
            if self.actor.luck.one_in(3) {
                // Somebody is quick: the answer is there before anybody waits for it.
                self.actor.knock(door).await;
            }
        }
        keeps(&heard)
    }

    /// A worker was told that it did something under its lease.
    pub(super) fn used<T>(&self, held: &Held, heard: &Heard<T>) {
        if let Heard::Told(_) = heard {
            self.told(held, Act::Used);
        }
    }

    pub(super) fn told(&self, held: &Held, act: Act) {
        self.actor.stage.watch.told(held.id, held.fence, act, None);
    }
}

fn sent(held: &Held, report: &ReportUsage) -> SentReport {
    SentReport {
        receipt: names::receipt(&report.deltas),
        budget_id: report.budget_id,
        by: Some(held.id),
        keyed: report.dedup_key.is_some(),
    }
}

/// Whether a worker that heard this still believes to have its lease.
pub(super) fn keeps<T>(heard: &Heard<T>) -> bool {
    !matches!(heard, Heard::Refused(rejection) if is_lost(rejection.code))
}

/// Whether a refusal says that the lease is over.
pub(super) const fn is_lost(code: Code) -> bool {
    matches!(
        code,
        Code::StaleLease
            | Code::LeaseExpired
            | Code::LeaseRevoked
            | Code::ExecutionNotActive
            | Code::ExecutionNotFound
            | Code::StaleOwnerCannotAppend
            | Code::StreamClosed
    )
}
