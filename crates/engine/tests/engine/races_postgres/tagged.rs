//! A claim against a change of the only thing there is to claim.

use std::time::{Duration as Span, Instant};

use ff_core::command::claim::Task;
use ff_core::command::operator::SetTags;
use ff_core::fabric::{Fabric, On};
use ff_core::id::ExecutionId;
use ff_engine::Engine;
use futures::future::join;

use super::pair::{CHANGE, Pair, a_moment, submit, sweep_interval, take};
use super::{MEASURED_FROM, races};
use crate::support::{Luck, complete_all};

/// How long all but one in a hundred claims take at most.
const WITHIN: Span = Span::from_millis(100);

/// How long claims took.
#[derive(Default)]
struct Taken(Vec<Span>);

impl Taken {
    fn add(&mut self, begun: Instant, claimed: Instant) {
        self.0.push(claimed.saturating_duration_since(begun));
    }

    /// None was left until a sweep found it, and where there were many, hardly any waited. Says how long they took.
    fn judged(mut self, what: &str) -> String {
        self.0.sort_unstable();
        let last = self.0.len() - 1;
        let (median, most, longest) = (self.0[last / 2], self.0[last * 99 / 100], self.0[last]);
        assert!(longest < sweep_interval() / 2, "{what}: {longest:?}");
        assert!(races() < MEASURED_FROM || most < WITHIN, "{what}: {most:?}");
        let count = self.0.len();
        format!("{what}: {count} claims, median {median:?}, 99 % {most:?}, longest {longest:?}")
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_claim_brings_the_only_execution_although_somebody_is_changing_it() {
    let (pair, mut luck) = (Pair::start().await, Luck(2));
    let (mut there, mut to_come) = (Taken::default(), Taken::default());
    for race in 0..races() {
        let id = submit(&pair.one).await;
        let claim = async {
            a_moment(&mut luck, CHANGE).await;
            (Instant::now(), claim_only(&pair.one).await)
        };
        let ((begun, (task, claimed)), ()) = join(claim, tag(&pair.other, id, race)).await;
        there.add(begun, claimed);
        assert_eq!(task.execution_id, id);
        complete_all(&pair.one, &[task]).await;

        // Who waits already hears of it from the other server, which changes it at once.
        let submitted = async {
            let id = submit(&pair.other).await;
            let begun = Instant::now();
            tag(&pair.other, id, race).await;
            (id, begun)
        };
        let ((task, claimed), (id, begun)) = join(claim_only(&pair.one), submitted).await;
        to_come.add(begun, claimed);
        assert_eq!(task.execution_id, id);
        complete_all(&pair.one, &[task]).await;
    }
    println!("{}", there.judged("what is there"));
    println!("{}", to_come.judged("what comes"));
    pair.stop().await;
}

/// The lock is held for longer than a claim looks again at once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_claim_that_meets_a_locked_row_brings_it_soon_after_the_lock_is_gone() {
    let pair = Pair::start().await;
    let id = submit(&pair.one).await;
    let claim = async {
        pair.until_held().await;
        claim_only(&pair.one).await
    };
    let (freed, (task, claimed)) = join(pair.hold("SELECT FROM execution FOR UPDATE"), claim).await;
    assert_eq!(task.execution_id, id);
    let late = claimed.saturating_duration_since(freed);
    println!("claimed {late:?} after the lock was gone");
    assert!(late < sweep_interval() / 2, "{late:?}");
    pair.stop().await;
}

/// Takes the only execution there is; when it came.
async fn claim_only(engine: &Engine) -> (Task, Instant) {
    let mut tasks = take(engine, 1).await;
    assert_eq!(tasks.len(), 1, "a claim that waits comes back with it");
    (tasks.remove(0), Instant::now())
}

async fn tag(engine: &Engine, id: ExecutionId, race: u64) {
    let tags = [("race".to_owned(), race.to_string())].into();
    engine.set_tags(On::new(id, SetTags { tags })).await.unwrap();
}
