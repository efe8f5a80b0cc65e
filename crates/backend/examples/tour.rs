//! One execution, walked through the in-memory backend by hand: load, decide, commit. An engine does the same and adds
//! when to do it.

#![expect(clippy::print_stdout, reason = "a tour shows what it does")]

use std::error::Error;

use ff_backend::Backend;
use ff_backend::due::Due;
use ff_backend::load::{Load, Snapshot};
use ff_backend::memory::MemoryBackend;
use ff_backend::query::{Listing, Query};
use ff_backend::reserve::Reserve;
use ff_backend::transaction::{Tag, Transaction};
use ff_core::capability::CapabilitySet;
use ff_core::command::lease::{Complete, Fail, UpdateProgress};
use ff_core::command::steps::ProgressNote;
use ff_core::command::submit::CreateExecution;
use ff_core::id::{AttemptId, ExecutionId, GrantId, LeaseId};
use ff_core::limits::{GRANT_TTL_DEFAULT, LEASE_TTL_DEFAULT};
use ff_core::machine::claim::{Claimant, HandOut};
use ff_core::machine::{Context, Draft, fail, lease, submit, time};
use ff_core::name::{Category, ExecutionKind, LaneId, Namespace, WorkerId, WorkerInstanceId};
use ff_core::partition::PartitionCounts;
use ff_core::payload::Payload;
use ff_core::policy::RetryPolicy;
use ff_core::record::{Execution, Fence, HistorySubject, RecordKey};
use ff_core::state::{blocking_detail, public_state};
use ff_core::time::{Duration, Timestamp};
use serde_json::json;
use uuid::Uuid;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let mut tour = Tour::new();
    println!("{:>10}  {:<32}{:<12}why it waits", "time", "what happens", "state");

    let input = Payload::json(&json!({"pages": 120}));
    let mut command = CreateExecution::new(ExecutionKind::parse("summarize")?, input);
    command.policy.retry_policy = Some(RetryPolicy::default());
    let id = tour.id;
    tour.apply("a client submits it", |_, context| {
        Ok(submit::create(&command, id, submit::Known::default(), context)?.draft)
    })
    .await?;

    let fence = tour.reserve("worker-1").await?;
    tour.store.advance(Duration::from_secs(2));
    let (pct, message) = (Some(40), Some("read 48 pages".to_owned()));
    let progress = UpdateProgress {
        fence,
        progress: ProgressNote { pct, message },
    };
    tour.apply("worker-1 is at 40 %", |task, context| {
        Ok(lease::update_progress(task?, &progress, context)?.draft)
    })
    .await?;
    let (reason, category) = ("the model is overloaded".to_owned(), Category::parse("transient")?);
    let failure = Fail {
        fence,
        reason,
        category,
        retry_after: None,
        steps: Vec::new(),
    };
    tour.apply("worker-1 fails", |task, context| {
        Ok(fail::fail(task?, &failure, context)?.draft)
    })
    .await?;

    tour.pump().await?;
    tour.store.advance(Duration::from_secs(1));
    tour.pump().await?;

    let fence = tour.reserve("worker-2").await?;
    tour.store.advance(Duration::from_millis(3_500));
    let result = Some(Payload::json(&json!({"summary": "It was a dark and stormy night."})));
    let done = Complete {
        fence,
        result,
        ..Complete::default()
    };
    tour.apply("worker-2 completes it", |task, context| {
        Ok(lease::complete(task?, &done, context)?.draft)
    })
    .await?;
    tour.print_history().await
}

/// A store whose time starts at zero, and the execution that is walked through it.
struct Tour {
    store: MemoryBackend,
    id: ExecutionId,
    tags_used: u64,
}

impl Tour {
    fn new() -> Self {
        let (counts, uuid) = (PartitionCounts::default(), Uuid::from_u128(0x5eed));
        Self {
            store: MemoryBackend::new(Timestamp::from_millis(0), counts),
            id: ExecutionId::new(counts.of_execution_uuid(uuid).index, uuid),
            tags_used: 0,
        }
    }

