//! Signals, a person's decisions, and whatever else ends a suspension.

use ff_core::command::page::PageRequest;
use ff_core::command::signal::{Decide, DeliverSignal, ListApprovals, ResumeExecution, SendSignal};
use ff_core::command::waitpoint::ReadWaitpointToken;
use ff_core::fabric::On;
use ff_core::id::SignalId;

use crate::invariants::reason_of;
use crate::world::actor::{Actor, call, call_once};
use crate::world::board::{Door, OperatorRequest};
use crate::world::names;

impl Actor {
    pub(super) async fn signal(&self) {
        let Some(door) = self.door() else { return };
        let execution_id = door.execution_id;
        self.knock(door).await;
        if self.luck.one_in(4) {
            let page = PageRequest::default();
            call!(self, list_signals, On::new(execution_id, page)).await;
        }
    }

    /// Sends a signal to this place.
    pub(in crate::world) async fn knock(&self, door: Door) {
        // One of the two tells a repetition.
        let idempotency_key = self.luck.one_in(3).then(|| names::fresh_key(&self.luck));
        let named = idempotency_key.is_none() || self.luck.flip();
        let command = SendSignal {
            waitpoint_token: door.token,
            signal: DeliverSignal {
                waitpoint_id: door.waitpoint_id,
                signal_id: named.then(|| SignalId::from_uuid(self.luck.uuid())),
                signal_name: names::signal_name(self.luck.choose(["go", "go", "go", "other"])),
                category: "callback".to_owned(),
                source_type: "webhook".to_owned(),
                source_identity: names::identity(self.luck.choose(["alice", "bob"])),
                payload: names::payload(&self.luck),
                idempotency_key,
                correlation_id: None,
            },
        };
        call_once!(self, deliver_signal, On::new(door.execution_id, command)).await;
    }

    pub(super) async fn decide(&self) {
        let request = ListApprovals {
            namespace: self.luck.flip().then(|| names::some_namespace(&self.luck)),
            ..ListApprovals::default()
        };
        let approvals = call!(self, approvals, request)
            .await
            .told()
            .map(|page| page.items)
            .unwrap_or_default();
        let waiting = self.luck.pick(&approvals);
        let place = waiting.and_then(|approval| Some((approval.execution_id, approval.waitpoints.first()?.id)));
        let place = place.or_else(|| self.door().map(|door| (door.execution_id, door.waitpoint_id)));
        let Some((execution_id, waitpoint_id)) = place else {
            return;
        };
        let command = Decide {
            waitpoint_id,
            payload: names::payload(&self.luck),
            idempotency_key: Some(names::fresh_key(&self.luck)),
        };
        if self.luck.flip() {
            call_once!(self, approve, On::new(execution_id, command)).await;
        } else {
            call_once!(self, reject, On::new(execution_id, command)).await;
        }
    }

    pub(super) async fn resume(&self) {
        let suspended = self.stage.watch.suspended_executions();
        let suspended = self.luck.pick(&suspended).copied().filter(|_| self.luck.flip());
        let Some(id) = suspended.or_else(|| Some(self.door()?.execution_id)) else {
            return;
        };
        let request_id = names::fresh_request(&self.luck);
        let command = ResumeExecution {
            reason: Some(reason_of(request_id.as_str())),
            request_id: Some(request_id),
        };
        let heard = call_once!(self, resume_execution, On::new(id, command.clone())).await;
        if heard.told().is_some() {
            self.board.known().requests.push((id, OperatorRequest::Resume(command)));
        }
    }

    pub(super) async fn read_token(&self) {
        let Some(door) = self.door() else { return };
        let open = call!(self, list_pending_waitpoints, door.execution_id)
            .await
            .told()
            .unwrap_or_default();
        let waitpoint_id = self
            .luck
            .pick(&open)
            .map_or(door.waitpoint_id, |open| open.waitpoint_id);
        let request = On::new(door.execution_id, ReadWaitpointToken { waitpoint_id });
        if let Some(token) = call!(self, read_waitpoint_token, request).await.told() {
            self.board.known().doors.push(Door {
                execution_id: door.execution_id,
                waitpoint_id,
                token: token.waitpoint_token,
            });
        }
    }

    /// A place somebody was told of, mostly a recent one.
    fn door(&self) -> Option<Door> {
        let known = self.board.known();
        let recent = known.doors.len().saturating_sub(6);
        let doors = if self.luck.one_in(6) {
            &known.doors[..]
        } else {
            &known.doors[recent..]
        };
        self.luck.pick(doors).cloned()
    }
}
