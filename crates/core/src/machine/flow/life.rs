//! A flow's own operations: create_flow, opening, cancel_flow, set_tags, delete_flow.

use std::sync::Arc;

use super::Loaded;
use crate::command::flow::{Assembly, CancelFlow, CancelProgress, CreateFlow, FlowCancelled, FlowCreated, Opened};
use crate::command::operator::{Changed, SetTags};
use crate::digest::Digest;
use crate::error::{Code, Rejection};
use crate::id::FlowId;
use crate::limits::{CANCEL_WAIT_MAX, RETENTION_DEFAULT};
use crate::machine::context::Context;
use crate::machine::decided::{Decided, Draft, Write};
use crate::machine::lease::check_text;
use crate::machine::submit::{check_not_ours, check_tags};
use crate::policy::Retention;
use crate::record::{
    CancelFlowPolicy, Flow, FlowCancellation, Gate, GateState, Happening, HistoryLine, HistorySubject, Record,
    RecordKey,
};
use crate::time::Timestamp;

impl Loaded<'_> {
    /// The time of a decision about the flow: the store's, but never before the record was last written.
    pub(crate) fn now(&self, context: &Context) -> Timestamp {
        context.now.max(self.flow.updated_at)
    }

    /// Refuses a flow whose retention is over.
    pub(crate) fn check_there(&self) -> Result<(), Rejection> {
        if self.flow.deleting {
            return Err(Code::FlowNotFound.because(format!("flow {} does not exist", self.flow.id)));
        }
        Ok(())
    }

    /// Whether somebody's work would be lost with it: an open member, or one that ran before an unopened flow got it.
    pub(crate) const fn is_in_use(&self) -> bool {
        match self.gate {
            GateState::Assembling => self.flow.in_use,
            GateState::Open | GateState::Sealed | GateState::Cancelled => self.counts.open > 0,
        }
    }

    /// Refuses a flow that takes no more members and edges.
    pub(crate) fn check_takes_members(&self) -> Result<(), Rejection> {
        self.check_there()?;
        if self.gate.takes_members() {
            return Ok(());
        }
        let how = if self.gate == GateState::Sealed {
            "sealed"
        } else {
            "cancelled"
        };
        Err(Code::FlowAlreadyTerminal.because(format!("flow {} is {how}", self.flow.id)))
    }
}

/// nothing → open, or assembling. The same id with the same definition is answered as it was the first time.
pub fn create(
    existing: Option<&Flow>,
    id: FlowId,
    command: &CreateFlow,
    context: &Context,
) -> Result<Decided<FlowCreated>, Rejection> {
    check_tags(&command.tags)?;
    let content_digest = content_digest(command);
    if let Some(existing) = existing {
        if existing.content_digest == content_digest && !existing.deleting {
            return Ok(Decided::unchanged(FlowCreated::Exists));
        }
        return Err(Code::AlreadyExists.because(format!("flow {id} exists with another definition")));
    }
    check_not_ours("flow_kind", command.flow_kind.as_str())?;
    Ok(create_own(id, command, context))
}

/// The same for a flow of the engine's own, under an id that nobody has used.
pub(crate) fn create_own(id: FlowId, command: &CreateFlow, context: &Context) -> Decided<FlowCreated> {
    let flow = new_flow(command, id, content_digest(command), context.now);
    let state = match command.assembly {
        Assembly::Open => GateState::Open,
        Assembly::Assembling => GateState::Assembling,
    };
    let mut draft = Draft::default();
    draft
        .history
        .push(flow_line(&flow, context, Happening::FlowCreated, None));
    draft.create(Gate { flow_id: id, state });
    draft.create(flow);
    Decided {
        outcome: FlowCreated::Created,
        draft,
    }
}

