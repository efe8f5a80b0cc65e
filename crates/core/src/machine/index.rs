//! In which lists a record stands: a pure function of its facts, computed once above the stores, so that none of them can drift.
//!
//! A list has a name and keeps its records in an order; both are text, so that every store sorts them alike. They are part of
//! what is stored: a change of either is a change of the stored form.
//!
//! Some lists every record of a kind passes through, and a store finds them in what it keeps anyway ([`native_entries`]): they
//! cost nothing to write. The others are entered and left one by one ([`entries`]).

use std::fmt::{self, Write as _};

use std::cmp::Reverse;

use uuid::Uuid;

use super::approval::approval;
use super::placement::{Placement, QueueKey, Score, placement};
use crate::id::{BudgetId, ExecutionId, FlowId, WaitpointId};
use crate::ledger::AccountKey;
use crate::name::Namespace;
use crate::partition::{Partition, PartitionCounts};
use crate::record::{Edge, EdgeState, Execution, Flow, Record, Signal};
use crate::state::{PublicState, public_state};
use crate::time::Timestamp;

/// A list of records.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Index {
    /// Executions of a tenant or of all, newest first.
    Age(Option<Namespace>),
    /// Executions that may be handed out, best first.
    Queue(QueueKey),
    /// Ended attempts of an execution that another one followed, by index.
    Attempts(ExecutionId),
    /// Waitpoints of an execution, by id.
    Waitpoints(ExecutionId),
    /// Signals of an execution, by id.
    Signals(ExecutionId),
    /// Executions of a tenant in a state, newest first. Not those that wait for a worker, run or have completed: they are many, short
    /// work passes through them, and a store that hands work out has no list to leave.
    State(Namespace, PublicState),
    /// Executions of a tenant with a tag, newest first.
    Tag(Namespace, String, String),
    /// Executions of a tenant whose lease was renewed, newest first: what runs for longer than a moment.
    Running(Namespace),
    /// Executions that wait for a person, of a tenant or of all: what was escalated first, then what has waited longest.
    Person(Option<Namespace>),
    /// Executions of a tenant that an operator holds, newest first.
    Held(Namespace),
    /// Executions that an account refused, best first.
    Blocked(AccountKey),
    /// Leased executions that count against a budget, by id.
    LeasedUnder(BudgetId),
    /// Members of a flow, newest first.
    Members(FlowId),
    /// Members of a flow that have not ended, newest first.
    OpenMembers(FlowId),
    /// Edges out of an execution, by id.
    EdgesFrom(ExecutionId),
    /// Edges out of an execution that its end has not been carried over yet, by id.
    UnresolvedFrom(ExecutionId),
    /// Edges into an execution, by id.
    EdgesInto(ExecutionId),
    /// Signals that arrived at a waitpoint while it was pending, by id.
    Buffered(ExecutionId, WaitpointId),
    /// Flows, newest first.
    Flows,
    /// Flows of a tenant with a tag, newest first.
    FlowTag(Namespace, String, String),
}

/// Where a record stands in a list: smaller comes first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Order(String);

/// A list that a record stands in, and where.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// Which list.
    pub index: Index,
    /// Where in it.
    pub order: Order,
}

impl Index {
    /// The list of a tenant's executions in a state, if that state has one.
    pub fn of_state(namespace: &Namespace, state: PublicState) -> Option<Self> {
        let is_passed_through = matches!(
            state,
            PublicState::Waiting | PublicState::Resumable | PublicState::Active | PublicState::Completed
        );
        (!is_passed_through).then(|| Index::State(namespace.clone(), state))
    }

    /// Whether a store finds this list in what it keeps anyway: [`native_entries`] are of these, [`entries`] of the others.
    pub const fn is_native(&self) -> bool {
        matches!(
            self,
            Index::Age(_) | Index::Queue(_) | Index::Attempts(_) | Index::Waitpoints(_) | Index::Signals(_)
        )
    }

    /// Whether it is of what belongs to one thing. Whoever believed such a list to be whole would forget what is missing in it, so
    /// a record that cannot be read is not left out of it.
    pub const fn must_be_whole(&self) -> bool {
        match self {
            Index::Attempts(_)
            | Index::Waitpoints(_)
            | Index::Signals(_)
            | Index::Members(_)
            | Index::OpenMembers(_)
            | Index::EdgesFrom(_)
            | Index::UnresolvedFrom(_)
            | Index::EdgesInto(_)
            | Index::Buffered(..) => true,
            Index::Age(_)
            | Index::Queue(_)
            | Index::State(..)
            | Index::Tag(..)
            | Index::Running(_)
            | Index::Person(_)
            | Index::Held(_)
            | Index::Blocked(_)
            | Index::LeasedUnder(_)
            | Index::Flows
            | Index::FlowTag(..) => false,
        }
    }

