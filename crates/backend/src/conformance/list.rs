//! Listings of records: what is in them, in which order, and that cursors lose and repeat nothing.

use std::collections::BTreeSet;

use ff_core::command::lease::Complete;
use ff_core::command::operator::{CancelExecution, SetTags};
use ff_core::command::submit::CreateExecution;
use ff_core::id::{BudgetId, EdgeId, ExecutionId, FlowId, SignalId, WaitpointId};
use ff_core::machine::{lease, operator};
use ff_core::name::{ExecutionKind, FlowKind, LaneId, Namespace};
use ff_core::partition::{Family, Partition};
use ff_core::record::{Attempt, EdgeState, Execution, Flow, GateState, Record, RecordKey, Signal, Tags};
use ff_core::state::PublicState;
use ff_core::time::{Duration, Timestamp};

use super::build::{Store, edge, fence, signal, tagged, waitpoint};
use crate::query::{Cursor, ExecutionFilter, FeedStart, FlowFilter, Listing, Page, Query};
use crate::transaction::Transaction;

pub(super) async fn executions_are_listed_newest_first_over_all_partitions(store: &Store<'_>) {
    let mut submitted = in_every_partition(store, 30).await;
    submitted.reverse();
    let all = Listing::Executions(ExecutionFilter::default());
    assert_eq!(store.listed_ids(all.clone()).await, submitted);
    let rows = store.follow(&all, 1, Page::executions).await;
    let (execution, version) = &rows[0];
    assert_eq!(store.versioned(execution.id).await, (execution.clone(), *version));
}

pub(super) async fn everything_a_filter_names_must_hold(store: &Store<'_>) {
    let mut wanted = Vec::new();
    for n in 0..16_u32 {
        let yes = |bit: u32| n & (1 << bit) != 0;
        let mut command = store.command();
        if yes(0) {
            command.namespace = Namespace::parse("mine").expect("a namespace");
        }
        if yes(1) {
            command.lane_id = LaneId::parse("lane").expect("a lane");
        }
        if yes(2) {
            command.execution_kind = ExecutionKind::parse("kind").expect("a kind");
        }
        if yes(3) {
            command = tagged(command, ("team", "red"));
        }
        wanted.push(store.submit(command).await.id);
    }
    for n in 0..16_u32 {
        let yes = |bit: u32| n & (1 << bit) != 0;
        let filter = ExecutionFilter {
            namespace: yes(0).then(|| Namespace::parse("mine").expect("a namespace")),
            lane: yes(1).then(|| LaneId::parse("lane").expect("a lane")),
            kind: yes(2).then(|| ExecutionKind::parse("kind").expect("a kind")),
            tag: yes(3).then(|| ("team".to_owned(), "red".to_owned())),
            ..ExecutionFilter::default()
        };
        let matching = (0..16).filter(|m| m & n == n).map(|m| wanted[m as usize]);
        assert_eq!(
            as_set(store.listed_ids(Listing::Executions(filter)).await),
            matching.collect(),
            "filter {n:04b}"
        );
    }
}

pub(super) async fn executions_are_listed_by_their_state_as_it_is_now(store: &Store<'_>) {
    let waiting = store
        .submit(CreateExecution {
            priority: 0,
            ..store.command()
        })
        .await
        .id;
    let done = store
        .submit(CreateExecution {
            priority: 2,
            ..store.command()
        })
        .await
        .id;
    let running = store
        .submit(CreateExecution {
            priority: 1,
            ..store.command()
        })
        .await
        .id;
    let task = store.take().await;
    let complete = Complete {
        fence: Some(fence(&task)),
        result: None,
        ..Complete::default()
    };
    store
        .apply(done, |execution, context| {
            lease::complete(execution, &complete, context)
        })
        .await;
    store.take().await;
    for (state, id) in [
        (PublicState::Waiting, waiting),
        (PublicState::Active, running),
        (PublicState::Completed, done),
    ] {
        let filter = ExecutionFilter {
            state: Some(state),
            ..ExecutionFilter::default()
        };
        assert_eq!(store.listed_ids(Listing::Executions(filter)).await, [id], "{state}");
    }
    let filter = ExecutionFilter {
        state: Some(PublicState::Failed),
        ..ExecutionFilter::default()
    };
    assert_eq!(store.listed_ids(Listing::Executions(filter)).await, []);
}

