//! Questions: reservations, pages, due items, hints.

use ff_core::capability::CapabilitySet;
use ff_core::id::{AttemptId, ExecutionId, GrantId, LeaseId};
use ff_core::machine::claim::{Claimant, HandOut};
use ff_core::machine::index::Index;
use ff_core::machine::placement::{self, Placement};
use ff_core::name::{LaneId, Namespace, WorkerId, WorkerInstanceId};
use ff_core::partition::{Family, Partition};
use ff_core::record::{Fence, Record, RecordKey};
use ff_core::time::Duration;

use super::Store;
use crate::due::{Due, DueItem, DueKey, DuePage};
use crate::hint::{Hint, HintStream};
use crate::query::{AuditRow, Cursor, HeadsOf, Listing, Page, Query, Range};
use crate::reserve::{Reservation, Reserve, Task};
use crate::transaction::CommitError;

/// More reservations than any case needs.
const CALLS_MAX: usize = 1_000;
/// More pages than any listing of the suite has.
const PAGES_MAX: usize = 20_000;

impl Store<'_> {
    /// A worker with fresh ids.
    pub(crate) fn claimant(&self) -> Claimant {
        let instance = format!("instance-{}", self.serial());
        Claimant {
            worker: WorkerId::parse("worker").expect("a worker"),
            instance: WorkerInstanceId::parse(instance).expect("an instance"),
            grant_id: GrantId::from_uuid(self.uuid()),
            lease_id: LeaseId::from_uuid(self.uuid()),
            attempt_id: AttemptId::from_uuid(self.uuid()),
            lease_ttl: Duration::from_secs(30),
            grant_ttl: Duration::from_secs(5),
        }
    }

    /// Asks for `count` executions of the default lane for a worker without capabilities.
    pub(crate) fn ask(&self, count: usize) -> Reserve {
        Reserve {
            namespace: Namespace::default_namespace(),
            lanes: vec![LaneId::default_lane()],
            capabilities: CapabilitySet::default(),
            closed: Vec::new(),
            mode: HandOut::Lease,
            claimants: (0..count).map(|_| self.claimant()).collect(),
            tag: self.tag(),
        }
    }

    /// Takes what `ask` asks for.
    pub(crate) async fn reserve(&self, ask: Reserve) -> Vec<Task> {
        self.reservation(ask).await.tasks
    }

    /// The same, with what else is answered.
    pub(crate) async fn reservation(&self, ask: Reserve) -> Reservation {
        self.backend().reserve(ask).await.expect("the store answers")
    }

    /// Takes everything `ask` can get, call by call, with fresh claimants for each.
    pub(crate) async fn reserve_all(&self, ask: &Reserve) -> Vec<ExecutionId> {
        let mut taken = Vec::new();
        for _ in 0..CALLS_MAX {
            let claimants = ask.claimants.iter().map(|_| self.claimant()).collect();
            let tasks = self
                .reserve(Reserve {
                    claimants,
                    tag: self.tag(),
                    ..ask.clone()
                })
                .await;
            if tasks.is_empty() {
                return taken;
            }
            taken.extend(ids(&tasks));
        }
        panic!("there is no end to what is handed out");
    }

    /// Leases the one execution that is eligible in the default lane.
    pub(crate) async fn take(&self) -> Task {
        let mut tasks = self.reserve(self.ask(1)).await;
        assert_eq!(tasks.len(), 1, "an execution is eligible");
        tasks.remove(0)
    }

    /// Submits an execution and leases it.
    pub(crate) async fn leased(&self) -> Task {
        self.submit(self.command()).await;
        self.take().await
    }

    /// One page of a listing.
    pub(crate) async fn page(&self, of: Listing, after: Option<Cursor>, limit: usize) -> Page {
        self.backend()
            .list(Query { of, after, limit })
            .await
            .expect("the store answers")
    }

    /// Follows a listing to its end in pages of `limit`, taking `rows` of each.
    pub(crate) async fn follow<R>(&self, of: &Listing, limit: usize, rows: impl Fn(Page) -> Vec<R>) -> Vec<R> {
        self.follow_after(None, of, limit, rows).await
    }

    /// The same from a place on.
    pub(crate) async fn follow_after<R>(
        &self,
        mut after: Option<Cursor>,
        of: &Listing,
        limit: usize,
        rows: impl Fn(Page) -> Vec<R>,
    ) -> Vec<R> {
        let mut all = Vec::new();
        for _ in 0..PAGES_MAX {
            let page = self.page(of.clone(), after, limit).await;
            after = page.next.clone();
            let rows = rows(page);
            assert!(rows.len() <= limit, "a page has at most as many rows as asked for");
            all.extend(rows);
            if after.is_none() {
                return all;
            }
        }
        panic!("the listing has an end: {of:?}");
    }

    /// Every partition that records live in.
    pub(crate) fn partitions(&self) -> Vec<Partition> {
        self.counts().all(Family::Flow).collect()
    }

    /// Everything in a list, wherever it is.
    pub(crate) fn range(&self, index: Index) -> Listing {
        let only = index.partition(self.counts());
        Range::of(
            index,
            only.map_or_else(|| self.partitions(), |partition| vec![partition]),
        )
        .into()
    }

    /// The lists of a kind that have anything, wherever they are.
    pub(crate) fn heads(&self, of: HeadsOf) -> Listing {
        let partitions = self.partitions();
        Listing::Heads {
            of,
            partitions,
            count: 0,
        }
    }

    /// The ids of the executions of a listing.
    pub(crate) async fn listed_ids(&self, of: Listing) -> Vec<ExecutionId> {
        let rows = self.follow(&of, 7, Page::executions).await;
        rows.into_iter().map(|(execution, _)| execution.id).collect()
    }

    /// The records of a partition, once each was found where the rules say it belongs.
    pub(crate) async fn audited(&self, partition: Partition) -> Vec<Record> {
        let rows = self.follow(&Listing::Audit(partition), 100, Page::audit).await;
        rows.into_iter().map(in_its_place).collect()
    }

    /// What is due in `partitions`.
    pub(crate) async fn due_in(&self, partitions: &[Partition], limit: usize) -> DuePage {
        let partitions = partitions.to_vec();
        let page = self
            .backend()
            .due(Due { partitions, limit })
            .await
            .expect("the store answers");
        assert!(page.items.len() <= limit, "no more is due than was asked for");
        page
    }

    /// Waits for a hint that `wanted` recognises.
    pub(crate) async fn hinted(&self, hints: &mut HintStream, wanted: impl Fn(&Hint) -> bool) {
        let found = async {
            while let Some(hint) = hints.next().await {
                if wanted(&hint) || hint == Hint::Missed {
                    return;
                }
            }
            panic!("the store keeps sending hints");
        };
        tokio::time::timeout(self.harness().hint_wait(), found)
            .await
            .expect("the hint comes");
    }

    /// The records due at home.
    pub(crate) async fn due_at_home(&self) -> Vec<RecordKey> {
        let page = self.due_in(&[self.home()], 1_000).await;
        page.items.into_iter().map(record_key).collect()
    }
}

