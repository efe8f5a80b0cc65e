//! What the conformance suite is too small to see: pages that stop early, trimmed feeds, and the indexes statements use.

mod feed;
mod plans;
mod ranges;

use std::sync::Arc;

use ff_backend::Error;
use ff_backend::query::{Cursor, Listing, Page, Query};
use ff_core::command::submit::CreateExecution;
use ff_core::id::{ExecutionId, FlowId};
use ff_core::machine::Context;
use ff_core::machine::submit::{Known, create};
use ff_core::name::{ExecutionKind, LaneId};
use ff_core::payload::Payload;
use ff_core::record::{Definition, Execution, HistoryLine, Record};
use ff_core::time::Timestamp;
use rusqlite::{Connection, params};
use uuid::Uuid;

use super::{Answer, Fault, Reading};
use crate::clock::Clock;
use crate::database::Database;
use crate::migrate::create_tables;
use crate::options::Options;
use crate::queues::Queues;
use crate::shared::Shared;

/// A migrated database without a file.
struct Scratch(Connection, Shared);

impl Scratch {
    fn new() -> Self {
        let connection = Connection::open_in_memory().unwrap();
        create_tables(&connection).unwrap();
        let queues = Queues::load(&Database::new(&connection)).unwrap();
        let shared = Shared::new(Clock::start(Timestamp::default()), queues, &Options::new("nowhere"));
        Self(connection, shared)
    }

    fn page(&self, of: &Listing, after: Option<Cursor>, limit: usize) -> Result<Page, Error> {
        match self.tried(of, after, limit) {
            Ok(page) => Ok(page),
            Err(Fault::Refused(error)) => Err(error),
            Err(Fault::Store(error)) => panic!("{error}"),
        }
    }

    fn tried(&self, of: &Listing, after: Option<Cursor>, limit: usize) -> Answer<Page> {
        let query = Query {
            of: of.clone(),
            after,
            limit,
        };
        let reading = Reading {
            database: &Database::new(&self.0),
            now: Timestamp::default(),
            shared: &self.1,
        };
        reading.page(&query)
    }

    /// Every row of a listing, and how many pages it took.
    fn follow<R>(&self, of: &Listing, limit: usize, rows: impl Fn(Page) -> Vec<R>) -> (Vec<R>, usize) {
        let (mut all, mut pages, mut after) = (Vec::new(), 0, None);
        loop {
            let page = self.page(of, after, limit).unwrap();
            pages += 1;
            after = page.next.clone();
            all.extend(rows(page));
            if after.is_none() {
                return (all, pages);
            }
        }
    }

    fn insert(&self, execution: &Execution, is_open: bool) {
        let definition = &execution.definition;
        let values = params![
            execution.id.uuid().to_string(),
            execution.id.partition().index,
            definition.namespace.as_str(),
            definition.lane.as_str(),
            definition.kind.as_str(),
            definition.created_at.as_millis(),
            definition.flow.map(|flow_id| flow_id.to_string()),
            is_open,
            serde_json::to_string(execution).unwrap(),
        ];
        let sql = "INSERT INTO execution (uuid, partition, version, tag, namespace, lane, kind, state, blocking_reason,
                priority, created_at, updated_at, flow_id, is_open, lease_epoch, history, history_lines, body)
            VALUES (?1, ?2, 1, 1, ?3, ?4, ?5, 'waiting', 'none', 0, ?6, ?6, ?7, ?8, 0, '', 0, ?9)";
        self.0.prepare_cached(sql).unwrap().execute(values).unwrap();
    }
}

/// Makes executions that differ in what listings ask for.
pub(crate) struct Template {
    execution: Execution,
    pub(crate) line: HistoryLine,
}

impl Template {
    pub(crate) fn new() -> Self {
        let kind = ExecutionKind::parse("kind").unwrap();
        let command = CreateExecution::new(kind, Payload::binary("input"));
        let context = Context::engine(Timestamp::from_millis(1));
        let step = create(&command, ExecutionId::new(0, Uuid::nil()), Known::default(), &context).unwrap();
        let line = step.draft.history[0].clone();
        let puts = step.draft.writes.into_iter();
        let mut executions = puts.filter_map(|write| match write {
            ff_core::machine::decided::Write::Put(Record::Execution(execution))
            | ff_core::machine::decided::Write::Create {
                record: Record::Execution(execution),
                ..
            } => Some(*execution),
            _ => None,
        });
        Self {
            execution: executions.next().unwrap(),
            line,
        }
    }

    /// The `n`th execution, created `n` milliseconds after the epoch. The order of ids says nothing about age.
    fn execution(&self, n: u64, lane: &str, flow: Option<FlowId>) -> Execution {
        let uuid = Uuid::from_u64_pair(n.wrapping_mul(0x9e37_79b9_7f4a_7c15), n);
        let definition = Definition {
            created_at: Timestamp::from_millis(n),
            lane: LaneId::parse(lane).unwrap(),
            flow,
            ..(*self.execution.definition).clone()
        };
        Execution {
            id: ExecutionId::new(u16::try_from(n % 7).unwrap(), uuid),
            definition: Arc::new(definition),
            ..self.execution.clone()
        }
    }
}
