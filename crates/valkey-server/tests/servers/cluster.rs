//! A cluster: formed, robbed of a primary, and with slots on the move.

use std::time::Instant;

use ff_valkey_server::{Cluster, Options, Reply};

#[tokio::test]
async fn a_cluster_forms() {
    let started = Instant::now();
    let cluster = Cluster::start(Options::default()).await;
    println!("formed after {:?}", started.elapsed());
    assert_eq!(cluster.primaries().await, [0, 1, 2]);
    assert_eq!(cluster.urls().len(), 6);
    assert_eq!(cluster.url(), cluster.urls()[0]);
    for (first, last, owner) in [(0, 5_460, 0), (5_461, 10_921, 1), (10_922, 16_383, 2)] {
        assert_eq!(cluster.node_of_slot(first).await, owner, "slot {first}");
        assert_eq!(cluster.node_of_slot(last).await, owner, "slot {last}");
    }
    let about = cluster.node(0).info("replication").await;
    assert!(
        about.contains("connected_slaves:1") && about.contains("state=online"),
        "{about}"
    );
}

#[tokio::test]
async fn a_killed_primary_is_replaced_by_its_replica() {
    let cluster = Cluster::start(Options::default()).await;
    let (key, slot) = key_at(&cluster, 1).await;
    set(&cluster, 1, &key, "green").await;
    assert_eq!(cluster.node(1).ask("WAIT 1 5000").await.integer(), 1);

    let killed_at = Instant::now();
    assert_eq!(cluster.kill_primary(1).await, 1);
    assert_eq!(
        cluster.node_of_slot(slot).await,
        1,
        "its replica cannot have noticed yet"
    );
    cluster.wait_until_ok().await;
    println!("replaced after {:?}", killed_at.elapsed());
    assert_eq!(cluster.primaries().await, [0, 4, 2]);
    assert_eq!(get(&cluster, 4, &key).await.text(), "green");

    let restarted_at = Instant::now();
    cluster.node(1).restart().await;
    cluster.wait_until_ok().await;
    println!("back as a replica after {:?}", restarted_at.elapsed());
    assert_eq!(cluster.primaries().await, [0, 4, 2]);
    assert!(cluster.node(1).info("replication").await.contains("role:slave"));
}

#[tokio::test]
async fn a_primary_that_was_paused_too_long_comes_back_as_a_replica() {
    let cluster = Cluster::start(Options::default()).await;
    cluster.node(0).pause();
    cluster.wait_until_ok().await;
    assert_eq!(cluster.primaries().await, [3, 1, 2]);
    cluster.node(0).resume();
    cluster.wait_until_ok().await;
    assert!(cluster.node(0).info("replication").await.contains("role:slave"));
}

#[tokio::test]
async fn a_slot_moves_with_its_keys() {
    let cluster = Cluster::start(Options::default()).await;
    let (tag, slot) = key_at(&cluster, 0).await;
    let keys: Vec<String> = (0..10).map(|number| format!("{{{tag}}}{number}")).collect();
    for key in &keys {
        set(&cluster, 0, key, "green").await;
    }

    let migration = cluster.begin_migration(slot, 2).await;
    assert_eq!((migration.from(), migration.to()), (0, 2));
    assert_eq!(migration.move_some_keys(4).await, 4);
    assert_eq!(cluster.node_of_slot(slot).await, 0);
    assert_eq!(
        cluster
            .node(0)
            .ask(&format!("CLUSTER COUNTKEYSINSLOT {slot}"))
            .await
            .integer(),
        6
    );
    let asked = get(&cluster, 0, &format!("{{{tag}}}new")).await;
    assert!(
        matches!(&asked, Reply::Error(message) if message.starts_with("ASK ")),
        "{asked:?}"
    );

    migration.finish().await;
    assert_eq!(cluster.node_of_slot(slot).await, 2);
    for key in &keys {
        assert_eq!(get(&cluster, 2, key).await.text(), "green");
    }
    let moved = get(&cluster, 0, &keys[0]).await;
    assert!(
        matches!(&moved, Reply::Error(message) if message.starts_with("MOVED ")),
        "{moved:?}"
    );

    cluster.wait_until_ok().await;
    cluster.migrate_slot(slot, 0).await;
    cluster.wait_until_ok().await;
    assert_eq!(get(&cluster, 0, &keys[9]).await.text(), "green");
}

#[tokio::test]
async fn a_cluster_with_a_user_forms_and_moves_slots() {
    let cluster = Cluster::start(Options::default().user("ali", "sesame")).await;
    let (key, slot) = key_at(&cluster, 0).await;
    set(&cluster, 0, &key, "green").await;
    cluster.migrate_slot(slot, 1).await;
    assert_eq!(get(&cluster, 1, &key).await.text(), "green");
}

/// A key whose slot belongs to the node.
async fn key_at(cluster: &Cluster, node: usize) -> (String, u16) {
    for number in 0.. {
        let key = format!("key{number}");
        let slot = cluster.slot_of_key(key.as_bytes()).await;
        if cluster.node_of_slot(slot).await == node {
            return (key, slot);
        }
    }
    unreachable!("some key hashes to every node")
}

async fn set(cluster: &Cluster, node: usize, key: &str, value: &str) {
    assert_eq!(
        cluster
            .node(node)
            .command(&[b"SET", key.as_bytes(), value.as_bytes()])
            .await
            .text(),
        "OK"
    );
}

async fn get(cluster: &Cluster, node: usize, key: &str) -> Reply {
    cluster.node(node).command(&[b"GET", key.as_bytes()]).await
}
