//! Moving a slot from one primary to another, key by key, with time to act in between.

use super::{Cluster, SLOTS};
use crate::resp::Reply;

/// A slot on its way: both nodes know, and each key is at one of them.
///
/// The source sends clients to the target (`ASK`) for keys it does not have; a command with keys at both is refused
/// (`TRYAGAIN`). Dropped without [`Migration::finish`], it stays like that; when one of the two was killed and replaced, begin
/// again.
pub struct Migration<'a> {
    cluster: &'a Cluster,
    slot: u16,
    from: usize,
    to: usize,
}

impl Cluster {
    /// Moves a slot with all its keys to another primary.
    ///
    /// # Panics
    ///
    /// When a node refuses its part.
    pub async fn migrate_slot(&self, slot: u16, to: usize) {
        self.begin_migration(slot, to).await.finish().await;
    }

    /// Opens a slot for its move to another primary; no key moves yet.
    ///
    /// # Panics
    ///
    /// When the slot is there already, or a node refuses its part.
    pub async fn begin_migration(&self, slot: u16, to: usize) -> Migration<'_> {
        assert!(slot < SLOTS, "there is no slot {slot}");
        let from = self.node_of_slot(slot).await;
        assert_ne!(from, to, "slot {slot} belongs to node {to} already");
        let migration = Migration {
            cluster: self,
            slot,
            from,
            to,
        };
        let (source_id, target_id) = (self.id(from).await, self.id(to).await);
        // The target first: it must know what a client that was sent there is asking for.
        migration.set_slot(to, &format!("IMPORTING {source_id}")).await;
        migration.set_slot(from, &format!("MIGRATING {target_id}")).await;
        migration
    }

    async fn id(&self, node: usize) -> String {
        self.node(node).ask("CLUSTER MYID").await.text().to_owned()
    }
}

impl Migration<'_> {
    /// The node the slot comes from.
    pub fn from(&self) -> usize {
        self.from
    }

    /// The node the slot goes to.
    pub fn to(&self) -> usize {
        self.to
    }

    /// Moves up to `count` keys and answers with how many it were; zero when none is left.
    ///
    /// # Panics
    ///
    /// When a node refuses its part.
    pub async fn move_some_keys(&self, count: usize) -> usize {
        let keys = self.keys_at_source(count).await;
        if keys.is_empty() {
            return 0;
        }
        let port = self.cluster.node(self.to).port().to_string();
        let mut words: Vec<&[u8]> = vec![
            b"MIGRATE",
            b"127.0.0.1",
            port.as_bytes(),
            b"",
            b"0",
            b"5000",
            b"REPLACE",
        ];
        let source = self.cluster.node(self.from);
        words.extend(source.login_words(b"AUTH2"));
        words.push(b"KEYS");
        words.extend(keys.iter().map(Vec::as_slice));
        let moved = source.command(&words).await;
        assert!(
            matches!(moved, Reply::Status(_)),
            "keys of slot {} did not move from node {} to node {}: {moved:?}",
            self.slot,
            self.from,
            self.to
        );
        keys.len()
    }

    /// Moves what is left and makes the target the owner.
    ///
    /// # Panics
    ///
    /// When a node refuses its part.
    pub async fn finish(self) {
        while self.move_some_keys(100).await > 0 {}
        let owner = format!("NODE {}", self.cluster.id(self.to).await);
        // The target first, so that at no moment nobody owns the slot; the others would hear of it by gossip, later.
        self.set_slot(self.to, &owner).await;
        self.set_slot(self.from, &owner).await;
        for node in self.cluster.primaries().await {
            if ![self.to, self.from].contains(&node) && self.cluster.node(node).is_running() {
                self.set_slot(node, &owner).await;
            }
        }
    }

    async fn set_slot(&self, node: usize, change: &str) {
        self.cluster
            .node(node)
            .ask(&format!("CLUSTER SETSLOT {} {change}", self.slot))
            .await;
    }

    async fn keys_at_source(&self, count: usize) -> Vec<Vec<u8>> {
        let source = self.cluster.node(self.from);
        let found = source
            .ask(&format!("CLUSTER GETKEYSINSLOT {} {count}", self.slot))
            .await;
        let key = |reply: &Reply| match reply {
            Reply::Bytes(key) => key.clone(),
            other => panic!("expected a key from the Valkey server and got {other:?}"),
        };
        found.array().iter().map(key).collect()
    }
}