pub(super) async fn executions_are_listed_by_the_tags_they_have_now(store: &Store<'_>) {
    let id = store.submit(tagged(store.command(), ("team", "red"))).await.id;
    let by = |value: &str| {
        let tag = Some(("team".to_owned(), value.to_owned()));
        Listing::Executions(ExecutionFilter {
            tag,
            ..ExecutionFilter::default()
        })
    };
    let tags = Tags::from([("team".to_owned(), "blue".to_owned())]);
    let command = SetTags { tags };
    store
        .apply(id, |execution, context| {
            operator::set_tags(execution, &command, context)
        })
        .await;
    assert_eq!(store.listed_ids(by("red")).await, []);
    assert_eq!(store.listed_ids(by("blue")).await, [id]);
    assert_eq!(store.listed_ids(by("bl")).await, []);
}

pub(super) async fn executions_are_listed_by_when_they_were_created(store: &Store<'_>) {
    let mut submitted = Vec::new();
    for _ in 0..6 {
        submitted.push(store.submit(store.command()).await);
        store.advance(Duration::from_secs(1)).await;
    }
    let moments: Vec<Timestamp> = submitted
        .iter()
        .map(|execution| execution.definition.created_at)
        .collect();
    let filter = ExecutionFilter {
        created_from: Some(moments[1]),
        created_before: Some(moments[4]),
        ..ExecutionFilter::default()
    };
    let wanted: Vec<ExecutionId> = submitted[1..4].iter().rev().map(|execution| execution.id).collect();
    assert_eq!(store.listed_ids(Listing::Executions(filter)).await, wanted);
}

pub(super) async fn members_are_listed_by_id_with_their_flow(store: &Store<'_>) {
    let [flow_id, other] = [store.flow(GateState::Open).await, store.flow(GateState::Open).await];
    let mut members = BTreeSet::new();
    for _ in 0..10 {
        members.insert(store.member(flow_id).await.id);
        store.member(other).await;
    }
    let all = Listing::Members {
        flow_id,
        open_only: false,
    };
    assert_eq!(store.listed_ids(all).await, members.iter().copied().collect::<Vec<_>>());
    let filter = ExecutionFilter {
        flow_id: Some(flow_id),
        ..ExecutionFilter::default()
    };
    assert_eq!(as_set(store.listed_ids(Listing::Executions(filter)).await), members);
}

pub(super) async fn ended_members_are_left_out_of_the_open_ones(store: &Store<'_>) {
    let flow_id = store.flow(GateState::Open).await;
    let mut open = BTreeSet::new();
    for _ in 0..6 {
        open.insert(store.member(flow_id).await.id);
    }
    let ended = *open.iter().nth(2).expect("six members");
    let command = CancelExecution {
        reason: "enough".to_owned(),
        fence: None,
    };
    store
        .apply(ended, |execution, context| {
            operator::cancel(execution, &command, context)
        })
        .await;
    open.remove(&ended);
    let listing = Listing::Members {
        flow_id,
        open_only: true,
    };
    assert_eq!(store.listed_ids(listing).await, open.into_iter().collect::<Vec<_>>());
}

pub(super) async fn flows_are_listed_newest_first_and_filtered(store: &Store<'_>) {
    let mut flows = Vec::new();
    for n in 0..8_u32 {
        let id = FlowId::from_uuid(store.uuid());
        let partition = store.counts().of_flow(id);
        let mut flow = super::build::flow(id, store.now().await);
        if n % 2 == 1 {
            flow.namespace = Namespace::parse("mine").expect("a namespace");
        }
        if n % 4 >= 2 {
            flow.kind = FlowKind::parse("kind").expect("a kind");
        }
        if n >= 4 {
            flow.tags = std::sync::Arc::new([("team".to_owned(), "red".to_owned())].into());
        }
        store
            .commit(store.creation(partition, [Record::from(flow.clone())]))
            .await;
        flows.insert(0, flow);
        store.advance(Duration::from_millis(10)).await;
    }
    assert_eq!(listed_flows(store, FlowFilter::default()).await, flows);
    let filter = FlowFilter {
        namespace: Some(Namespace::parse("mine").expect("a namespace")),
        kind: Some(FlowKind::parse("kind").expect("a kind")),
        tag: None,
    };
    assert_eq!(listed_flows(store, filter).await, [flows[0].clone(), flows[4].clone()]);
    let filter = FlowFilter {
        tag: Some(("team".to_owned(), "red".to_owned())),
        ..FlowFilter::default()
    };
    assert_eq!(listed_flows(store, filter).await, flows[..4]);
}

