//! A cluster: who owns which slot, and a connection to each node.
//!
//! A command is sent once, to the owner as far as it is known. Redirections are not followed and nothing is repeated here:
//! only then does an error say whether the command may have been run. Whoever hears that it was not asks again, and meanwhile
//! the cluster was asked anew who owns what.

mod layout;
mod node;

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures::future::join_all;
use redis::{Cmd, ErrorKind, RedisError, RedisResult, ServerErrorKind, Value};
use tokio::time::timeout;

pub(crate) use layout::slot_of;
use layout::{Layout, Location};
use node::Node;

use crate::client::Nodes;
use crate::open::Addresses;
use crate::shared::locked;

/// How long one node may take to say who owns what: another one knows it too.
const LAYOUT_TIMEOUT: Duration = Duration::from_secs(1);
/// Everybody who fails within this time has failed for the same reason.
const LEARN_EVERY: Duration = Duration::from_millis(50);

/// The nodes of a cluster. Every clone shares the connections.
#[derive(Clone)]
pub(crate) struct Cluster(Arc<Inner>);

struct Inner {
    seeds: Addresses,
    layout: Mutex<Arc<Layout>>,
    nodes: Mutex<HashMap<Location, Arc<Node>>>,
    /// When the cluster was last asked who owns what; held by whoever asks.
    learned_at: tokio::sync::Mutex<Option<Instant>>,
    /// Counts the askings, so that a node that knows nothing new is not always asked first.
    askings: AtomicUsize,
}

impl Cluster {
    /// Connects to a cluster some of whose nodes are named.
    pub(crate) async fn connect(seeds: &Addresses) -> RedisResult<Self> {
        let cluster = Self(Arc::new(Inner {
            seeds: seeds.clone(),
            layout: Mutex::default(),
            nodes: Mutex::default(),
            learned_at: tokio::sync::Mutex::default(),
            askings: AtomicUsize::new(0),
        }));
        cluster.learn().await?;
        Ok(cluster)
    }

    /// Runs a command at the owner of a slot.
    pub(crate) async fn run(&self, command: &Cmd, slot: u16) -> RedisResult<Value> {
        let reply = match self.layout().owner(slot) {
            Some(owner) => self.node(owner).run(command).await,
            None => Err(not_sent(format!("slot {slot} has no owner"))),
        };
        if reply.as_ref().is_err_and(is_about_layout) {
            self.learn_if_possible().await;
        }
        reply
    }

    /// Runs a command on many nodes; those that cannot be reached at the moment are left out.
    pub(crate) async fn run_on(&self, nodes: Nodes, command: &Cmd) -> RedisResult<Vec<RedisResult<Value>>> {
        let layout = self.layout();
        let locations = match nodes {
            Nodes::All => layout.all(),
            Nodes::Primaries => layout.primaries(),
        };
        let nodes: Vec<Arc<Node>> = locations.into_iter().map(|location| self.node(location)).collect();
        let replies = join_all(nodes.iter().map(|node| node.run(command))).await;
        if replies.iter().flatten().count() < replies.len() {
            self.learn_if_possible().await;
        }
        let is_reached = |reply: &RedisResult<Value>| !matches!(reply, Err(error) if error.kind() == NOT_SENT);
        Ok(replies.into_iter().filter(is_reached).collect())
    }

    fn layout(&self) -> Arc<Layout> {
        Arc::clone(&locked(&self.0.layout))
    }

    fn node(&self, location: &Location) -> Arc<Node> {
        let mut nodes = locked(&self.0.nodes);
        let node = nodes.entry(location.clone());
        Arc::clone(node.or_insert_with(|| Arc::new(Node::new(location.address(&self.0.seeds)))))
    }

    async fn learn_if_possible(&self) {
        if let Err(error) = self.learn().await {
            tracing::debug!(%error, "nobody says who owns what");
        }
    }

    /// Asks the cluster who owns what, unless that was just done, be it in vain: whoever waited for the answer has it.
    async fn learn(&self) -> RedisResult<()> {
        let mut learned_at = self.0.learned_at.lock().await;
        if learned_at.is_some_and(|at| at.elapsed() < LEARN_EVERY) {
            return Ok(());
        }
        let layout = self.ask_around().await;
        *learned_at = Some(Instant::now());
        let layout = layout?;
        locked(&self.0.nodes).retain(|location, _| layout.has(location));
        *locked(&self.0.layout) = Arc::new(layout);
        Ok(())
    }

    async fn ask_around(&self) -> RedisResult<Layout> {
        let mut command = redis::cmd("CLUSTER");
        command.arg("SLOTS");
        let mut failure = not_sent("no address was given".to_owned());
        for location in self.who_may_know() {
            let node = self.node(&location);
            match timeout(LAYOUT_TIMEOUT, node.run(&command)).await {
                Ok(Ok(reply)) => return Layout::parse(reply, &location),
                Ok(Err(error)) => failure = error,
                Err(_) => failure = not_sent("no answer in time".to_owned()),
            }
        }
        Err(failure)
    }

    /// The nodes that are known, another one first each time, and those that were named.
    fn who_may_know(&self) -> Vec<Location> {
        let layout = self.layout();
        let mut known: Vec<Location> = layout.all().into_iter().cloned().collect();
        if !known.is_empty() {
            let first = self.0.askings.fetch_add(1, Ordering::Relaxed) % known.len();
            known.rotate_left(first);
        }
        known.extend(self.0.seeds.iter().filter_map(Location::of));
        known
    }
}

/// The kind of what was never sent.
const NOT_SENT: ErrorKind = ErrorKind::ClusterConnectionNotFound;

/// A command that was never sent.
fn not_sent(why: String) -> RedisError {
    (NOT_SENT, "the node cannot be reached", why).into()
}

/// Whether an error may come from asking the wrong node.
fn is_about_layout(error: &RedisError) -> bool {
    match error.kind() {
        ErrorKind::Server(kind) => matches!(
            kind,
            ServerErrorKind::Moved
                | ServerErrorKind::ReadOnly
                | ServerErrorKind::ClusterDown
                | ServerErrorKind::MasterDown
                | ServerErrorKind::BusyLoading
        ),
        ErrorKind::Io | NOT_SENT => true,
        _ => false,
    }
}
