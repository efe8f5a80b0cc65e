//! One process: a few who call the same store at the same time.

use std::sync::Arc;

use ff_backend::Backend;
use ff_backend::frames::{Append, Keep, NewFrame};
use ff_backend::load::{Load, Snapshot};
use ff_backend::reserve::{Reserve, Task};
use ff_backend::settings::{Expected, SettingsOp};
use ff_backend::transaction::{CommitError, Put, Tag, Transaction};
use ff_backend_postgres::{Options, PostgresBackend, library_name};
use ff_core::capability::CapabilitySet;
use ff_core::id::{AttemptId, ExecutionId, GrantId, LeaseId};
use ff_core::machine::claim::{Claimant, HandOut};
use ff_core::name::{FrameType, LaneId, Namespace, WorkerId, WorkerInstanceId};
use ff_core::partition::Partition;
use ff_core::payload::Payload;
use ff_core::record::{Phase, Record};
use ff_core::time::Duration;
use futures::future::join_all;
use tokio_postgres::NoTls;
use uuid::Uuid;

use super::accounts::{accounts, calls, creations, look, there};
use super::luck::Luck;
use super::transactions::{batch, submissions};
use super::world::{PARTITIONS, keys, submission};

/// Who calls at the same time.
const CALLERS: u64 = 3;
/// Streams of a process, which all its callers append to.
const STREAMS: usize = 4;
/// Settings that everybody writes.
const SETTINGS: usize = 5;

/// Makes so many random calls, shared among the callers.
pub(super) async fn write(options: &Options, process: u64, wanted: u64) {
    let store = Arc::new(PostgresBackend::open(options).await.unwrap());
    let mut luck = Luck(process << 32);
    let streams = Arc::new(begin_streams(&*store, process, &mut luck).await);
    let callers = (1..=CALLERS).map(|caller| {
        let caller = Caller {
            store: Arc::clone(&store),
            streams: Arc::clone(&streams),
            luck: Luck((process << 32) | (caller << 24)),
        };
        tokio::spawn(caller.call(wanted.div_ceil(CALLERS)))
    });
    let cleaner = tokio::spawn(clean(options.url.clone()));
    for called in join_all(callers).await {
        called.unwrap();
    }
    cleaner.abort();
    assert!(cleaner.await.unwrap_err().is_cancelled(), "the cleaner has failed");
}

/// Cleans up behind the callers again and again, as every process does now and then. Of the feed nothing is kept.
async fn clean(url: String) {
    let (client, connection) = tokio_postgres::connect(&url, NoTls).await.unwrap();
    tokio::spawn(connection);
    let library = library_name();
    let nobody = format!("ROW(0, 0, 0, 0)::{library}.caller");
    let calls = [
        format!("SELECT {library}.tidy(caller => {nobody}, at_most => 256)"),
        format!("SELECT {library}.tidy_feed(caller => {nobody}, kept_ms => 0)"),
    ];
    loop {
        for call in &calls {
            client.batch_execute(call).await.unwrap();
        }
    }
}

/// Leased executions that nobody else takes.
async fn begin_streams(store: &dyn Backend, process: u64, luck: &mut Luck) -> Vec<Task> {
    let lane = LaneId::parse(format!("streams-{process}")).unwrap();
    let now = store.ping().await.unwrap();
    let submitted = (0..STREAMS).map(|_| {
        let partition = Partition::flow(0);
        let id = ExecutionId::new(partition.index, uuid(luck));
        let draft = submission(id, lane.clone(), now);
        Transaction::bind(draft, &Snapshot::empty(partition, now), Tag(luck.number()))
    });
    for committed in store.commit(submitted.collect()).await {
        committed.unwrap();
    }
    let reserved = store.reserve(ask(luck, lane, STREAMS)).await.unwrap();
    assert_eq!(reserved.tasks.len(), STREAMS);
    let mut tasks = reserved.tasks;
    for task in &mut tasks {
        renew(store, task, Tag(luck.number())).await;
    }
    tasks
}

/// Gives a task for as long as any of this may take.
async fn renew(store: &dyn Backend, task: &mut Task, tag: Tag) {
    let before = Record::from(task.execution.clone());
    let Phase::Active(lease) = &mut task.execution.phase else {
        panic!("it is leased")
    };
    lease.expires_at += Duration::from_hours(1);
    let renewed = Put::replace(Record::from(task.execution.clone()), (&before, task.version));
    let mut transaction = Transaction::new(task.execution.id.partition(), tag);
    transaction.puts.push(renewed);
    store.commit(vec![transaction]).await.remove(0).unwrap();
}