pub(super) async fn edges_are_listed_from_both_ends(store: &Store<'_>) {
    let flow_id = FlowId::from_uuid(store.uuid());
    let [hub, leaf] = [store.id(), store.id()];
    let states = [
        EdgeState::Staged,
        EdgeState::Unresolved,
        EdgeState::Satisfied,
        EdgeState::Failed,
    ];
    let mut out = Vec::new();
    for state in states.into_iter().cycle().take(12) {
        let id = || EdgeId::from_uuid(store.uuid());
        out.push(edge(id(), flow_id, (hub, store.id()), state));
        let into = edge(id(), flow_id, (store.id(), leaf), state);
        store.commit(store.creation(store.home(), [Record::from(into)])).await;
    }
    out.sort_by_key(|edge| edge.id);
    store
        .commit(store.creation(store.home(), out.iter().cloned().map(Record::from)))
        .await;
    let edges = async |of: Listing| {
        let rows = store.follow(&of, 5, Page::edges).await;
        rows.into_iter().map(|(edge, _)| edge).collect::<Vec<_>>()
    };
    assert_eq!(
        edges(Listing::EdgesFrom {
            upstream: hub,
            unresolved_only: false
        })
        .await,
        out
    );
    let unresolved: Vec<_> = out
        .iter()
        .filter(|edge| edge.state == EdgeState::Unresolved)
        .cloned()
        .collect();
    assert_eq!(
        edges(Listing::EdgesFrom {
            upstream: hub,
            unresolved_only: true
        })
        .await,
        unresolved
    );
    let into = edges(Listing::EdgesInto { downstream: leaf }).await;
    assert!(
        into.len() == 12 && into.is_sorted_by_key(|edge| edge.id) && into.iter().all(|edge| edge.downstream == leaf)
    );
}

pub(super) async fn waitpoints_and_signals_are_listed_by_id(store: &Store<'_>) {
    let [mine, other] = [store.id(), store.id()];
    let mut waitpoints = Vec::new();
    let mut signals = Vec::new();
    for n in 0..20 {
        let owner = if n % 2 == 0 { mine } else { other };
        waitpoints.push(waitpoint(WaitpointId::from_uuid(store.uuid()), owner, Timestamp::MAX));
        signals.push(signal(SignalId::from_uuid(store.uuid()), owner));
    }
    let records = waitpoints
        .iter()
        .cloned()
        .map(Record::from)
        .chain(signals.iter().cloned().map(Record::from));
    store.commit(store.creation(store.home(), records)).await;
    waitpoints.retain(|waitpoint| waitpoint.execution_id == mine);
    waitpoints.sort_by_key(|waitpoint| waitpoint.id);
    signals.retain(|signal| signal.execution_id == mine);
    signals.sort_by_key(|signal| signal.id);
    let rows = store.follow(&Listing::Waitpoints(mine), 3, Page::waitpoints).await;
    assert_eq!(
        rows.into_iter().map(|(waitpoint, _)| waitpoint).collect::<Vec<_>>(),
        waitpoints
    );
    assert_eq!(store.follow(&Listing::Signals(mine), 3, Page::signals).await, signals);
}

