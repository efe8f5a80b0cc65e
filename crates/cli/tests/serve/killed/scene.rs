//! A server that comes and goes, over a store that stays, and its clients.

use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ff_core::command::budget::CreateBudget;
use ff_core::name::Namespace;
use ff_core::record::OnHardLimit;
use ff_sdk::{Fabric, Remote};
use tokio::task::block_in_place;

use super::found::Found;
use super::ledger::Ledger;
use super::load::Load;
use super::told::Told;
use super::verdict::{Tally, Verdict};
use crate::luck::Luck;
use crate::running::Running;
use crate::served::{Place, Store};

/// Answers the clients get before a server counts as loaded.
const ANSWERS_MIN: u64 = 100;
/// Longer than anything here takes on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);
/// A call that is not answered is repeated for minutes.
const TRIES: usize = 50;

/// A server, its store and its clients.
pub(crate) struct Scene {
    // Dropped in this order: nobody writes to a folder that is gone.
    server: Option<Running>,
    load: Load,
    pub(crate) ledger: Arc<Ledger>,
    luck: Luck,
    seed: u64,
    pub(crate) place: Place,
    ended: usize,
}

/// What must still be so of all that clients were told, and what is wrong with the rest.
pub(crate) struct Left {
    pub(crate) told: Told,
    pub(crate) broken: Vec<String>,
}

impl Scene {
    /// Starts a server on a fresh store, and lets the clients begin.
    pub(crate) async fn begin(store: Store) -> Self {
        let seed = Luck::seed();
        let place = Place::of(store);
        let server = place.serve();
        let budget = CreateBudget {
            budget_id: None,
            namespace: Namespace::default_namespace(),
            scope: "everything".to_owned(),
            dimensions: Default::default(),
            reset_interval: None,
            on_hard_limit: OnHardLimit::default(),
        };
        let budget_id = client(&place).create_budget(budget).await.unwrap().budget_id;
        let ledger = Arc::new(Ledger::new(budget_id));
        Self {
            server: Some(server),
            load: Load::start(|| client(&place), &ledger, seed),
            ledger,
            luck: Luck::of(seed, 0),
            seed,
            place,
            ended: 0,
        }
    }

    /// A moment nobody chose, while everybody is at work.
    pub(crate) async fn under_load(&mut self) {
        let enough = self.ledger.answers() + ANSWERS_MIN;
        let begun = Instant::now();
        while self.ledger.answers() < enough {
            assert!(begun.elapsed() < PATIENCE, "the clients are not answered");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        self.pause(0..400).await;
    }

    /// Lets so many milliseconds pass.
    pub(crate) async fn pause(&mut self, milliseconds: Range<u64>) {
        self.luck.pause(milliseconds).await;
    }

    /// SIGKILL.
    pub(crate) fn kill(&mut self) {
        let server = self.server.take().expect("a server runs");
        block_in_place(|| server.kill());
        self.ended += 1;
    }

    /// SIGTERM; says how long it took. It must end well.
    pub(crate) fn stop(&mut self) -> Duration {
        let mut server = self.server.take().expect("a server runs");
        self.ended += 1;
        block_in_place(|| server.stop())
    }

    /// Starts another one in its place.
    pub(crate) fn start_again(&mut self) {
        self.server = Some(self.place.serve());
    }

    /// A client beside those at work.
    pub(crate) fn client(&self) -> Remote {
        client(&self.place)
    }

    /// Lets everything end, and compares it with what the clients were told.
    ///
    /// # Panics
    ///
    /// When something that was promised is not so.
    pub(crate) async fn end(self, how: &str) -> Tally {
        let all = |told, _: &[Found]| Left {
            told,
            broken: Vec::new(),
        };
        self.end_with(how, all).await
    }

    /// The same where not all must be so that clients were told.
    ///
    /// # Panics
    ///
    /// When something that was promised is not so.
    pub(crate) async fn end_with(mut self, how: &str, left: impl FnOnce(Told, &[Found]) -> Left) -> Tally {
        self.load.stop_submitting().await;
        let since = Instant::now();
        let mut verdict = Verdict::new(client(&self.place), &self.ledger);
        verdict.wait_for_ends().await;
        let drained_in = since.elapsed();
        self.load.stop_working().await;
        let found = verdict.read().await;
        let mut left = left(self.ledger.told(), &found);
        verdict.broken.append(&mut left.broken);
        verdict.compare(&left.told, &found).await;
        let (ended, seed) = (self.ended, self.seed);
        eprintln!("{how} {ended} times: {:?}, drained in {drained_in:?}", verdict.tally);
        let broken = &verdict.broken;
        assert!(
            broken.is_empty(),
            "{how}, FF_TEST_SEED={seed}: {} promises are broken:\n{}",
            broken.len(),
            broken[..broken.len().min(20)].join("\n")
        );
        verdict.tally
    }
}

fn client(place: &Place) -> Remote {
    Remote::connect(place.url()).tries(TRIES).open().unwrap()
}
