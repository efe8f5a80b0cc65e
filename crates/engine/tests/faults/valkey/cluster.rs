//! Six nodes: three primaries and their replicas.

use std::collections::BTreeSet;
use std::time::Duration;

use ff_core::partition::{Family, PartitionCounts};
use ff_valkey_server::Cluster;

use super::open;
use crate::often::usually_or_in_full;
use crate::scene::Scene;
use crate::window::Window;

/// Primaries that are killed, usually and when there is time.
const KILLS: (usize, usize) = (4, 20);
const PAUSES: usize = 1;
const FLUSHES: usize = 4;
const MIGRATIONS: usize = 5;
const CUTS: usize = 4;

const PRIMARIES: usize = 3;
const SLOTS: usize = 16_384;

/// How long a replica may not have heard its primary in this test. What a primary acknowledges leaves it for its replica in the
/// same turn of its loop, so that nothing is lost as long as the connection between them holds.
const UNREPLICATED: Duration = Duration::from_secs(1);
/// Until a replica has taken over, and the old primary has noticed.
const TAKEOVER: Duration = Duration::from_secs(10);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_primary_that_dies_loses_only_what_its_replica_had_not_heard() {
    let cluster = Cluster::start(Default::default()).await;
    let slots = slots(&cluster).await;
    let mut scene = Scene::begin(|| open(cluster.urls())).await;
    for kill in 0..usually_or_in_full(KILLS) {
        scene.random_moment(500..1_500).await;
        let index = scene.luck.below(PRIMARIES);
        let primary = cluster.primaries().await[index];
        let replica = cluster.node((primary + PRIMARIES) % (2 * PRIMARIES));
        if kill % 2 == 0 {
            // What is acknowledged from here on, nobody else hears.
            replica.pause();
            cluster.node(primary).ask("CLIENT KILL TYPE replica").await;
            scene.random_moment(100..600).await;
        }
        cluster.node(primary).kill();
        let window = Window::before_now(UNREPLICATED, Some(partitions_of(&slots, index)));
        scene.windows.add(window);
        replica.resume();
        wait_for_takeover(&cluster, primary).await;
        scene.random_moment(0..500).await;
        cluster.node(primary).restart().await;
        cluster.wait_until_ok().await;
    }
    for _ in 0..PAUSES {
        scene.random_moment(500..1_500).await;
        let index = scene.luck.below(PRIMARIES);
        let primary = cluster.primaries().await[index];
        cluster.node(primary).pause();
        wait_for_takeover(&cluster, primary).await;
        // It goes on where it was, with what clients had sent, and does not know that it is no primary any more.
        cluster.node(primary).resume();
        cluster.wait_until_ok().await;
        let window = Window::before_now(TAKEOVER, Some(partitions_of(&slots, index)));
        scene.windows.add(window);
    }
    scene.random_moment(300..600).await;
    let tally = scene.end("primary kills").await;
    assert!(tally.losses() > 0, "a replica that hears everything tests nothing");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn functions_vanish_slots_move_and_connections_break_and_nothing_is_lost() {
    let cluster = Cluster::start(Default::default()).await;
    let slots = slots(&cluster).await;
    let mut scene = Scene::begin(|| open(cluster.urls())).await;
    for _ in 0..FLUSHES {
        scene.random_moment(100..700).await;
        on_every_primary(&cluster, "FUNCTION FLUSH").await;
    }
    scene.random_moment(200..400).await;
    assert_eq!(scene.retries(), 0, "somebody noticed that functions vanished");
    for _ in 0..MIGRATIONS {
        scene.random_moment(100..400).await;
        let slot = slots[scene.luck.below(slots.len())];
        migrate(&cluster, slot, &mut scene).await;
    }
    for _ in 0..CUTS {
        scene.random_moment(100..700).await;
        on_every_primary(&cluster, "CLIENT KILL TYPE normal").await;
        on_every_primary(&cluster, "CLIENT KILL TYPE pubsub").await;
    }
    scene.random_moment(300..600).await;
    let tally = scene.end("flushes, migrations and cuts").await;
    assert_eq!(tally.losses(), 0);
}

async fn on_every_primary(cluster: &Cluster, line: &str) {
    for primary in cluster.primaries().await {
        cluster.node(primary).ask(line).await;
    }
}

async fn wait_for_takeover(cluster: &Cluster, primary: usize) {
    while cluster.primaries().await.contains(&primary) {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Moves a slot to another primary, a few keys at a time.
async fn migrate(cluster: &Cluster, slot: u16, scene: &mut Scene) {
    let from = cluster.node_of_slot(slot).await;
    let mut others = cluster.primaries().await;
    others.retain(|node| *node != from);
    let to = others[scene.luck.below(others.len())];
    let migration = cluster.begin_migration(slot, to).await;
    scene.random_moment(0..100).await;
    while migration.move_some_keys(3).await > 0 {
        scene.random_moment(0..30).await;
    }
    migration.finish().await;
}

/// The slot of each partition.
async fn slots(cluster: &Cluster) -> Vec<u16> {
    let mut slots = Vec::new();
    for partition in PartitionCounts::default().all(Family::Flow) {
        let key = format!("{{fp:{}}}:x", partition.index);
        slots.push(cluster.slot_of_key(key.as_bytes()).await);
    }
    slots
}

/// The partitions that live at a primary and its replica, as long as no slot was moved.
fn partitions_of(slots: &[u16], index: usize) -> BTreeSet<u16> {
    let bound = |number: usize| number * SLOTS / PRIMARIES;
    let here = |slot: &u16| (bound(index)..bound(index + 1)).contains(&usize::from(*slot));
    let partitions = (0..).zip(slots).filter(|(_, slot)| here(slot));
    partitions.map(|(partition, _)| partition).collect()
}