pub(super) async fn buffered_signals_are_listed_by_their_waitpoint(store: &Store<'_>) {
    let [mine, other] = [store.id(), store.id()];
    let [here, there] = [(); 2].map(|()| WaitpointId::from_uuid(store.uuid()));
    let mut signals = Vec::new();
    for n in 0..32_u64 {
        let id = SignalId::from_uuid(store.uuid());
        signals.push(Signal {
            waitpoint_id: Some(if n % 2 == 0 { here } else { there }),
            buffered_after: (n % 4 < 2).then_some(n),
            ..signal(id, if n % 8 < 4 { mine } else { other })
        });
    }
    let records = signals.iter().cloned().map(Record::from);
    store.commit(store.creation(store.home(), records)).await;
    signals.retain(|signal| signal.execution_id == mine && signal.waiting_at() == Some(here));
    signals.sort_by_key(|signal| signal.id);
    let of = Listing::BufferedSignals {
        execution_id: mine,
        waitpoint_id: here,
    };
    assert_eq!(signals.len(), 4);
    assert_eq!(store.follow(&of, 3, Page::signals).await, signals);
    let gone = RecordKey::Signal(mine, signals.remove(1).id);
    let (_, version) = store.record(store.home(), gone.clone()).await.expect("it is stored");
    let deletion = Transaction {
        deletes: vec![(gone, version)],
        ..store.transaction(store.home())
    };
    store.commit(deletion).await;
    assert_eq!(store.follow(&of, 3, Page::signals).await, signals);
}

pub(super) async fn attempts_are_listed_by_index(store: &Store<'_>) {
    let task = store.leased().await;
    let attempt = task.execution.attempt.expect("a leased execution has an attempt");
    let [mine, other] = [store.id(), store.id()];
    let record = |id, index| {
        let attempt = Attempt {
            index,
            ..attempt.clone()
        };
        Record::Attempt(id, Box::new(attempt))
    };
    let records: Vec<Record> = [10, 2, 0, 100, 9, 1]
        .into_iter()
        .flat_map(|index| [record(mine, index), record(other, index)])
        .collect();
    store.commit(store.creation(store.home(), records)).await;
    let rows = store.follow(&Listing::Attempts(mine), 4, Page::attempts).await;
    assert_eq!(
        rows.into_iter().map(|attempt| attempt.index).collect::<Vec<_>>(),
        [0, 1, 2, 9, 10, 100]
    );
}

pub(super) async fn rows_that_stay_are_seen_once_while_others_appear(store: &Store<'_>) {
    let stay = in_every_partition(store, 30).await;
    let mut walk = Walk::default();
    while walk.turn_page(store).await {
        store.submit(store.command()).await;
        touch(store, &stay).await;
    }
    once(walk.seen, stay);
}

pub(super) async fn rows_that_stay_are_seen_once_while_others_go(store: &Store<'_>) {
    let mut stay = in_every_partition(store, 40).await;
    let mut go = stay.split_off(20);
    let mut walk = Walk::default();
    while walk.turn_page(store).await {
        if let Some(newest) = go.pop() {
            delete(store, newest).await;
        }
        touch(store, &stay).await;
    }
    once(walk.seen, stay);
}

/// All executions in small pages, so that something can happen between them.
#[derive(Default)]
struct Walk {
    seen: Vec<ExecutionId>,
    after: Option<Cursor>,
}

impl Walk {
    /// Reads one page; whether there is another.
    async fn turn_page(&mut self, store: &Store<'_>) -> bool {
        let of = Listing::Executions(ExecutionFilter::default());
        let page = store.page(of, self.after.take(), 4).await;
        self.after = page.next.clone();
        self.seen
            .extend(page.executions().into_iter().map(|(execution, _)| execution.id));
        assert!(self.seen.len() < 1_000, "the listing has an end");
        store.advance(Duration::from_millis(10)).await;
        self.after.is_some()
    }
}

fn once(seen: Vec<ExecutionId>, stay: Vec<ExecutionId>) {
    let stayed: Vec<ExecutionId> = seen.into_iter().filter(|id| stay.contains(id)).collect();
    assert_eq!(stayed.len(), stay.len(), "each row that stays is seen once");
    assert_eq!(as_set(stayed), as_set(stay));
}

async fn touch(store: &Store<'_>, ids: &[ExecutionId]) {
    for id in ids {
        let (execution, version) = store.versioned(*id).await;
        let changed = Execution {
            priority: execution.priority + 1,
            ..execution
        };
        store.commit(store.replacement(&changed, version)).await;
    }
}

