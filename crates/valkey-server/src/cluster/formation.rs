//! How six servers become a cluster.

use super::view::View;
use super::{Cluster, NODES, PRIMARIES, SLOTS};
use crate::server::Server;
use crate::until::until;

impl Cluster {
    pub(super) async fn form(&self) {
        self.assign_slots().await;
        self.meet().await;
        self.replicate().await;
        self.wait_until_ok().await;
    }

    /// Different epochs from the start, so that no two primaries have to settle which of them goes first.
    async fn assign_slots(&self) {
        for (number, node) in self.nodes[..PRIMARIES].iter().enumerate() {
            let bound = |number: usize| number * usize::from(SLOTS) / PRIMARIES;
            let (first, last) = (bound(number), bound(number + 1) - 1);
            node.ask(&format!("CLUSTER SET-CONFIG-EPOCH {}", number + 1)).await;
            node.ask(&format!("CLUSTER ADDSLOTSRANGE {first} {last}")).await;
        }
    }

    /// Everybody meets everybody: hearing of each other through a third takes seconds.
    async fn meet(&self) {
        for (number, node) in self.nodes.iter().enumerate() {
            for other in &self.nodes[..number] {
                let bus_port = other.bus_port().expect("a node has a bus port");
                node.ask(&format!("CLUSTER MEET 127.0.0.1 {} {bus_port}", other.port()))
                    .await;
            }
        }
        for node in &self.nodes {
            until("every node knows every other", || self.expect_acquainted(node)).await;
        }
    }

    async fn expect_acquainted(&self, node: &Server) -> Result<(), String> {
        match View::of(node, &self.nodes).await?.acquaintances() {
            NODES => Ok(()),
            known => Err(format!("the node at port {} knows {known}", node.port())),
        }
    }

    async fn replicate(&self) {
        for (primary, replica) in self.nodes[..PRIMARIES].iter().zip(&self.nodes[PRIMARIES..]) {
            let id = primary.ask("CLUSTER MYID").await;
            replica.ask(&format!("CLUSTER REPLICATE {}", id.text())).await;
        }
    }
}
