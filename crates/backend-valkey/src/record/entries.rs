//! The index entries of a record: a pure function of its facts.

use ff_backend::codec::key::name;
use ff_backend::codec::{cause, state};
use ff_core::machine::placement::{Placement, QueueKey, due_at, placement};
use ff_core::record::{Edge, EdgeState, Execution, Flow, Record, Signal};
use ff_core::state::{PublicState, public_state};
use ff_core::time::Timestamp;

use super::score::score_text;
use crate::keys::{FLOWS, INDEX, in_state, lane, step_place, tag};

/// Where a record belongs.
pub(crate) struct Entries {
    /// The state that stands on it in plain text.
    pub(crate) state: &'static str,
    /// The lane it is counted in; only executions are.
    pub(crate) lane: String,
    /// When it needs attention.
    pub(crate) due: String,
    /// The sorted sets it is listed in, one line each: `set score` or `set score member`.
    pub(crate) listed: String,
    /// The queue it waits in, or the cause it waits for.
    pub(crate) waiting: Option<WaitingEntry>,
}

/// An entry that competes with others for what comes free.
pub(crate) enum WaitingEntry {
    /// In a queue, with its score.
    Queue(QueueKey, String),
    /// Blocked by a cause, with its score.
    Blocked(String, String),
}

impl Entries {
    pub(crate) fn of(record: &Record) -> Self {
        let due = due_at(record).map_or_else(String::new, millis);
        let mut entries = Self {
            state: "",
            lane: String::new(),
            due,
            listed: String::new(),
            waiting: None,
        };
        match record {
            Record::Execution(execution) => entries.execution(execution),
            Record::Flow(flow) => entries.flow(flow),
            Record::Gate(gate) => {
                entries.state = state::gate_word(gate.state);
                entries.own(record);
            }
            Record::Edge(edge) => entries.edge(edge),
            Record::Attempt(..) | Record::Waitpoint(_) => entries.own(record),
            Record::Signal(signal) => {
                entries.own(record);
                entries.buffered(signal);
            }
            Record::Step(step) => {
                entries.own(record);
                let place = step_place(step.execution_id, step.seq);
                entries.line(INDEX, "0", Some(&format!("{place}:{}", step.key)));
            }
            Record::SignalKey(_) | Record::SubmissionKey(_) => {}
        }
        entries
    }

    fn execution(&mut self, execution: &Execution) {
        let definition = &execution.definition;
        let (created, uuid) = (millis(definition.created_at), execution.id.uuid());
        let state = public_state(execution);
        self.state = state.as_str();
        self.lane = lane(&definition.namespace, &definition.lane);
        // All executions are listed by their creation, and those that have not ended once more; the store sees to that.
        if state.is_terminal() && state != PublicState::Completed {
            self.line(&in_state(state), &created, None);
        }
        for (key, value) in &*execution.tags {
            self.line(&tag(key, value), &created, None);
        }
        if let Some(flow_id) = definition.flow {
            self.line(INDEX, "0", Some(&format!("member:{flow_id}:{uuid}")));
            if !state.is_terminal() {
                self.line(INDEX, "0", Some(&format!("open_member:{flow_id}:{uuid}")));
            }
        }
        self.waiting = match placement(execution) {
            Placement::Eligible { queue, score } => Some(WaitingEntry::Queue(queue, score_text(&score))),
            Placement::Blocked { cause: by, score } => Some(WaitingEntry::Blocked(cause::text(by), score_text(&score))),
            Placement::Leased { budgets } => {
                for budget_id in budgets {
                    self.line(INDEX, "0", Some(&format!("leased:{budget_id}:{uuid}")));
                }
                None
            }
            Placement::Nowhere => None,
        };
    }

    fn flow(&mut self, flow: &Flow) {
        let created = millis(flow.created_at);
        self.line(FLOWS, &created, None);
        for (key, value) in &*flow.tags {
            self.line(&tag(key, value), &created, None);
        }
    }

    fn edge(&mut self, edge: &Edge) {
        let (id, up, down) = (edge.id, edge.upstream.uuid(), edge.downstream.uuid());
        self.line(INDEX, "0", Some(&format!("edge_from:{up}:{id}")));
        self.line(INDEX, "0", Some(&format!("edge_into:{down}:{id}")));
        if edge.state == EdgeState::Unresolved {
            self.line(INDEX, "0", Some(&format!("unresolved_from:{up}:{id}")));
        }
    }

    /// Listed under the waitpoint it arrived at while that was pending.
    fn buffered(&mut self, signal: &Signal) {
        if let Some(waitpoint_id) = signal.waiting_at() {
            let (execution, id) = (signal.execution_id.uuid(), signal.id);
            self.line(INDEX, "0", Some(&format!("buffered:{execution}:{waitpoint_id}:{id}")));
        }
    }

    /// Listed under its own name.
    fn own(&mut self, record: &Record) {
        let own = name(&record.key());
        self.line(INDEX, "0", Some(&own));
    }

    fn line(&mut self, set: &str, score: &str, member: Option<&str>) {
        if !self.listed.is_empty() {
            self.listed.push('\n');
        }
        let words = [Some(set), Some(score), member];
        for (n, word) in words.into_iter().flatten().enumerate() {
            if n > 0 {
                self.listed.push(' ');
            }
            self.listed.push_str(word);
        }
    }
}

fn millis(at: Timestamp) -> String {
    at.as_millis().to_string()
}