async fn delete(store: &Store<'_>, id: ExecutionId) {
    let (_, version) = store.versioned(id).await;
    let deletes = vec![(RecordKey::Execution(id), version)];
    store
        .commit(Transaction {
            deletes,
            ..store.transaction(id.partition())
        })
        .await;
}

pub(super) async fn rows_of_a_filtered_listing_are_seen_once_too(store: &Store<'_>) {
    let tag = ("team", "red");
    let mut wanted = BTreeSet::new();
    for n in 0..60 {
        let command = if n % 7 == 0 {
            tagged(store.command(), tag)
        } else {
            store.command()
        };
        let red = !command.tags.is_empty();
        let id = store.submit(command).await.id;
        if red {
            wanted.insert(id);
        }
    }
    for limit in [1, 2, 3, 1_000] {
        let filter = ExecutionFilter {
            tag: Some((tag.0.to_owned(), tag.1.to_owned())),
            ..ExecutionFilter::default()
        };
        let rows = store
            .follow(&Listing::Executions(filter), limit, Page::executions)
            .await;
        assert_eq!(rows.len(), wanted.len());
        assert_eq!(
            rows.into_iter()
                .map(|(execution, _)| execution.id)
                .collect::<BTreeSet<_>>(),
            wanted
        );
    }
}

pub(super) async fn a_listing_of_nothing_is_empty(store: &Store<'_>) {
    let flow_id = FlowId::from_uuid(store.uuid());
    for of in [
        Listing::Executions(ExecutionFilter::default()),
        Listing::Members {
            flow_id,
            open_only: false,
        },
        Listing::QueuedUnder {
            partitions: vec![store.home()],
            budget_id: BudgetId::from_uuid(store.uuid()),
        },
    ] {
        assert_eq!(store.listed(of).await, []);
    }
    assert_eq!(listed_flows(store, FlowFilter::default()).await, []);
}

pub(super) async fn a_cursor_that_is_none_is_refused(store: &Store<'_>) {
    for text in ["", "nonsense", "'; --", "\u{0}", "{\"a\":1}"] {
        let of = Listing::Executions(ExecutionFilter::default());
        let query = Query {
            of,
            after: Some(Cursor(text.to_owned())),
            limit: 10,
        };
        assert_eq!(
            store.backend().list(query).await,
            Err(crate::Error::InvalidCursor),
            "{text:?}"
        );
    }
}

pub(super) async fn a_cursor_of_another_listing_is_refused(store: &Store<'_>) {
    in_every_partition(store, 3).await;
    let after = store
        .page(Listing::Executions(ExecutionFilter::default()), None, 1)
        .await
        .next;
    assert!(after.is_some());
    for of in [
        Listing::Flows(FlowFilter::default()),
        Listing::Audit(store.home()),
        Listing::Queues(vec![store.home()]),
        Listing::Feed(vec![(store.home(), FeedStart::Oldest)]),
        Listing::Marks(vec![store.home()]),
    ] {
        let query = Query {
            of,
            after: after.clone(),
            limit: 10,
        };
        assert_eq!(store.backend().list(query).await, Err(crate::Error::InvalidCursor));
    }
}

async fn listed_flows(store: &Store<'_>, filter: FlowFilter) -> Vec<Flow> {
    let rows = store.follow(&Listing::Flows(filter), 3, Page::flows).await;
    rows.into_iter().map(|(flow, _)| flow).collect()
}

/// Submits executions all over the partitions, each a little later than the one before.
async fn in_every_partition(store: &Store<'_>, count: u16) -> Vec<ExecutionId> {
    let partitions = store.counts().count(Family::Flow);
    let mut submitted = Vec::new();
    for n in 0..count {
        let id = store.id_in(Partition::flow((n * 37) % partitions));
        submitted.push(store.submit_as(id, store.command()).await.id);
        store.advance(Duration::from_millis(10)).await;
    }
    submitted
}

fn as_set(ids: Vec<ExecutionId>) -> BTreeSet<ExecutionId> {
    ids.into_iter().collect()
}
