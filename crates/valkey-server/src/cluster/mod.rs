//! Three primaries with a replica each.

mod formation;
mod migration;
mod view;

use tokio::task::JoinHandle;

use crate::options::Options;
use crate::server::Server;
use crate::until::until;

pub use migration::Migration;
use view::{Layout, View};

const PRIMARIES: usize = 3;
const NODES: usize = 2 * PRIMARIES;
const SLOTS: u16 = 16_384;

/// Made for tests that kill a primary under load and want to see its replica in its place soon.
const DEFAULTS: [(&str, &str); 9] = [
    ("cluster-enabled", "yes"),
    // Short, and still longer than a busy machine lets a process wait: an unwanted failover would be a flaky test.
    ("cluster-node-timeout", "1500"),
    // Two thirds of the slots go on while the rest waits for its new primary: a test can ask for that.
    ("cluster-require-full-coverage", "no"),
    // A replica may take over however long it has not heard from its primary.
    ("cluster-replica-validity-factor", "0"),
    // Every replica stays with the primary the test knows it at.
    ("cluster-allow-replica-migration", "no"),
    ("repl-ping-replica-period", "1"),
    ("repl-diskless-sync", "yes"),
    ("repl-diskless-sync-delay", "0"),
    ("repl-timeout", "5"),
];

/// Six servers on loopback that share all slots; dropping it kills them.
///
/// A node keeps its number whatever its role: nodes 0 to 2 start as primaries, 3 to 5 as their replicas in the same order.
pub struct Cluster {
    nodes: Vec<Server>,
}

impl Cluster {
    /// Starts the nodes, forms the cluster and waits until it is whole.
    ///
    /// # Panics
    ///
    /// When that takes longer than half a minute.
    pub async fn start(options: Options) -> Cluster {
        let starting: Vec<JoinHandle<Server>> = (0..NODES)
            .map(|_| {
                let options = options.clone();
                tokio::spawn(async move { Server::start_node(&options, &DEFAULTS).await })
            })
            .collect();
        let mut nodes = Vec::new();
        for node in starting {
            nodes.push(node.await.expect("a node of the cluster did not start"));
        }
        let cluster = Cluster { nodes };
        cluster.form().await;
        cluster
    }

    /// The server with this number, to be killed, restarted, paused or asked.
    pub fn node(&self, node: usize) -> &Server {
        &self.nodes[node]
    }

    /// Where clients connect to any one node that runs.
    ///
    /// # Panics
    ///
    /// When none does.
    pub fn url(&self) -> String {
        let running = self.nodes.iter().find(|node| node.is_running());
        running.expect("no node of the cluster runs").url()
    }

    /// Where clients connect to each node, in the order of their numbers.
    pub fn urls(&self) -> Vec<String> {
        self.nodes.iter().map(Server::url).collect()
    }

    /// The nodes that own slots: first 0 or 3, then 1 or 4, then 2 or 5.
    ///
    /// One that was killed counts until its replica took over.
    pub async fn primaries(&self) -> Vec<usize> {
        view::newest(&self.views().await).primaries()
    }

    /// The primary that owns the slot.
    ///
    /// # Panics
    ///
    /// When no running node knows an owner.
    pub async fn node_of_slot(&self, slot: u16) -> usize {
        let owner = view::newest(&self.views().await).owner(slot);
        owner.unwrap_or_else(|| panic!("slot {slot} has no owner"))
    }

    /// The slot a key belongs to.
    pub async fn slot_of_key(&self, key: &[u8]) -> u16 {
        let running = self.nodes.iter().find(|node| node.is_running());
        let node = running.expect("no node of the cluster runs");
        let slot = node.command(&[b"CLUSTER", b"KEYSLOT", key]).await.integer();
        u16::try_from(slot).expect("a slot is below 16384")
    }

    /// Kills one of [`Cluster::primaries`], by its place there, and answers with its number.
    pub async fn kill_primary(&self, index: usize) -> usize {
        let node = self.primaries().await[index];
        self.nodes[node].kill();
        node
    }

    /// Waits until the nodes that run agree on who owns what, every slot has a running owner and every replica follows one.
    ///
    /// # Panics
    ///
    /// When that takes longer than half a minute.
    pub async fn wait_until_ok(&self) {
        until("the cluster is whole", || self.is_ok()).await;
    }

    async fn is_ok(&self) -> Result<(), String> {
        let mut agreed: Option<Layout> = None;
        for (number, node) in self.running() {
            view::expect_state_ok(node).await?;
            let layout = View::of(node, &self.nodes).await?.layout();
            if agreed.get_or_insert_with(|| layout.clone()) != &layout {
                return Err(format!("node {number} knows another layout"));
            }
        }
        let layout = agreed.ok_or("no node runs")?;
        self.expect_owners_running(&layout)?;
        self.expect_replicas_linked(&layout).await
    }

    fn expect_owners_running(&self, layout: &Layout) -> Result<(), String> {
        if (0..SLOTS).any(|slot| layout.owner(slot).is_none()) {
            return Err("a slot has no owner".to_owned());
        }
        match layout
            .primaries()
            .into_iter()
            .find(|&node| !self.nodes[node].is_running())
        {
            Some(node) => Err(format!("node {node} owns slots and does not run")),
            None => Ok(()),
        }
    }

    async fn expect_replicas_linked(&self, layout: &Layout) -> Result<(), String> {
        let primaries = layout.primaries();
        for (number, node) in self.running().filter(|(number, _)| !primaries.contains(number)) {
            let about = node.try_ask("INFO replication").await?;
            if !about.text().lines().any(|line| line == "master_link_status:up") {
                return Err(format!("node {number} is not linked to a primary"));
            }
        }
        Ok(())
    }

    fn running(&self) -> impl Iterator<Item = (usize, &Server)> {
        self.nodes.iter().enumerate().filter(|(_, node)| node.is_running())
    }

    /// What each running node believes; one that dies meanwhile believes nothing.
    async fn views(&self) -> Vec<View> {
        let mut views = Vec::new();
        for (_, node) in self.running() {
            views.extend(View::of(node, &self.nodes).await.ok());
        }
        views
    }
}
