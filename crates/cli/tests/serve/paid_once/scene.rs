//! A server, some agents, and a worker process that does not live long.

use std::time::{Duration, Instant};

use ff_core::command::budget::CreateBudget;
use ff_core::id::BudgetId;
use ff_core::name::Namespace;
use ff_core::record::OnHardLimit;
use ff_sdk::{Client, Fabric, Run, Submission};
use tokio::task::block_in_place;

use super::agent::{Agent, start_worker};
use super::ledger::Ledger;
use super::verdict::Verdict;
use crate::luck::Luck;
use crate::once_more::Working;
use crate::running::Running;
use crate::served::{Place, Store};

/// Longer than anything here takes on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// A server, some agents, and a worker process.
pub(crate) struct Scene {
    // Dropped in this order: nobody writes to a folder that is gone.
    worker: Option<Working>,
    _server: Running,
    client: Client,
    budget: BudgetId,
    runs: Vec<Run<u64>>,
    ledger: Ledger,
    killed: usize,
    luck: Luck,
    seed: u64,
    place: Place,
}

impl Scene {
    /// Starts a server on a fresh store, submits so many agents and starts the first worker.
    pub(crate) async fn begin(store: Store, agents: usize) -> Self {
        let seed = Luck::seed();
        let place = Place::of(store);
        let server = place.serve();
        let client = Client::connect(place.url()).open().unwrap();
        let budget = budget(&client).await;
        let agents = (0..agents).map(|_| {
            Submission::new(Agent { budget }).policy(|policy| {
                policy.max_reclaim_count = Some(1_000);
            })
        });
        let runs = client.submit_all(agents).await.unwrap();
        let mut scene = Self {
            worker: None,
            _server: server,
            client,
            budget,
            runs: runs.into_iter().map(Result::unwrap).collect(),
            ledger: Ledger {
                path: place.folder.path().join("ledger"),
            },
            killed: 0,
            luck: Luck::of(seed, 0),
            seed,
            place,
        };
        scene.start_a_worker();
        scene
    }

    pub(crate) fn start_a_worker(&mut self) {
        self.worker = Some(start_worker(self.killed, &self.place.url(), &self.ledger.path));
    }

    /// A moment nobody chose, after the worker has begun to do something.
    pub(crate) async fn at_work(&mut self) {
        let enough = self.ledger.lines().len() + 1 + self.luck.below(25);
        let begun = Instant::now();
        while self.ledger.lines().len() < enough {
            let seed = self.seed;
            assert!(
                begun.elapsed() < PATIENCE,
                "FF_TEST_SEED={seed}: the worker does nothing"
            );
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        self.luck.pause(0..30).await;
    }

    /// SIGKILL.
    pub(crate) fn kill_the_worker(&mut self) {
        let worker = self.worker.take().expect("a worker runs");
        block_in_place(|| worker.kill());
        self.killed += 1;
    }

    /// Lets every agent end, and compares what is recorded with what was done.
    ///
    /// # Panics
    ///
    /// When something ran again, is missing or was not paid for once.
    pub(crate) async fn end(mut self) {
        let mut verdict = Verdict::of(&self.ledger, self.killed, self.budget);
        for run in &self.runs {
            let result = run.result_within(PATIENCE).await;
            let result = result.unwrap_or_else(|error| panic!("FF_TEST_SEED={}: {error}", self.seed));
            verdict.judge(run, result).await;
        }
        let worker = self.worker.take().expect("a worker runs");
        block_in_place(|| worker.end());
        verdict.judge_budget(&self.client).await;
        eprintln!(
            "{} agents, {} workers killed: {}",
            self.runs.len(),
            self.killed,
            verdict
        );
        verdict.assert(self.seed);
    }
}

async fn budget(client: &Client) -> BudgetId {
    let create = CreateBudget {
        budget_id: None,
        namespace: Namespace::default_namespace(),
        scope: "agents".to_owned(),
        dimensions: Default::default(),
        reset_interval: None,
        on_hard_limit: OnHardLimit::default(),
    };
    client.create_budget(create).await.unwrap().budget_id
}
