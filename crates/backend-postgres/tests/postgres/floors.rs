//! Where a queue begins is what a process remembers of it: what somebody else puts before that must be found all the same.

use ff_backend::Backend;
use ff_backend::hint::Hint;
use ff_backend::load::Snapshot;
use ff_backend::transaction::{Tag, Transaction};
use ff_backend_postgres::PostgresBackend;
use ff_core::id::ExecutionId;
use ff_core::name::LaneId;
use ff_core::partition::Partition;
use ff_core::time::Duration;
use ff_postgres_server::Database;
use uuid::Uuid;

use super::conformance::migrated;
use super::deadlocks::luck::Luck;
use super::deadlocks::world::submission;
use super::deadlocks::writer::ask;

const PARTITION: Partition = Partition::flow(0);
/// What one that is moved to the front scores better by than it did.
const FAR: i64 = 1_000_000;

/// Two processes on one database, and what they do.
struct Scene {
    own: PostgresBackend,
    other: PostgresBackend,
    database: Database,
    luck: Luck,
}

impl Scene {
    async fn set() -> Self {
        let (database, options) = migrated().await;
        Self {
            own: PostgresBackend::open(&options).await.unwrap(),
            other: PostgresBackend::open(&options).await.unwrap(),
            database,
            luck: Luck(7),
        }
    }

    /// A new execution, by the first process or the second.
    async fn submit(&mut self, by_other: bool, number: u128) -> ExecutionId {
        let store = if by_other { &self.other } else { &self.own };
        let now = store.ping().await.unwrap();
        let id = ExecutionId::new(PARTITION.index, Uuid::from_u128(number));
        let draft = submission(id, LaneId::default_lane(), now);
        let transaction = Transaction::bind(draft, &Snapshot::empty(PARTITION, now), Tag(self.luck.number()));
        store.commit(vec![transaction]).await.remove(0).unwrap();
        id
    }

    /// The best that there is, as the first process knows it.
    async fn claim(&mut self) -> ExecutionId {
        let ask = ask(&mut self.luck, LaneId::default_lane(), 1);
        let reserved = self.own.reserve(ask).await.unwrap();
        reserved.tasks.into_iter().next().expect("something waits").execution.id
    }

    /// Puts an execution before all others, as another process may whose message is lost.
    async fn move_to_the_front_in_silence(&self, id: ExecutionId) {
        let uuid = id.uuid();
        self.database
            .ask(&format!(
                "WITH moved AS (UPDATE queued SET score = score - {FAR} WHERE uuid = '{uuid}' RETURNING score)
                 UPDATE execution SET score = moved.score FROM moved WHERE execution.uuid = '{uuid}' RETURNING 1"
            ))
            .await;
    }
}

#[tokio::test]
async fn what_was_put_before_the_beginning_of_a_queue_in_silence_is_found_half_a_second_later() {
    let mut scene = Scene::set().await;
    let mut ids = Vec::new();
    for number in 1..=4 {
        ids.push(scene.submit(false, number).await);
    }
    assert_eq!(scene.claim().await, ids[0]);
    scene.move_to_the_front_in_silence(ids[3]).await;
    scene.own.advance_clock(Duration::from_millis(500));
    assert_eq!(scene.claim().await, ids[3]);
    assert_eq!(scene.claim().await, ids[1]);
}

#[tokio::test]
async fn what_another_process_puts_before_the_beginning_of_a_queue_is_found_once_it_has_said_so() {
    let mut scene = Scene::set().await;
    let taken = scene.submit(false, 1).await;
    let moved = scene.submit(false, 2).await;
    assert_eq!(scene.claim().await, taken);
    scene.move_to_the_front_in_silence(moved).await;
    let mut hints = scene.own.hints();
    let new = scene.submit(true, 3).await;
    while !matches!(hints.next().await, Some(Hint::Eligible { partition, .. }) if partition == PARTITION) {}
    assert_eq!(scene.claim().await, moved);
    assert_eq!(scene.claim().await, new);
}