    /// Loads the execution, lets a rule decide, and commits what it drafted.
    async fn apply(
        &mut self,
        what: &str,
        rule: impl FnOnce(Result<&Execution>, &Context) -> Result<Draft>,
    ) -> Result<()> {
        let snapshot = self.load().await?;
        let draft = rule(self.execution(&snapshot), &Context::engine(snapshot.now))?;
        let transaction = Transaction::bind(draft, &snapshot, self.next_tag());
        for answer in self.store.commit(vec![transaction]).await {
            answer?;
        }
        self.show(what).await
    }

    /// Hands the best eligible execution to a worker, and answers the fence of its lease.
    async fn reserve(&mut self, worker: &str) -> Result<Option<Fence>> {
        let tag = self.next_tag();
        let fresh = Uuid::from_u128(tag.0.into());
        let claimant = Claimant {
            worker: WorkerId::parse(worker)?,
            instance: WorkerInstanceId::parse(worker)?,
            grant_id: GrantId::from_uuid(fresh),
            lease_id: LeaseId::from_uuid(fresh),
            attempt_id: AttemptId::from_uuid(fresh),
            lease_ttl: LEASE_TTL_DEFAULT,
            grant_ttl: GRANT_TTL_DEFAULT,
        };
        let ask = Reserve {
            namespace: Namespace::default_namespace(),
            lanes: vec![LaneId::default_lane()],
            capabilities: CapabilitySet::default(),
            closed: Vec::new(),
            mode: HandOut::Lease,
            claimants: vec![claimant],
            tag,
        };
        let reservation = self.store.reserve(ask).await?;
        self.show(&format!("{worker} claims it")).await?;
        let task = reservation.tasks.first().map(|task| &task.execution);
        Ok(task.and_then(|task| Some(task.lease()?.fence(task.attempt.as_ref()?.id))))
    }

    /// Applies what time has brought, if anything is due.
    async fn pump(&mut self) -> Result<()> {
        let partitions = vec![self.id.partition()];
        match self.store.due(Due { partitions, limit: 10 }).await?.items[..] {
            [] => self.show("nothing is due yet").await,
            _ => {
                self.apply("its timer is due", |task, context| {
                    Ok(time::advance(task?, context).draft)
                })
                .await
            }
        }
    }

    async fn show(&self, what: &str) -> Result<()> {
        let snapshot = self.load().await?;
        let execution = self.execution(&snapshot)?;
        let (state, why) = (
            public_state(execution).as_str(),
            blocking_detail(execution).unwrap_or_default(),
        );
        print_line(snapshot.now, &format!("{what:<32}{state:<12}{why}"));
        Ok(())
    }

    async fn print_history(&self) -> Result<()> {
        println!("\nhistory of {}", self.id);
        let of = Listing::History(HistorySubject::Execution(self.id));
        for line in self
            .store
            .list(Query {
                of,
                after: None,
                limit: 100,
            })
            .await?
            .history()
        {
            let attempt = line
                .attempt_index
                .map_or_else(String::new, |index| format!("attempt {index}"));
            let detail = line.detail.unwrap_or_default();
            print_line(line.at, &format!("{:<32}{attempt:<12}{detail}", line.what.as_str()));
        }
        Ok(())
    }

    async fn load(&self) -> Result<Snapshot> {
        let load = Load::records(self.id.partition(), [RecordKey::Execution(self.id)]);
        self.store
            .load(vec![load])
            .await?
            .pop()
            .ok_or_else(|| "one load, one snapshot".into())
    }

    fn execution<'a>(&self, snapshot: &'a Snapshot) -> Result<&'a Execution> {
        let execution = snapshot.execution(&RecordKey::Execution(self.id));
        execution.ok_or_else(|| "there is no such execution".into())
    }

    fn next_tag(&mut self) -> Tag {
        self.tags_used += 1;
        Tag(self.tags_used)
    }
}

fn print_line(at: Timestamp, text: &str) {
    let millis = at.as_millis();
    println!("{:>4}.{:03} s  {}", millis / 1_000, millis % 1_000, text.trim_end());
}
