//! What a node believes about the cluster.

use std::collections::{BTreeMap, BTreeSet};

use super::{PRIMARIES, SLOTS};
use crate::server::Server;

/// What one node answers to `CLUSTER NODES`.
pub(super) struct View {
    members: Vec<Member>,
}

/// One line of it: `id address flags primary ping pong epoch link slots…`.
struct Member {
    /// Its number among ours; `None` while a handshake has not told its address.
    node: Option<usize>,
    id: String,
    in_handshake: bool,
    primary_id: Option<String>,
    epoch: u64,
    slots: Vec<(u16, u16)>,
}

/// Who owns which slots and who follows whom.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Layout {
    owners: Vec<Option<usize>>,
    followed: BTreeMap<usize, usize>,
}

impl View {
    pub(super) async fn of(node: &Server, nodes: &[Server]) -> Result<View, String> {
        let answer = node.try_ask("CLUSTER NODES").await?;
        let members: Option<_> = answer.text().lines().map(|line| Member::read(line, nodes)).collect();
        members
            .map(|members| View { members })
            .ok_or_else(|| format!("not a list of nodes: {}", answer.text()))
    }

    /// How many members this one could name to others.
    pub(super) fn acquaintances(&self) -> usize {
        self.members
            .iter()
            .filter(|member| !member.in_handshake && member.node.is_some())
            .count()
    }

    pub(super) fn layout(&self) -> Layout {
        let numbers: BTreeMap<&str, usize> = self
            .members
            .iter()
            .filter_map(|member| Some((member.id.as_str(), member.node?)))
            .collect();
        let followed = self.members.iter().filter_map(|member| {
            let primary = numbers.get(member.primary_id.as_deref()?)?;
            Some((member.node?, *primary))
        });
        Layout {
            followed: followed.collect(),
            ..newest(std::slice::from_ref(self))
        }
    }
}

/// Who owns what by all that is known: where two nodes are said to own a slot, the higher epoch is the later word.
pub(super) fn newest(views: &[View]) -> Layout {
    let mut claims: Vec<&Member> = views.iter().flat_map(|view| &view.members).collect();
    claims.sort_by_key(|member| (member.epoch, member.node));
    let mut owners = vec![None; usize::from(SLOTS)];
    for member in claims {
        for &(first, last) in &member.slots {
            owners[usize::from(first)..=usize::from(last)].fill(member.node);
        }
    }
    Layout {
        owners,
        followed: BTreeMap::new(),
    }
}

/// Whether a node serves requests and hears from the owner of every slot.
pub(super) async fn expect_state_ok(node: &Server) -> Result<(), String> {
    let about = node.try_ask("CLUSTER INFO").await?;
    let whole = format!("cluster_slots_ok:{SLOTS}");
    match ["cluster_state:ok", &whole]
        .into_iter()
        .find(|line| !about.text().lines().any(|found| found == *line))
    {
        Some(line) => Err(format!("the node at port {} does not say {line}", node.port())),
        None => Ok(()),
    }
}

impl Member {
    fn read(line: &str, nodes: &[Server]) -> Option<Member> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [id, address, flags, primary_id, _, _, epoch, _, slots @ ..] = words.as_slice() else {
            return None;
        };
        let port: u16 = address.split_once('@')?.0.rsplit_once(':')?.1.parse().ok()?;
        Some(Member {
            node: nodes.iter().position(|node| node.port() == port),
            id: (*id).to_owned(),
            in_handshake: flags.split(',').any(|flag| flag == "handshake"),
            primary_id: (*primary_id != "-").then(|| (*primary_id).to_owned()),
            epoch: epoch.parse().ok()?,
            // A slot on its way is listed twice: where it still belongs, and in brackets.
            slots: slots
                .iter()
                .filter(|word| !word.starts_with('['))
                .map(|word| range(word))
                .collect::<Option<_>>()?,
        })
    }
}

fn range(word: &str) -> Option<(u16, u16)> {
    let (first, last) = word.split_once('-').unwrap_or((word, word));
    Some((first.parse().ok()?, last.parse().ok()?))
}

impl Layout {
    pub(super) fn owner(&self, slot: u16) -> Option<usize> {
        self.owners[usize::from(slot)]
    }

    /// The owners, each at the place of the pair it belongs to: a slot that moves does not change the order.
    pub(super) fn primaries(&self) -> Vec<usize> {
        let owners: BTreeSet<usize> = self.owners.iter().flatten().copied().collect();
        let mut primaries: Vec<usize> = owners.into_iter().collect();
        primaries.sort_by_key(|node| node % PRIMARIES);
        primaries
    }
}
