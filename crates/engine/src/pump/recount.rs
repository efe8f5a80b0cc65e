//! The audit of counters: the members of a flow and the inbound edges of a member are counted again.
//!
//! The rows are read twice, the counters in between. If no row has changed from one time to the other, every row was at that
//! moment as it was read, and the counters must say the same. Otherwise somebody is at work, and a later audit looks again.

use std::collections::BTreeMap;

use ff_backend::load::{Load, Snapshot};
use ff_backend::query::{Page, Range};
use ff_backend::transaction::Version;
use ff_core::fabric::Result;
use ff_core::id::{EdgeId, ExecutionId, FlowId};
use ff_core::limits::PAGE_MAX;
use ff_core::machine::index::Index;
use ff_core::machine::{Decided, Draft};
use ff_core::record::{CounterKey, EdgeState, Execution, FlowCounter, GroupCounter, Record, RecordKey};
use ff_core::state::{PublicState, public_state};

use crate::engine::Engine;
use crate::transact::Decision;

/// Pages of rows counted for one record. Of something larger the audit would cost more than it is worth.
const PAGES_MAX: usize = 8;

/// What is counted, by row; `None` when there are too many.
type Rows<K, S> = Option<BTreeMap<K, (Version, S)>>;

/// Counts again what is counted over a record of an audit; how many counters had drifted, and are corrected.
pub(super) async fn recount(engine: &Engine, record: &Record) -> Result<usize> {
    match record {
        Record::Flow(flow) => recount_members(engine, flow.id).await,
        Record::Execution(execution) if execution.dependencies.is_some() => recount_edges(engine, execution).await,
        _ => Ok(0),
    }
}

async fn recount_members(engine: &Engine, id: FlowId) -> Result<usize> {
    let partition = engine.shared.config.counts.of_flow(id);
    let before = member_rows(engine, id).await?;
    let counters = FlowCounter::all().map(|counter| CounterKey::Flow(id, counter));
    let load = Load::records(partition, [RecordKey::Flow(id)]).with_counters(counters);
    let snapshot = engine.store().load(load).await?;
    let after = member_rows(engine, id).await?;
    let Some(rows) = before.filter(|rows| after.as_ref() == Some(rows)) else {
        return Ok(0);
    };
    let mut counted: BTreeMap<CounterKey, i64> = BTreeMap::new();
    for (_, state) in rows.values() {
        let mut count = |counter| *counted.entry(CounterKey::Flow(id, counter)).or_default() += 1;
        count(FlowCounter::Members);
        count(FlowCounter::State(*state));
        if !state.is_terminal() {
            count(FlowCounter::Open);
        }
    }
    correct(engine, &RecordKey::Flow(id), id, snapshot, &counted).await
}

async fn recount_edges(engine: &Engine, execution: &Execution) -> Result<usize> {
    let Some(flow) = execution.definition.flow else {
        return Ok(0);
    };
    let id = execution.id;
    let before = edge_rows(engine, id).await?;
    let records = [RecordKey::Execution(id), RecordKey::Flow(flow)];
    let counters = GroupCounter::ALL.map(|counter| CounterKey::Group(id, counter));
    let load = Load::records(id.partition(), records).with_counters(counters);
    let snapshot = engine.store().load(load).await?;
    let after = edge_rows(engine, id).await?;
    let Some(rows) = before.filter(|rows| after.as_ref() == Some(rows)) else {
        return Ok(0);
    };
    let mut counted: BTreeMap<CounterKey, i64> = BTreeMap::new();
    for (_, state) in rows.values() {
        if let Some(counter) = state.counter(id) {
            *counted.entry(counter).or_default() += 1;
            *counted.entry(CounterKey::Group(id, GroupCounter::Applied)).or_default() += 1;
        }
    }
    correct(engine, &RecordKey::Execution(id), flow, snapshot, &counted).await
}

/// Moves the counters of a snapshot to what was counted, beside a put of the record they belong to. The edges of a flow
/// that is being deleted go without being counted out.
async fn correct(
    engine: &Engine,
    key: &RecordKey,
    flow: FlowId,
    snapshot: Snapshot,
    counted: &BTreeMap<CounterKey, i64>,
) -> Result<usize> {
    let in_use = snapshot.flow(&RecordKey::Flow(flow)).is_some_and(|flow| !flow.deleting);
    let Some((record, _)) = snapshot.records.get(key).filter(|_| in_use) else {
        return Ok(0);
    };
    let drift = |counter: &CounterKey| counted.get(counter).copied().unwrap_or(0) - snapshot.counter(*counter);
    let moved = snapshot.counters.keys().map(|counter| (*counter, drift(counter)));
    let increments: Vec<(CounterKey, i64)> = moved.filter(|(_, by)| *by != 0).collect();
    if increments.is_empty() {
        return Ok(0);
    }
    tracing::error!(
        ?key,
        ?increments,
        "counters did not say what there is; they are corrected"
    );
    let drifted = increments.len();
    let mut draft = Draft::default();
    draft.put(record.clone());
    draft.increments = increments;
    let decided = Decided {
        outcome: drifted,
        draft,
    };
    let locked = engine.lock(key.clone()).await;
    // Somebody was faster: a later audit counts again.
    let corrected = locked.transact_once(async { Ok(Decision::Commit(snapshot, decided)) });
    Ok(corrected.await?.unwrap_or(0))
}

async fn member_rows(engine: &Engine, flow_id: FlowId) -> Result<Rows<ExecutionId, PublicState>> {
    let members = engine.range(Index::Members(flow_id));
    let row = |(member, version): (Execution, Version)| (member.id, (version, public_state(&member)));
    all_rows(engine, members, |page| page.executions().into_iter().map(row).collect()).await
}

async fn edge_rows(engine: &Engine, downstream: ExecutionId) -> Result<Rows<EdgeId, EdgeState>> {
    let edges = engine.range(Index::EdgesInto(downstream));
    all_rows(engine, edges, |page| {
        let rows = page.edges().into_iter();
        rows.map(|(edge, version)| (edge.id, (version, edge.state))).collect()
    })
    .await
}

async fn all_rows<K: Ord + Send, S: Send>(
    engine: &Engine,
    of: Range,
    rows: impl Fn(Page) -> Vec<(K, (Version, S))> + Send,
) -> Result<Rows<K, S>> {
    let mut all = BTreeMap::new();
    let mut pages = engine.store().pages(of, PAGE_MAX);
    for _ in 0..PAGES_MAX {
        let Some(page) = pages.next().await? else { break };
        all.extend(rows(page));
    }
    Ok(pages.is_over().then_some(all))
}