/// A flow that is let go in the moment it is created, with the lines of its history that say so.
pub(crate) fn create_opened(
    id: FlowId,
    command: &CreateFlow,
    context: &Context,
) -> Result<(Flow, [HistoryLine; 2]), Rejection> {
    check_tags(&command.tags)?;
    check_not_ours("flow_kind", command.flow_kind.as_str())?;
    let mut flow = new_flow(command, id, content_digest(command), context.now);
    let created = flow_line(&flow, context, Happening::FlowCreated, None);
    flow.opened_at = Some(context.now);
    let opened = flow_line(&flow, context, Happening::FlowOpened, None);
    Ok((flow, [created, opened]))
}

fn content_digest(command: &CreateFlow) -> String {
    let said = serde_json::json!({
        "namespace": command.namespace,
        "flow_kind": command.flow_kind,
        "tags": command.tags,
        "retention_ms": command.retention,
        "assembling": command.assembly == Assembly::Assembling,
    });
    Digest::of("flow", [said.to_string()]).to_string()
}

fn new_flow(command: &CreateFlow, id: FlowId, content_digest: String, now: Timestamp) -> Flow {
    Flow {
        id,
        namespace: command.namespace.clone(),
        kind: command.flow_kind.clone(),
        tags: Arc::new(command.tags.clone()),
        content_digest,
        created_at: now,
        opened_at: (command.assembly == Assembly::Open).then_some(now),
        updated_at: now,
        graph_revision: 0,
        retention: command.retention.unwrap_or(Retention::For(RETENTION_DEFAULT)),
        cancellation: None,
        populated: false,
        in_use: false,
        ended_at: None,
        opening: false,
        cancelling: false,
        delete_requested: false,
        deleting: false,
        carried: Default::default(),
    }
}

/// assembling → open. The members are let go in follow-up work.
pub fn open(loaded: Loaded<'_>, context: &Context) -> Result<Decided<Opened>, Rejection> {
    loaded.check_takes_members()?;
    if loaded.gate == GateState::Open {
        return Ok(Decided::unchanged(Opened::Already));
    }
    let mut flow = loaded.flow.clone();
    let now = loaded.now(context);
    flow.opened_at = Some(now);
    flow.opening = true;
    flow.updated_at = now;
    let mut draft = Draft::default();
    draft
        .history
        .push(flow_line(&flow, context, Happening::FlowOpened, None));
    draft.put(Gate {
        flow_id: flow.id,
        state: GateState::Open,
    });
    draft.put(flow);
    Ok(Decided {
        outcome: Opened::Now,
        draft,
    })
}

/// assembling, open → cancelled, or sealed for `flow_only`. The gate closes now, members follow in follow-up work.
///
/// A flow that is sealed before it was opened lets its members go: its graph is as whole as it will ever be.
pub fn cancel(
    loaded: Loaded<'_>,
    command: &CancelFlow,
    context: &Context,
) -> Result<Decided<FlowCancelled>, Rejection> {
    check_text("reason", &command.reason)?;
    if command.wait > CANCEL_WAIT_MAX {
        let wait = command.wait;
        return Err(Code::InvalidInput.because(format!("a cancellation waits at most {CANCEL_WAIT_MAX}, not {wait}")));
    }
    loaded.check_there()?;
    if let Some(first) = &loaded.flow.cancellation {
        return Ok(Decided::unchanged(outcome_of(first)));
    }
    if loaded.counts.open == 0 {
        return Err(Code::FlowAlreadyTerminal.because(format!("flow {} has no open member", loaded.flow.id)));
    }
    let seals = command.policy == CancelFlowPolicy::FlowOnly;
    let mut flow = loaded.flow.clone();
    let now = loaded.now(context);
    let cancellation = FlowCancellation {
        policy: command.policy,
        reason: command.reason.clone(),
        at: now,
        member_count: loaded.counts.members,
    };
    let outcome = outcome_of(&cancellation);
    flow.cancellation = Some(cancellation);
    flow.cancelling = !seals;
    flow.opening = seals && (flow.opening || loaded.gate == GateState::Assembling);
    flow.opened_at = flow.opened_at.or(seals.then_some(now));
    flow.updated_at = now;
    let state = if seals { GateState::Sealed } else { GateState::Cancelled };
    let mut draft = Draft::default();
    let detail = Some(command.reason.clone());
    draft
        .history
        .push(flow_line(&flow, context, Happening::FlowCancelled, detail));
    draft.put(Gate {
        flow_id: flow.id,
        state,
    });
    draft.put(flow);
    Ok(Decided { outcome, draft })
}

