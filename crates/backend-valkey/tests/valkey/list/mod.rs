//! What the conformance suite is too small to see: pages that stop early, very many of one moment, entries that are lost.

mod audit;
mod feed;
mod lanes;
mod order;
mod ranges;
mod runs;
mod sweeps;
mod torn;

use std::sync::Arc;

use ff_backend::query::{Cursor, Listing, Page, Query, Range};
use ff_backend::transaction::{Put, Tag, Transaction};
use ff_backend::{Backend, Result};
use ff_backend_valkey::{Options, ValkeyBackend};
use ff_core::command::submit::CreateExecution;
use ff_core::id::{BudgetId, ExecutionId};
use ff_core::machine::claim::{Refusal, block_queued};
use ff_core::machine::decided::Write;
use ff_core::machine::index::Index;
use ff_core::machine::submit::{Known, create};
use ff_core::machine::{Context, Decided};
use ff_core::name::ExecutionKind;
use ff_core::partition::{Family, PartitionCounts};
use ff_core::payload::Payload;
use ff_core::record::{Actor, Cause, Definition, Execution, Happening, HistoryLine, HistorySubject, Record};
use ff_core::time::Timestamp;
use ff_valkey_server::Standalone;
use uuid::Uuid;

/// A store of its own.
struct Scratch {
    backend: ValkeyBackend,
    server: Standalone,
}

impl Scratch {
    async fn new() -> Self {
        let server = Standalone::start(Default::default()).await;
        let backend = ValkeyBackend::open(&Options::new(server.url())).await.unwrap();
        Self { backend, server }
    }

    async fn page(&self, of: &Listing, after: Option<Cursor>, limit: usize) -> Result<Page> {
        let of = of.clone();
        self.backend.list(Query { of, after, limit }).await
    }

    /// Every row of a listing, and how many pages it took.
    async fn follow<R>(&self, of: &Listing, limit: usize, rows: impl Fn(Page) -> Vec<R>) -> (Vec<R>, usize) {
        let (mut all, mut pages, mut after) = (Vec::new(), 0, None);
        loop {
            let page = self.page(of, after, limit).await.unwrap();
            pages += 1;
            after = page.next.clone();
            all.extend(rows(page));
            if after.is_none() {
                return (all, pages);
            }
        }
    }

    /// The ids of the executions that a listing shows, and how many pages it took.
    async fn listed(&self, of: &Listing, limit: usize) -> (Vec<ExecutionId>, usize) {
        let (rows, pages) = self.follow(of, limit, Page::executions).await;
        (rows.into_iter().map(|(execution, _)| execution.id).collect(), pages)
    }

    /// Writes new records, each where its execution lives, without a word about it in the feed.
    async fn write(&self, records: impl IntoIterator<Item = (ExecutionId, Record)>) {
        let transactions = records.into_iter().map(|(id, record)| Transaction {
            puts: vec![Put::create(record)],
            ..Transaction::new(id.partition(), Tag(1))
        });
        for committed in self.backend.commit(transactions.collect()).await {
            committed.unwrap();
        }
    }

    async fn write_executions(&self, executions: &[Execution]) {
        for chunk in executions.chunks(1_000) {
            let records = chunk.iter().map(|execution| (execution.id, execution.clone().into()));
            self.write(records).await;
        }
    }
}

/// All of a list.
fn everywhere(index: Index) -> Listing {
    Range::of(index, PartitionCounts::default().all(Family::Flow).collect()).into()
}

/// An execution that waits for a worker, to be varied.
fn template() -> Execution {
    let kind = ExecutionKind::parse("kind").unwrap();
    let command = CreateExecution::new(kind, Payload::binary("input"));
    let context = Context::engine(moment(0));
    written(create(&command, ExecutionId::new(0, Uuid::nil()), Known::default(), &context).unwrap())
}

/// The execution that was decided.
fn written<O>(decided: Decided<O>) -> Execution {
    let mut executions = decided.draft.writes.into_iter().filter_map(|write| match write {
        Write::Put(Record::Execution(execution))
        | Write::Create {
            record: Record::Execution(execution),
            ..
        } => Some(*execution),
        _ => None,
    });
    executions.next().unwrap()
}

/// The `n`th execution, created at a moment. The order of ids says nothing about age.
fn execution(template: &Execution, n: u64, partition: u16, created_at: Timestamp) -> Execution {
    let uuid = Uuid::from_u64_pair(n.wrapping_mul(0x9e37_79b9_7f4a_7c15), n);
    let definition = Definition {
        created_at,
        ..(*template.definition).clone()
    };
    Execution {
        id: ExecutionId::new(partition, uuid),
        definition: Arc::new(definition),
        ..template.clone()
    }
}

/// The `n`th execution, which a budget holds back.
fn blocked_by(cause: Cause, n: u64, partition: u16, created_at: Timestamp) -> Execution {
    let refusal = Refusal {
        cause,
        detail: "closed".to_owned(),
        generation: 1,
    };
    let queued = execution(&template(), n, partition, created_at);
    written(block_queued(&queued, &refusal, &Context::engine(moment(9))).unwrap())
}

/// The cause of a budget.
const fn budget(n: u128) -> Cause {
    Cause::Budget(BudgetId::from_uuid(Uuid::from_u128(n)))
}

/// Milliseconds after some day of 2025.
fn moment(millis: u64) -> Timestamp {
    Timestamp::from_millis(1_750_000_000_000 + millis)
}

/// How often the server has run a command so far.
async fn calls_of(scratch: &Scratch, command: &str) -> usize {
    let stats = scratch.server.info("commandstats").await;
    let calls = stats.split_once(&format!("cmdstat_{command}:calls="));
    let calls = calls.map_or("0", |(_, rest)| rest);
    calls.split(',').next().unwrap().parse().unwrap()
}

/// Something happened to an execution.
fn line(about: &Execution, detail: &str) -> HistoryLine {
    let definition = &about.definition;
    HistoryLine {
        subject: HistorySubject::Execution(about.id),
        namespace: definition.namespace.clone(),
        lane: Some(definition.lane.clone()),
        flow_id: definition.flow,
        kind: definition.kind.as_str().to_owned(),
        at: definition.created_at,
        what: Happening::Signalled,
        actor: Actor::Engine,
        attempt_index: None,
        lease_epoch: None,
        detail: Some(detail.to_owned()),
    }
}