    /// The one partition all of it is in, if it is of one.
    pub fn partition(&self, counts: PartitionCounts) -> Option<Partition> {
        match self {
            Index::Attempts(id)
            | Index::Waitpoints(id)
            | Index::Signals(id)
            | Index::EdgesFrom(id)
            | Index::UnresolvedFrom(id)
            | Index::EdgesInto(id)
            | Index::Buffered(id, _) => Some(id.partition()),
            Index::Members(flow_id) | Index::OpenMembers(flow_id) => Some(counts.of_flow(*flow_id)),
            _ => None,
        }
    }
}

/// The lists that a record stands in by what a store keeps anyway.
pub fn native_entries(record: &Record) -> Vec<Entry> {
    let entry = |index, order| Entry { index, order };
    match record {
        Record::Execution(execution) => {
            let mut entries = vec![
                entry(Index::Age(None), newest(execution)),
                entry(
                    Index::Age(Some(execution.definition.namespace.clone())),
                    newest(execution),
                ),
            ];
            if let Placement::Eligible { queue, score } = placement(execution) {
                entries.push(entry(Index::Queue(queue), Order::best(&score)));
            }
            entries
        }
        Record::Attempt(id, attempt) => vec![entry(Index::Attempts(*id), Order::index(attempt.index))],
        Record::Waitpoint(waitpoint) => vec![entry(
            Index::Waitpoints(waitpoint.execution_id),
            Order::first(waitpoint.id.uuid()),
        )],
        Record::Signal(signal) => vec![entry(
            Index::Signals(signal.execution_id),
            Order::first(signal.id.uuid()),
        )],
        _ => Vec::new(),
    }
}

/// The lists that a record stands in besides, each once.
pub fn entries(record: &Record) -> Vec<Entry> {
    let mut entries = Vec::new();
    match record {
        Record::Execution(execution) => of_execution(execution, &mut entries),
        Record::Flow(flow) => of_flow(flow, &mut entries),
        Record::Edge(edge) => of_edge(edge, &mut entries),
        Record::Signal(signal) => of_signal(signal, &mut entries),
        _ => {}
    }
    entries
}

fn of_execution(execution: &Execution, entries: &mut Vec<Entry>) {
    let (definition, id) = (&execution.definition, execution.id);
    let namespace = || definition.namespace.clone();
    let newest = || newest(execution);
    let mut add = |index, order| entries.push(Entry { index, order });
    let state = public_state(execution);
    if let Some(index) = Index::of_state(&definition.namespace, state) {
        add(index, newest());
    }
    for (key, value) in &*execution.tags {
        add(Index::Tag(namespace(), key.clone(), value.clone()), newest());
    }
    if execution.lease().is_some_and(|lease| lease.is_renewed()) {
        add(Index::Running(namespace()), newest());
    }
    if let Some(approval) = approval(execution) {
        let (is_later, since, id) = approval.order();
        let order = || Order::number(u64::from(is_later)).then_at(since).then_id(id);
        add(Index::Person(None), order());
        add(Index::Person(Some(namespace())), order());
    }
    if execution.hold.is_some() && !execution.is_terminal() {
        add(Index::Held(namespace()), newest());
    }
    if let Some(flow_id) = definition.flow {
        add(Index::Members(flow_id), newest());
        if !state.is_terminal() {
            add(Index::OpenMembers(flow_id), newest());
        }
    }
    match placement(execution) {
        Placement::Blocked { cause, score } => {
            add(Index::Blocked(cause), Order::best(&score));
        }
        Placement::Leased { budgets } => {
            for budget_id in budgets {
                add(Index::LeasedUnder(budget_id), Order::default().then_id(id));
            }
        }
        Placement::Eligible { .. } | Placement::Nowhere => {}
    }
}

fn newest(execution: &Execution) -> Order {
    Order::newest(execution.definition.created_at).then_newest(execution.id)
}

