//! Checking a part of a graph and dividing it into transactions.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::command::flow::{GraphEdge, GraphMember};
use crate::command::submit::DependsOn;
use crate::digest::Digest;
use crate::error::{Code, Rejection};
use crate::id::{ExecutionId, FlowId};
use crate::limits::{BATCH_ITEMS_MAX, FOLLOW_UP_CHUNK, GRAPH_EDGES_MAX};
use crate::machine::edge::named_twice;
use crate::machine::group::check_policy;
use crate::machine::submit::check_one_id;
use crate::partition::Partition;
use crate::record::EdgeGroupPolicy;

/// A whole graph, or a part of one: members with the dependencies that lead to them.
#[derive(Clone, Debug, PartialEq)]
pub struct GraphPart {
    /// The flow they become members of.
    pub flow_id: FlowId,
    /// New members.
    pub members: Vec<GraphMember>,
    /// Dependencies of the new members.
    pub edges: Vec<GraphEdge>,
}

/// The id of the member called `key`: it follows from the name, so that a repeated call means the same execution.
pub fn member_id(flow_id: FlowId, partition: Partition, key: &str) -> ExecutionId {
    let digest = Digest::of("member", [flow_id.to_string().as_str(), key]);
    ExecutionId::new(partition.index, digest.uuid())
}

/// A checked part of a graph.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The ids of its members, in the order of the part.
    pub ids: Vec<ExecutionId>,
    /// The transactions that write it, in this order.
    pub chunks: Vec<Chunk>,
}

/// What one transaction writes: never empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chunk {
    pub(super) items: Vec<Item>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Item {
    /// Position in the part.
    pub(super) member: usize,
    pub(super) id: ExecutionId,
    /// The member is created here; otherwise it is there before.
    pub(super) creates: bool,
    pub(super) depends_on: Vec<DependsOn>,
}

impl Chunk {
    /// Every execution it concerns: those it creates, those that gain dependencies, and what they wait for.
    pub fn executions(&self) -> BTreeSet<ExecutionId> {
        let upstreams = self.dependencies().map(|(upstream, _)| upstream);
        upstreams.chain(self.members()).collect()
    }

    /// The members it creates or gives dependencies to.
    pub fn members(&self) -> impl Iterator<Item = ExecutionId> + '_ {
        self.items.iter().map(|item| item.id)
    }

    /// Every dependency it adds: what must end first, and what waits.
    pub fn dependencies(&self) -> impl Iterator<Item = (ExecutionId, ExecutionId)> + '_ {
        self.items
            .iter()
            .flat_map(|item| item.depends_on.iter().map(|on| (on.upstream, item.id)))
    }

    /// Positions in the part of the members it creates.
    pub fn creates(&self) -> impl Iterator<Item = usize> + '_ {
        self.items.iter().filter(|item| item.creates).map(|item| item.member)
    }

    fn size(&self) -> usize {
        self.items
            .iter()
            .map(|item| usize::from(item.creates) + item.depends_on.len())
            .sum()
    }
}

/// Checks a part of a graph and divides it into transactions.
pub fn plan(part: &GraphPart, partition: Partition) -> Result<Plan, Rejection> {
    check_size(part)?;
    let ids = part
        .members
        .iter()
        .map(|member| id_of(member, part, partition))
        .collect::<Result<Vec<_>, _>>()?;
    let positions = positions(part, &ids)?;
    let inbound = inbound(part, partition, &positions, &ids)?;
    for (member, edges) in part.members.iter().zip(&inbound) {
        check_group(member, edges.len())?;
    }
    let order = topological(&ids, &inbound)?;
    Ok(Plan {
        chunks: chunks(&order, &ids, inbound),
        ids,
    })
}

fn check_size(part: &GraphPart) -> Result<(), Rejection> {
    let (members, edges) = (part.members.len(), part.edges.len());
    if members == 0 {
        return Err(Code::InvalidInput.because("a graph needs at least one member"));
    }
    if members > BATCH_ITEMS_MAX {
        let detail = format!("{members} members, more than {BATCH_ITEMS_MAX}: send them in parts");
        return Err(Code::BatchTooLarge.because(detail));
    }
    if edges > GRAPH_EDGES_MAX {
        return Err(Code::BatchTooLarge.because(format!(
            "{edges} edges, more than {GRAPH_EDGES_MAX}: send them in parts"
        )));
    }
    Ok(())
}

fn id_of(member: &GraphMember, part: &GraphPart, partition: Partition) -> Result<ExecutionId, Rejection> {
    let key = &member.key;
    let submission = &member.submission;
    if submission.flow_id.is_some_and(|flow| flow != part.flow_id) || !submission.depends_on.is_empty() {
        return Err(
            Code::InvalidInput.because(format!("member {key:?}: its flow and dependencies come from the graph"))
        );
    }
    if submission.idempotency_key.is_some() {
        return Err(Code::InvalidInput.because(format!(
            "member {key:?}: its name makes it unique, an idempotency key cannot"
        )));
    }
    check_one_id(submission)?;
    match (submission.execution_id, submission.execution_uuid) {
        (None, None) => Ok(member_id(part.flow_id, partition, key)),
        (None, Some(uuid)) => Ok(ExecutionId::new(partition.index, uuid)),
        (Some(id), _) if id.partition() == partition => Ok(id),
        (Some(id), _) => Err(Code::PartitionMismatch.because(format!(
            "execution {id} cannot live in {partition}, where its flow lives"
        ))),
    }
}

