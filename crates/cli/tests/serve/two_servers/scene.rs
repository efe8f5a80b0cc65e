//! Two servers that come and go, over a database that stays, and their clients.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ff_core::command::budget::CreateBudget;
use ff_core::command::quota::CreateQuotaPolicy;
use ff_core::name::{Dimension, Namespace};
use ff_core::record::{Limits, OnHardLimit};
use ff_postgres_server::{Options, Server};
use ff_sdk::{Fabric, Remote};
use tokio::task::{JoinSet, block_in_place};

use super::pulse::{Beats, Pulse};
use crate::killed::held::UNITS;
use crate::killed::ledger::Ledger;
use crate::killed::load::Load;
use crate::killed::verdict::Verdict;
use crate::luck::Luck;
use crate::running::Running;
use crate::served::{Place, Store};

/// How soon a server goes on, whatever happens to the other.
const GOES_ON_WITHIN: Duration = Duration::from_secs(2);
/// Answers the clients get before the servers count as loaded.
const ANSWERS_MIN: u64 = 100;
/// Longer than anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// A call that is not answered is repeated for minutes.
const TRIES: usize = 50;
/// More than is ever asked for: both are counted with every claim, and hold nobody back.
const LEASES_MAX: u64 = 1_000;
const UNITS_MAX: u64 = 1 << 40;

/// Which of the two.
pub(crate) type Which = usize;

/// Two servers and their clients.
pub(crate) struct Scene {
    // Dropped in this order: nobody writes to a database that is gone.
    servers: [Option<Running>; 2],
    load: Load,
    pulses: JoinSet<()>,
    beats: [Arc<Beats>; 2],
    ledger: Arc<Ledger>,
    luck: Luck,
    seed: u64,
    places: [Place; 2],
    longest_silence: Duration,
    _database: Server,
}

impl Scene {
    /// Starts the servers, and lets the clients begin.
    pub(crate) async fn begin() -> Self {
        let seed = Luck::seed();
        // A server refuses a database that forgets.
        let database = Server::start(Options::default().fsync(true)).await;
        let url = database.url(&database.create_database().await);
        let places = [0, 1].map(|_| Place::of(Store::At(url.clone())));
        let servers = places.each_ref().map(|place| Some(place.serve()));
        let ledger = Arc::new(ledger(&client(&places[0])).await);
        let mut turns = places.iter().cycle();
        let load = Load::start(|| client(turns.next().unwrap()), &ledger, seed);
        let beats: [Arc<Beats>; 2] = Default::default();
        let mut pulses = JoinSet::new();
        for which in [0, 1] {
            let pulse = Pulse {
                client: client(&places[which]),
                ledger: Arc::clone(&ledger),
                beats: Arc::clone(&beats[which]),
                name: format!("pulse-{which}"),
            };
            pulses.spawn(pulse.run());
        }
        Self {
            servers,
            load,
            pulses,
            beats,
            ledger,
            luck: Luck::of(seed, 0),
            seed,
            places,
            longest_silence: Duration::ZERO,
            _database: database,
        }
    }

    /// A moment nobody chose, while everybody is at work at both servers.
    pub(crate) async fn under_load(&mut self) {
        let enough = self.ledger.answers() + ANSWERS_MIN;
        let begun = Instant::now();
        // Clients of a server that was away come back after a while.
        while self.ledger.answers() < enough || !self.beats.iter().all(|beats| beats.any(begun)) {
            assert!(begun.elapsed() < PATIENCE, "the clients are not answered");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        self.luck.pause(0..400).await;
    }

    /// One of the two, and the other.
    pub(crate) fn either(&mut self) -> (Which, Which) {
        let one = self.luck.below(2);
        (one, 1 - one)
    }

    /// SIGKILL.
    pub(crate) fn kill(&mut self, which: Which) {
        let server = self.servers[which].take().expect("it runs");
        block_in_place(|| server.kill());
    }

    /// Starts another one in its place.
    pub(crate) fn start_again(&mut self, which: Which) {
        self.servers[which] = Some(self.places[which].serve());
    }

    /// SIGSTOP.
    pub(crate) fn pause(&self, which: Which) {
        self.servers[which].as_ref().expect("it runs").pause();
    }

    /// SIGCONT.
    pub(crate) fn resume(&self, which: Which) {
        self.servers[which].as_ref().expect("it runs").resume();
    }

    /// Looks at a server for some time: it claims and completes without a pause.
    ///
    /// # Panics
    ///
    /// When it does not.
    pub(crate) async fn goes_on(&mut self, which: Which, time: Duration) {
        let since = Instant::now();
        tokio::time::sleep(time).await;
        let silence = self.beats[which].longest_silence(since);
        let seed = self.seed;
        assert!(
            silence < GOES_ON_WITHIN,
            "FF_TEST_SEED={seed}: the other server completed nothing for {silence:?}"
        );
        self.longest_silence = self.longest_silence.max(silence);
    }

    /// Lets everything end, and compares it with what the clients were told.
    ///
    /// # Panics
    ///
    /// When something that was promised is not so.
    pub(crate) async fn end(mut self, how: &str) {
        self.load.stop_submitting().await;
        let since = Instant::now();
        let mut verdict = Verdict::new(client(&self.places[0]), &self.ledger);
        verdict.wait_for_ends().await;
        let drained_in = since.elapsed();
        self.load.stop_working().await;
        while self.pulses.join_next().await.transpose().unwrap().is_some() {}
        verdict.judge().await;
        let (silence, seed) = (self.longest_silence, self.seed);
        eprintln!(
            "{how}: {:?}, drained in {drained_in:?}, silent for {silence:?} at most",
            verdict.tally
        );
        let broken = &verdict.broken;
        assert!(
            broken.is_empty(),
            "{how}, FF_TEST_SEED={seed}: {} promises are broken:\n{}",
            broken.len(),
            broken[..broken.len().min(20)].join("\n")
        );
    }
}

/// What everybody is told is noted under one budget and one quota.
async fn ledger(client: &Remote) -> Ledger {
    let limits = Limits {
        soft: None,
        hard: Some(UNITS_MAX),
    };
    let budget = CreateBudget {
        budget_id: None,
        namespace: Namespace::default_namespace(),
        scope: "everything".to_owned(),
        dimensions: BTreeMap::from([(Dimension::parse(UNITS).unwrap(), limits)]),
        reset_interval: None,
        on_hard_limit: OnHardLimit::default(),
    };
    let quota = CreateQuotaPolicy {
        quota_policy_id: None,
        namespace: Namespace::default_namespace(),
        window: ff_core::time::Duration::from_secs(60),
        max_requests_per_window: Some(UNITS_MAX),
        max_concurrent: Some(LEASES_MAX),
        jitter: ff_core::time::Duration::ZERO,
    };
    let budget_id = client.create_budget(budget).await.unwrap().budget_id;
    let quota = client.create_quota_policy(quota).await.unwrap();
    let mut ledger = Ledger::new(budget_id);
    ledger.quota_policy_id = Some(quota.quota_policy_id);
    ledger
}

fn client(place: &Place) -> Remote {
    Remote::connect(place.url()).tries(TRIES).open().unwrap()
}
