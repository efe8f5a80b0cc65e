//! Batches of calls about budgets and quotas, in which calls share steps, answer what the rules say, on one server and in a
//! cluster. The conformance suite asks one call at a time.

mod budgets;
mod contention;
mod quotas;

use ff_backend::Backend;
use ff_backend::due::{Due, DueKey};
use ff_backend_valkey::{Options, ValkeyBackend};
use ff_core::partition::Partition;
use ff_core::time::Timestamp;
use ff_valkey_server::{Cluster, Standalone};

/// The store of a server.
async fn open(urls: Vec<String>) -> ValkeyBackend {
    let options = Options {
        urls,
        ..Options::new("")
    };
    ValkeyBackend::open(&options).await.unwrap()
}

#[tokio::test]
async fn batches_about_budgets_answer_what_the_rules_say() {
    let server = Standalone::start(Default::default()).await;
    budgets::follow_the_rules(&open(vec![server.url()]).await).await;
}

#[tokio::test]
async fn batches_about_quotas_answer_what_the_rules_say() {
    let server = Standalone::start(Default::default()).await;
    quotas::follow_the_rules(&open(vec![server.url()]).await).await;
}

#[tokio::test]
async fn a_cluster_answers_what_the_rules_say() {
    let cluster = Cluster::start(Default::default()).await;
    let backend = open(cluster.urls()).await;
    budgets::follow_the_rules(&backend).await;
    quotas::follow_the_rules(&backend).await;
}

#[tokio::test]
async fn what_no_longer_counts_never_counts_again_however_much_it_is() {
    let server = Standalone::start(Default::default()).await;
    quotas::forget_many_places(&open(vec![server.url()]).await).await;
}

#[tokio::test]
async fn work_that_is_refused_again_is_not_forgotten() {
    let server = Standalone::start(Default::default()).await;
    quotas::refuse_twice(&open(vec![server.url()]).await).await;
}

#[tokio::test]
async fn no_change_is_lost_among_reports_and_other_changes() {
    let server = Standalone::start(Default::default()).await;
    contention::everybody_is_heard(&open(vec![server.url()]).await).await;
}

/// When something is due by what the store says, if it is due now.
async fn due_now(backend: &ValkeyBackend, partition: Partition, key: DueKey) -> (Timestamp, Option<Timestamp>) {
    let ask = Due {
        partitions: vec![partition],
        limit: 100,
    };
    let page = backend.due(ask).await.unwrap();
    let item = page.items.into_iter().find(|item| item.key == key);
    (page.now, item.map(|item| item.due_at))
}

/// Numbers that are the same in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn small(&mut self, end: u16) -> u16 {
        u16::try_from(self.below(u64::from(end))).unwrap()
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[usize::from(self.small(u16::try_from(from.len()).unwrap()))]
    }
}