/// The ids of what was handed out.
pub(crate) fn ids(tasks: &[Task]) -> Vec<ExecutionId> {
    tasks.iter().map(|task| task.execution.id).collect()
}

/// The fence of a leased task.
pub(crate) fn fence(task: &Task) -> Fence {
    let attempt = task
        .execution
        .attempt
        .as_ref()
        .expect("a leased execution has an attempt");
    task.execution.lease().expect("the task is leased").fence(attempt.id)
}

/// The record a due item names.
pub(crate) fn record_key(item: DueItem) -> RecordKey {
    match item.key {
        DueKey::Record(key) => key,
        other => panic!("a flow partition holds records, not {other:?}"),
    }
}

/// The record of an audited row, which must stand in exactly the indexes the rules name.
fn in_its_place(row: AuditRow) -> Record {
    let queue = match &row.record {
        Record::Execution(execution) => match placement::placement(execution) {
            Placement::Eligible { queue, score } => Some((queue, score)),
            _ => None,
        },
        _ => None,
    };
    let key = row.record.key();
    assert_eq!(row.queue, queue, "{key:?} is in the queue its facts say");
    assert_eq!(
        row.due_at,
        placement::due_at(&row.record),
        "{key:?} is due when its facts say"
    );
    assert_eq!(row.missing, [], "{key:?} stands in the lists its facts say");
    row.record
}

/// What a refused commit found.
pub(crate) fn conflict<T: std::fmt::Debug>(
    answer: Result<T, CommitError>,
) -> (RecordKey, Option<crate::transaction::Version>) {
    match answer {
        Err(CommitError::Conflict { key, found }) => (key, found),
        other => panic!("the commit is refused by a changed record, got {other:?}"),
    }
}