fn outcome_of(cancellation: &FlowCancellation) -> FlowCancelled {
    FlowCancelled {
        progress: match cancellation.policy {
            CancelFlowPolicy::FlowOnly => CancelProgress::Cancelled,
            CancelFlowPolicy::CancelAll | CancelFlowPolicy::CancelPending => CancelProgress::Scheduled,
        },
        policy: cancellation.policy,
        reason: cancellation.reason.clone(),
        member_count: cancellation.member_count,
    }
}

/// Replaces the tags of a flow, in any state.
pub fn set_tags(loaded: Loaded<'_>, command: &SetTags, context: &Context) -> Result<Decided<Changed>, Rejection> {
    check_tags(&command.tags)?;
    loaded.check_there()?;
    if *loaded.flow.tags == command.tags {
        return Ok(Decided::unchanged(Changed::Already));
    }
    let mut flow = loaded.flow.clone();
    flow.tags = Arc::new(command.tags.clone());
    flow.updated_at = loaded.now(context);
    let mut draft = Draft::default();
    draft
        .history
        .push(flow_line(&flow, context, Happening::TagsChanged, None));
    draft.put(flow);
    Ok(Decided {
        outcome: Changed::Now,
        draft,
    })
}

/// Ends a flow's retention. Its members must have ended, or never have run because it was never opened.
pub fn request_delete(loaded: Loaded<'_>, context: &Context) -> Result<Decided<Changed>, Rejection> {
    loaded.check_there()?;
    if loaded.is_in_use() {
        let (id, open) = (loaded.flow.id, loaded.counts.open);
        let detail = match loaded.gate {
            GateState::Assembling => {
                format!("flow {id} has members that ran before it was opened: open or cancel it first")
            }
            _ => format!("flow {id} has {open} open members: cancel it first"),
        };
        return Err(Code::ExecutionNotTerminal.because(detail));
    }
    if loaded.flow.delete_requested {
        return Ok(Decided::unchanged(Changed::Already));
    }
    let mut flow = loaded.flow.clone();
    flow.delete_requested = true;
    flow.updated_at = loaded.now(context);
    let mut draft = Draft::default();
    draft.put(flow);
    Ok(Decided {
        outcome: Changed::Now,
        draft,
    })
}

/// Takes the flow out of `draft` to change it further; as loaded when the draft does not write it yet.
pub(crate) fn take_flow(draft: &mut Draft, loaded: &Flow) -> Flow {
    let key = RecordKey::Flow(loaded.id);
    let written = draft
        .writes
        .iter()
        .position(|write| matches!(write, Write::Put(record) if record.key() == key));
    match written.map(|position| draft.writes.remove(position)) {
        Some(Write::Put(Record::Flow(flow))) => *flow,
        _ => loaded.clone(),
    }
}

/// A line of a flow's history.
pub(crate) fn flow_line(flow: &Flow, context: &Context, what: Happening, detail: Option<String>) -> HistoryLine {
    HistoryLine {
        subject: HistorySubject::Flow(flow.id),
        namespace: flow.namespace.clone(),
        lane: None,
        flow_id: Some(flow.id),
        kind: flow.kind.as_str().to_owned(),
        at: context.now.max(flow.updated_at),
        what,
        actor: context.actor.clone(),
        attempt_index: None,
        lease_epoch: None,
        detail,
    }
}