fn of_flow(flow: &Flow, entries: &mut Vec<Entry>) {
    let newest = || Order::newest(flow.created_at).then_last(flow.id.uuid());
    entries.push(Entry {
        index: Index::Flows,
        order: newest(),
    });
    for (key, value) in &*flow.tags {
        entries.push(Entry {
            index: Index::FlowTag(flow.namespace.clone(), key.clone(), value.clone()),
            order: newest(),
        });
    }
}

fn of_edge(edge: &Edge, entries: &mut Vec<Entry>) {
    let is_open = edge.state == EdgeState::Unresolved;
    let lists = [
        Some(Index::EdgesFrom(edge.upstream)),
        Some(Index::EdgesInto(edge.downstream)),
        is_open.then_some(Index::UnresolvedFrom(edge.upstream)),
    ];
    let order = || Order::first(edge.id.uuid());
    let entry = |index| Entry { index, order: order() };
    entries.extend(lists.into_iter().flatten().map(entry));
}

fn of_signal(signal: &Signal, entries: &mut Vec<Entry>) {
    let waiting_at = signal.waiting_at();
    entries.extend(waiting_at.map(|waitpoint_id| Entry {
        index: Index::Buffered(signal.execution_id, waitpoint_id),
        order: Order::first(signal.id.uuid()),
    }));
}

impl Default for Order {
    fn default() -> Self {
        Self(String::with_capacity(64))
    }
}

/// Every part has a width of its own, so that texts compare as their parts do. A shorter text is a bound: it comes before all that
/// begin with it.
impl Order {
    /// As it was stored, or as a cursor has it; `None` for what no record has.
    pub fn parse(text: &str) -> Option<Self> {
        let is_hex = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        (is_hex && text.len() <= WIDTH_MAX).then(|| Self(text.to_owned()))
    }

    /// As it is stored.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What comes first in a list whose newest come first, of what was created at that moment.
    pub fn newest(created_at: Timestamp) -> Self {
        Self::default().then(format_args!("{:016x}", u64::MAX - created_at.as_millis()))
    }

    /// Of something that waits for a worker or an account.
    pub fn best(score: &Score) -> Self {
        Self::number(u64::from(u16::MAX - score.priority.0))
            .then_at(score.created_at)
            .then_id(score.id)
    }

    /// Of something that is listed by its id.
    pub fn first(uuid: Uuid) -> Self {
        Self::default().then_first(uuid)
    }

    /// Of an attempt.
    pub fn index(index: u32) -> Self {
        Self::default().then(format_args!("{index:08x}"))
    }

    /// What an order of [`Order::best`] says; of a bound, what comes first after it.
    pub fn as_score(&self) -> Option<Score> {
        let mut parts = Parts(&self.0);
        let priority = u16::MAX - parts.number::<u16>(4)?;
        let created_at = Timestamp::from_millis(parts.number(16)?);
        let uuid = Uuid::from_u64_pair(parts.number(16)?, parts.number(16)?);
        let partition = parts.number(4)?;
        parts.end()?;
        Some(Score {
            priority: Reverse(priority),
            created_at,
            id: ExecutionId::new(partition, uuid),
        })
    }

    /// The creation and the id that an order of the newest says; of a bound, what comes first after it.
    pub fn as_newest(&self) -> Option<(Timestamp, ExecutionId)> {
        let mut parts = Parts(&self.0);
        let created_at = Timestamp::from_millis(u64::MAX - parts.number::<u64>(16)?);
        let uuid = Uuid::from_u64_pair(!parts.number::<u64>(16)?, !parts.number::<u64>(16)?);
        let partition = u16::MAX - parts.number::<u16>(4)?;
        parts.end()?;
        Some((created_at, ExecutionId::new(partition, uuid)))
    }

    /// The id that an order of [`Order::first`] says; of a bound, what comes first after it.
    pub fn as_uuid(&self) -> Option<Uuid> {
        let mut parts = Parts(&self.0);
        let uuid = Uuid::from_u64_pair(parts.number(16)?, parts.number(16)?);
        parts.end()?;
        Some(uuid)
    }

    /// The number that an order of [`Order::index`] says; of a bound, what comes first after it.
    pub fn as_index(&self) -> Option<u32> {
        let mut parts = Parts(&self.0);
        let index = parts.number(8)?;
        parts.end()?;
        Some(index)
    }

    fn number(number: u64) -> Self {
        Self::default().then(format_args!("{number:04x}"))
    }

    fn then_at(self, at: Timestamp) -> Self {
        self.then(format_args!("{:016x}", at.as_millis()))
    }