fn uuid(luck: &mut Luck) -> Uuid {
    Uuid::from_u64_pair(luck.number(), luck.number())
}

pub(crate) fn ask(luck: &mut Luck, lane: LaneId, count: usize) -> Reserve {
    let mut claimant = || Claimant {
        worker: WorkerId::parse("worker").unwrap(),
        instance: WorkerInstanceId::parse("worker-1").unwrap(),
        grant_id: GrantId::from_uuid(uuid(luck)),
        lease_id: LeaseId::from_uuid(uuid(luck)),
        attempt_id: AttemptId::from_uuid(uuid(luck)),
        lease_ttl: Duration::from_secs(30),
        grant_ttl: Duration::from_secs(5),
    };
    Reserve {
        namespace: Namespace::default_namespace(),
        lanes: vec![lane],
        capabilities: CapabilitySet::default(),
        closed: Vec::new(),
        mode: HandOut::Lease,
        claimants: (0..count).map(|_| claimant()).collect(),
        tag: Tag(luck.number()),
    }
}

/// One who calls.
struct Caller {
    store: Arc<PostgresBackend>,
    streams: Arc<Vec<Task>>,
    luck: Luck,
}

impl Caller {
    async fn call(mut self, calls: u64) {
        for _ in 0..calls {
            match self.luck.below(12) {
                0 => self.reserve().await,
                1 | 2 => self.append().await,
                3 => self.set().await,
                4..=6 => self.use_accounts().await,
                7 => self.submit().await,
                _ => self.commit().await,
            }
        }
    }

    async fn reserve(&mut self) {
        let ask = ask(&mut self.luck, LaneId::default_lane(), 3);
        self.store.reserve(ask).await.unwrap();
    }

    async fn commit(&mut self) {
        let snapshot = self.read().await;
        let batch = batch(&mut self.luck, &snapshot);
        self.land(batch).await;
    }

    async fn submit(&mut self) {
        let snapshot = self.read().await;
        let batch = submissions(&mut self.luck, &snapshot);
        self.land(batch).await;
    }

    async fn read(&mut self) -> Snapshot {
        let partition = Partition::flow(u16::try_from(self.luck.below(PARTITIONS.into())).unwrap());
        let load = Load::records(partition, keys(partition));
        self.store.load(vec![load]).await.unwrap().remove(0)
    }

    /// Whoever comes too late is told so; nothing else may happen.
    async fn land(&self, batch: Vec<Transaction>) {
        for answer in self.store.commit(batch).await {
            match answer {
                Ok(_) | Err(CommitError::Conflict { .. }) => {}
                Err(error) => panic!("{error}"),
            }
        }
    }

    async fn use_accounts(&mut self) {
        let now = self.store.ping().await.unwrap();
        let looks = self.store.ledger(look(&accounts())).await;
        let there = there(looks.into_iter().map(Result::unwrap).collect());
        let calls = match self.luck.one_of(2) {
            true => creations(&mut self.luck, now),
            false => calls(&mut self.luck, &there),
        };
        for reply in self.store.ledger(calls).await {
            reply.unwrap();
        }
    }

    /// Frames for some streams, some of which are gone at once.
    async fn append(&mut self) {
        let tasks = self.luck.some(&self.streams, STREAMS);
        let frames = tasks.iter().map(|task| {
            let mode = match self.luck.one_of(2) {
                true => Keep::Durable,
                false => Keep::BestEffort {
                    ttl: Duration::from_millis(1),
                },
            };
            let frame = NewFrame {
                frame_type: FrameType::parse("log").unwrap(),
                payload: Payload::binary("frame"),
                correlation_id: None,
                mode,
                key: None,
            };
            let attempt = task.execution.attempt.as_ref().expect("it is leased");
            let fence = task.execution.lease().expect("it is leased").fence(attempt.id);
            Append::to(&task.execution, fence, frame)
        });
        let frames = frames.collect();
        for appended in self.store.append(frames).await {
            appended.unwrap();
        }
    }

    async fn set(&mut self) {
        let keys: Vec<String> = (0..SETTINGS).map(|number| format!("setting-{number}")).collect();
        let set = self.luck.some(&keys, SETTINGS).into_iter().map(|key| SettingsOp::Put {
            key,
            value: (!self.luck.one_of(3)).then(|| self.luck.below(100).into()),
            expected: Expected::Anything,
            ttl: self.luck.one_of(3).then_some(Duration::from_millis(1)),
        });
        let set = set.collect();
        self.store.settings(set).await.unwrap();
    }
}
