//! What there is at one moment.

use ff_core::command::page::{ListOf, PageRequest};
use ff_core::command::signal::ListApprovals;
use ff_core::fabric::Result;
use ff_core::record::Worker;
use ff_core::state::PublicState;
use ff_core::time::Timestamp;
use ff_core::view::{ExecutionView, LaneView, ListExecutions};
use serde_json::{Value, json};

use crate::verbs::paging;
use crate::verbs::session::Session;

/// No screen shows more of anything.
const SHOWN_MAX: usize = 100;

/// What there is at one moment.
pub(super) struct Snapshot {
    pub(super) lanes: Vec<LaneView>,
    pub(super) workers: Vec<Worker>,
    /// What runs, the newest first.
    pub(super) running: Vec<ExecutionView>,
    /// What waits for a person, up to so many.
    pub(super) approvals: usize,
    /// When this was, on the store's clock as far as it is known.
    pub(super) at: Timestamp,
}

impl Snapshot {
    pub(super) async fn take(session: &Session, at: Timestamp) -> Result<Self> {
        let of = |page: PageRequest| ListOf {
            namespace: session.own_namespace(),
            page,
        };
        let lanes = async |page: PageRequest| session.fabric.list_lanes(of(page)).await;
        let workers = async |page: PageRequest| session.fabric.list_workers(of(page)).await;
        let approvals = async |page: PageRequest| {
            let namespace = Some(session.own_namespace());
            session.fabric.approvals(ListApprovals { namespace, page }).await
        };
        let running = ListExecutions {
            namespace: Some(session.own_namespace()),
            state: vec![PublicState::Active],
            ..ListExecutions::default()
        };
        let (lanes, workers, approvals, running) = futures::try_join!(
            paging::list(SHOWN_MAX, lanes),
            paging::list(SHOWN_MAX, workers),
            paging::list(SHOWN_MAX, approvals),
            session.fabric.list_executions(running),
        )?;
        Ok(Self {
            lanes: lanes.items,
            workers: workers.items,
            running: running.items,
            approvals: approvals.items.len(),
            at,
        })
    }

    /// How many executions are in this state.
    pub(super) fn count(&self, state: PublicState) -> u64 {
        self.lanes.iter().filter_map(|lane| lane.depth.get(&state)).sum()
    }

    /// Ends per second, of all lanes.
    pub(super) fn throughput(&self) -> f64 {
        self.lanes.iter().map(|lane| lane.throughput).sum()
    }

    /// The same for a program.
    pub(super) fn document(&self) -> Value {
        let states: serde_json::Map<_, _> = PublicState::ALL
            .iter()
            .map(|state| (state.as_str().to_owned(), json!(self.count(*state))))
            .collect();
        json!({
            "at": self.at,
            "states": states,
            "throughput": self.throughput(),
            "approvals": self.approvals,
            "lanes": self.lanes,
            "workers": self.workers,
        })
    }
}