    fn then_id(self, id: ExecutionId) -> Self {
        self.then_first(id.uuid())
            .then(format_args!("{:04x}", id.partition().index))
    }

    /// Of this execution, among those created at the moment of [`Order::newest`].
    pub fn then_newest(self, id: ExecutionId) -> Self {
        let partition = u16::MAX - id.partition().index;
        self.then_last(id.uuid()).then(format_args!("{partition:04x}"))
    }

    fn then_first(self, uuid: Uuid) -> Self {
        self.then(format_args!("{:032x}", uuid.as_u128()))
    }

    fn then_last(self, uuid: Uuid) -> Self {
        self.then(format_args!("{:032x}", !uuid.as_u128()))
    }

    fn then(mut self, part: fmt::Arguments<'_>) -> Self {
        // Writing to a text cannot fail.
        let _ = self.0.write_fmt(part);
        self
    }
}

/// Bytes of the longest order.
const WIDTH_MAX: usize = 4 + 16 + 32 + 4;

/// The rest of an order. What a bound leaves out is zero.
struct Parts<'t>(&'t str);

impl Parts<'_> {
    fn number<N: TryFrom<u64>>(&mut self, width: usize) -> Option<N> {
        let (digits, rest) = self.0.split_at_checked(width.min(self.0.len()))?;
        self.0 = rest;
        let number = u64::from_str_radix(&format!("{digits:0<width$}"), 16).ok()?;
        N::try_from(number).ok()
    }

    fn end(self) -> Option<()> {
        self.0.is_empty().then_some(())
    }
}

/// As stores write it: no two lists are written the same way, and there is no white space in it.
impl fmt::Display for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tag = |f: &mut fmt::Formatter<'_>, kind, namespace: &Namespace, key, value| {
            write!(
                f,
                "{kind}:{}:{}:{}",
                Plain(namespace.as_str()),
                Plain(key),
                Plain(value)
            )
        };
        match self {
            Index::Age(None) => f.write_str("age"),
            Index::Age(Some(namespace)) => write!(f, "age:{}", Plain(namespace.as_str())),
            Index::Queue(queue) => write!(
                f,
                "queue:{}:{}:{}",
                Plain(queue.namespace.as_str()),
                Plain(queue.lane.as_str()),
                Plain(&serde_json::to_string(&queue.signature).map_err(|_| fmt::Error)?)
            ),
            Index::Attempts(id) => write!(f, "attempts:{id}"),
            Index::Waitpoints(id) => write!(f, "waitpoints:{id}"),
            Index::Signals(id) => write!(f, "signals:{id}"),
            Index::State(namespace, state) => write!(f, "state:{}:{}", Plain(namespace.as_str()), state.as_str()),
            Index::Tag(namespace, key, value) => tag(f, "tag", namespace, key, value),
            Index::Running(namespace) => write!(f, "running:{}", Plain(namespace.as_str())),
            Index::Person(None) => f.write_str("person"),
            Index::Person(Some(namespace)) => write!(f, "person:{}", Plain(namespace.as_str())),
            Index::Held(namespace) => write!(f, "held:{}", Plain(namespace.as_str())),
            Index::Blocked(account) => write!(f, "blocked:{account}"),
            Index::LeasedUnder(budget_id) => write!(f, "leased_under:{budget_id}"),
            Index::Members(flow_id) => write!(f, "members:{flow_id}"),
            Index::OpenMembers(flow_id) => write!(f, "open_members:{flow_id}"),
            Index::EdgesFrom(id) => write!(f, "edges_from:{id}"),
            Index::UnresolvedFrom(id) => write!(f, "unresolved_from:{id}"),
            Index::EdgesInto(id) => write!(f, "edges_into:{id}"),
            Index::Buffered(id, waitpoint_id) => write!(f, "buffered:{id}:{waitpoint_id}"),
            Index::Flows => f.write_str("flows"),
            Index::FlowTag(namespace, key, value) => tag(f, "flow_tag", namespace, key, value),
        }
    }
}

/// A text without the characters that separate others.
struct Plain<'t>(&'t str);

impl fmt::Display for Plain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in self.0.chars() {
            match character {
                '%' | ':' => write!(f, "%{:02x}", u32::from(character))?,
                _ if character.is_whitespace() || character.is_control() => write!(f, "%{:x};", u32::from(character))?,
                _ => f.write_char(character)?,
            }
        }
        Ok(())
    }
}