fn positions<'p>(part: &'p GraphPart, ids: &[ExecutionId]) -> Result<BTreeMap<&'p str, usize>, Rejection> {
    let mut positions = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for (position, (member, id)) in part.members.iter().zip(ids).enumerate() {
        if positions.insert(member.key.as_str(), position).is_some() || !seen.insert(*id) {
            return Err(Code::InvalidInput.because(format!("member {:?} is given twice", member.key)));
        }
    }
    Ok(positions)
}

/// The dependencies of every member, by position.
fn inbound(
    part: &GraphPart,
    partition: Partition,
    positions: &BTreeMap<&str, usize>,
    ids: &[ExecutionId],
) -> Result<Vec<Vec<DependsOn>>, Rejection> {
    let mut inbound = vec![Vec::new(); ids.len()];
    let mut pairs = BTreeSet::new();
    let mut names = BTreeSet::new();
    for edge in &part.edges {
        let GraphEdge {
            upstream, downstream, ..
        } = edge;
        if upstream == downstream {
            return Err(Code::SelfReferencingEdge.because(format!("member {upstream:?} cannot depend on itself")));
        }
        let Some(to) = positions.get(downstream.as_str()).copied() else {
            let detail = format!("an edge leads to {downstream:?}, which is not a member of this part");
            return Err(Code::ExecutionNotInFlow.because(detail));
        };
        let from = match positions.get(upstream.as_str()) {
            Some(position) => ids[*position],
            // Of an earlier part, by its id or by its name.
            None => upstream
                .parse()
                .unwrap_or_else(|_| member_id(part.flow_id, partition, upstream)),
        };
        if !pairs.insert((from, to)) {
            let detail = format!("{downstream:?} depends on {upstream:?} twice");
            return Err(Code::DependencyAlreadyExists.because(detail));
        }
        if let Some(name) = edge.data_passing_ref.as_ref().filter(|name| !names.insert((to, *name))) {
            return Err(named_twice(ids[to], name));
        }
        inbound[to].push(DependsOn {
            edge_id: None,
            upstream: from,
            dependency_kind: edge.dependency_kind,
            data_passing_ref: edge.data_passing_ref.clone(),
        });
    }
    Ok(inbound)
}

/// The whole group of a member is in its part, so a quorum it can never reach is a mistake.
fn check_group(member: &GraphMember, edges: usize) -> Result<(), Rejection> {
    let Some(policy) = member.submission.edge_group_policy else {
        return Ok(());
    };
    check_policy(policy)?;
    match policy {
        EdgeGroupPolicy::Quorum { k, .. } if k as usize > edges => {
            let detail = format!("member {:?} needs {k} of {edges} dependencies", member.key);
            Err(Code::InvalidInput.because(detail))
        }
        _ => Ok(()),
    }
}

/// Positions with every upstream before its downstreams, otherwise as given.
fn topological(ids: &[ExecutionId], inbound: &[Vec<DependsOn>]) -> Result<Vec<usize>, Rejection> {
    let position_of: BTreeMap<_, _> = ids.iter().enumerate().map(|(position, id)| (*id, position)).collect();
    let mut missing = vec![0_usize; ids.len()];
    let mut downstreams = vec![Vec::new(); ids.len()];
    for (to, edges) in inbound.iter().enumerate() {
        for from in edges.iter().filter_map(|on| position_of.get(&on.upstream)) {
            missing[to] += 1;
            downstreams[*from].push(to);
        }
    }
    let mut ready: VecDeque<_> = (0..ids.len()).filter(|position| missing[*position] == 0).collect();
    let mut order = Vec::with_capacity(ids.len());
    while let Some(position) = ready.pop_front() {
        order.push(position);
        for to in &downstreams[position] {
            missing[*to] -= 1;
            if missing[*to] == 0 {
                ready.push_back(*to);
            }
        }
    }
    if order.len() < ids.len() {
        let stuck = (0..ids.len())
            .find(|position| missing[*position] > 0)
            .map(|position| ids[position]);
        let detail = stuck.map_or_else(String::new, |id| {
            format!("execution {id} depends on itself through others")
        });
        return Err(Code::CycleDetected.because(detail));
    }
    Ok(order)
}

fn chunks(order: &[usize], ids: &[ExecutionId], mut inbound: Vec<Vec<DependsOn>>) -> Vec<Chunk> {
    let mut chunks = Vec::new();
    let mut chunk = Chunk::default();
    for member in order {
        let mut edges = std::mem::take(&mut inbound[*member]);
        let mut creates = true;
        while creates || !edges.is_empty() {
            // A member is created with at least one of its edges, so that it waits from the start.
            let least = usize::from(creates) + usize::from(!edges.is_empty());
            if chunk.size() + least > FOLLOW_UP_CHUNK {
                chunks.push(std::mem::take(&mut chunk));
            }
            let room = FOLLOW_UP_CHUNK - chunk.size() - usize::from(creates);
            let further = edges.split_off(room.min(edges.len()));
            chunk.items.push(Item {
                member: *member,
                id: ids[*member],
                creates,
                depends_on: edges,
            });
            edges = further;
            creates = false;
        }
    }
    chunks.push(chunk);
    chunks
}
