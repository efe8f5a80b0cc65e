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
/// Pages of what runs that are asked for, again and again. The first has all that runs for longer than a moment.
const PAGES_MAX: usize = 10;

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
            session
                .fabric
                .approvals(ListApprovals {
                    namespace,
                    page,
                    ..ListApprovals::default()
                })
                .await
        };
        let (lanes, workers, approvals) = futures::try_join!(
            paging::list(SHOWN_MAX, lanes),
            paging::list(SHOWN_MAX, workers),
            paging::list(SHOWN_MAX, approvals),
        )?;
        let mut snapshot = Self {
            lanes: lanes.items,
            workers: workers.items,
            running: Vec::new(),
            approvals: approvals.items.len(),
            at,
        };
        snapshot.running = running(session, snapshot.count(PublicState::Active)).await?;
        Ok(snapshot)
    }

    /// How many executions are in this state.
    pub(super) fn count(&self, state: PublicState) -> u64 {
        self.lanes.iter().filter_map(|lane| lane.depth.get(&state)).sum()
    }

    /// Ends per second, of all lanes.
    pub(super) fn throughput(&self) -> f64 {
        // The sum of nothing would be below zero.
        self.lanes.iter().map(|lane| lane.throughput).sum::<f64>() + 0.0
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

/// What runs, the newest first: `count` executions, as far as they are soon found among those that do not.
async fn running(session: &Session, count: u64) -> Result<Vec<ExecutionView>> {
    let list = ListExecutions {
        namespace: Some(session.own_namespace()),
        state: vec![PublicState::Active],
        ..ListExecutions::default()
    };
    let wanted = usize::try_from(count).map_or(SHOWN_MAX, |count| count.min(SHOWN_MAX));
    let (mut running, mut page) = (Vec::new(), PageRequest::default());
    for _ in 0..PAGES_MAX {
        if running.len() >= wanted {
            break;
        }
        let mut listed = session.list_executions(&list, page).await?;
        running.append(&mut listed.items);
        page = PageRequest {
            cursor: listed.next,
            ..PageRequest::default()
        };
        if page.cursor.is_none() {
            break;
        }
    }
    Ok(running)
}
