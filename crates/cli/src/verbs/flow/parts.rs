//! A flow in parts that each fit into one call.
//!
//! A member comes with the edges that lead to it, in the part of those it waits for or in a later one. One that waits for more than
//! a part holds comes again, with the other edges.

use std::collections::{HashMap, VecDeque};

use ff_core::command::flow::{FlowGraph, GraphEdge, GraphMember};
use ff_core::error::{Code, Rejection};
use ff_core::limits::{BATCH_ITEMS_MAX, BODY_BATCH_BYTES_MAX, FLOW_MEMBERS_MAX, GRAPH_EDGES_MAX};
use ff_core::wire;
use serde::Serialize;

/// Some members of a flow, with edges that lead to them.
#[derive(Clone, Default)]
pub(super) struct Part {
    pub(super) members: Vec<GraphMember>,
    pub(super) edges: Vec<GraphEdge>,
    /// Where each member stands in the whole.
    pub(super) positions: Vec<usize>,
    bytes: usize,
}

/// How much a part may hold.
#[derive(Clone, Copy)]
pub(super) struct Room {
    members: usize,
    edges: usize,
    bytes: usize,
}

impl Room {
    /// What a call takes; half of the bytes, because ids that are longer than the keys here stand in some edges.
    pub(super) const OF_A_CALL: Self = Self {
        members: BATCH_ITEMS_MAX,
        edges: GRAPH_EDGES_MAX,
        bytes: BODY_BATCH_BYTES_MAX / 2,
    };
}

impl Part {
    fn has_room(&self, room: Room, edges: usize, bytes: usize) -> bool {
        self.members.len() < room.members && self.edges.len() + edges <= room.edges && self.bytes + bytes <= room.bytes
    }

    fn add(&mut self, position: usize, member: GraphMember, edges: Vec<GraphEdge>, bytes: usize) {
        self.positions.push(position);
        self.members.push(member);
        self.edges.extend(edges);
        self.bytes += bytes;
    }
}

/// Cuts the members and edges of a graph up. What is wrong with it as a whole is refused here: whoever gets a part would find out too
/// late. What fits into one part is left as it is.
pub(super) fn cut(graph: &mut FlowGraph, room: Room) -> Result<Vec<Part>, Rejection> {
    let (members, edges) = (std::mem::take(&mut graph.members), std::mem::take(&mut graph.edges));
    let bytes = bytes(&members) + bytes(&edges);
    if members.len() <= room.members && edges.len() <= room.edges && bytes <= room.bytes {
        let positions = (0..members.len()).collect();
        return Ok(vec![Part {
            members,
            edges,
            positions,
            bytes,
        }]);
    }
    if members.len() as u64 > FLOW_MEMBERS_MAX {
        let detail = format!("a flow has up to {FLOW_MEMBERS_MAX} members, not {}", members.len());
        return Err(Code::GraphTooLarge.because(detail));
    }
    let is_new = graph.flow.flow_id.is_none();
    let mut whole = Whole::of(&members, edges, is_new)?;
    let mut parts: Vec<Part> = Vec::new();
    for position in whole.order(&members)? {
        let mut edges = std::mem::take(&mut whole.inbound[position]);
        loop {
            let others = edges.split_off(edges.len().min(room.edges));
            let member = members[position].clone();
            let bytes = self::bytes(&member) + self::bytes(&edges);
            match parts.last_mut().filter(|part| part.has_room(room, edges.len(), bytes)) {
                Some(part) => part.add(position, member, edges, bytes),
                None => {
                    let mut part = Part::default();
                    part.add(position, member, edges, bytes);
                    parts.push(part);
                }
            }
            if others.is_empty() {
                break;
            }
            edges = others;
        }
    }
    Ok(parts)
}

/// How long it is when it travels. What cannot be written is refused when it is sent.
fn bytes<T: Serialize>(item: &T) -> usize {
    wire::to_json(item).map_or(0, |json| json.len())
}

/// The edges of a graph by position.
struct Whole {
    /// Edges that lead to each member.
    inbound: Vec<Vec<GraphEdge>>,
    /// Members that wait for each member.
    downstreams: Vec<Vec<usize>>,
}

impl Whole {
    /// Members of a flow that is there already may wait for others of it.
    fn of(members: &[GraphMember], edges: Vec<GraphEdge>, is_new: bool) -> Result<Self, Rejection> {
        let mut positions = HashMap::with_capacity(members.len());
        for (position, member) in members.iter().enumerate() {
            if positions.insert(member.key.as_str(), position).is_some() {
                return Err(Code::InvalidInput.because(format!("member {:?} is given twice", member.key)));
            }
        }
        let unknown =
            |key: &str| Code::ExecutionNotInFlow.because(format!("there is an edge with {key:?}, which is no member"));
        let mut whole = Self {
            inbound: vec![Vec::new(); members.len()],
            downstreams: vec![Vec::new(); members.len()],
        };
        for edge in edges {
            let to = *positions
                .get(edge.downstream.as_str())
                .ok_or_else(|| unknown(&edge.downstream))?;
            match positions.get(edge.upstream.as_str()) {
                Some(from) => whole.downstreams[*from].push(to),
                None if is_new => return Err(unknown(&edge.upstream)),
                None => {}
            }
            whole.inbound[to].push(edge);
        }
        Ok(whole)
    }

    /// Positions with every member after those it waits for, otherwise as they are given.
    fn order(&self, members: &[GraphMember]) -> Result<Vec<usize>, Rejection> {
        let mut waits_for = vec![0_usize; members.len()];
        for to in self.downstreams.iter().flatten() {
            waits_for[*to] += 1;
        }
        let mut ready: VecDeque<_> = (0..members.len())
            .filter(|position| waits_for[*position] == 0)
            .collect();
        let mut order = Vec::with_capacity(members.len());
        while let Some(position) = ready.pop_front() {
            order.push(position);
            for to in &self.downstreams[position] {
                waits_for[*to] -= 1;
                if waits_for[*to] == 0 {
                    ready.push_back(*to);
                }
            }
        }
        match (0..members.len()).find(|position| waits_for[*position] > 0) {
            None => Ok(order),
            Some(left) => {
                let key = &members[self.on_a_cycle(left, &waits_for)].key;
                Err(Code::CycleDetected.because(format!("member {key:?} would wait for itself through others")))
            }
        }
    }

    /// A member of a cycle, from one that waits for such a member: whoever goes back often enough goes round in it.
    fn on_a_cycle(&self, left: usize, waits_for: &[usize]) -> usize {
        let mut upstream = vec![None; waits_for.len()];
        for (from, downstreams) in self
            .downstreams
            .iter()
            .enumerate()
            .filter(|(from, _)| waits_for[*from] > 0)
        {
            downstreams.iter().for_each(|to| upstream[*to] = Some(from));
        }
        (0..waits_for.len()).fold(left, |at, _| upstream[at].unwrap_or(at))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const SMALL: Room = Room {
        members: 3,
        edges: 4,
        bytes: 100_000,
    };

    fn graph(members: &[&str], edges: &[(&str, &str)]) -> FlowGraph {
        let members: Vec<_> = members
            .iter()
            .map(|key| json!({ "key": key, "execution_kind": "x" }))
            .collect();
        let edges: Vec<_> = edges
            .iter()
            .map(|(upstream, downstream)| json!({ "upstream": upstream, "downstream": downstream }))
            .collect();
        let graph = json!({ "flow_kind": "x", "members": members, "edges": edges });
        wire::from_request(graph.to_string().as_bytes()).unwrap()
    }

    fn keys(parts: &[Part]) -> Vec<Vec<&str>> {
        let members = parts.iter().map(|part| part.members.iter());
        members
            .map(|members| members.map(|member| member.key.as_str()).collect())
            .collect()
    }

    #[test]
    fn what_fits_is_left_as_it_is() {
        let mut given = graph(&["b", "a"], &[("a", "b"), ("nobody", "b")]);
        let parts = cut(&mut given, SMALL).unwrap();
        assert_eq!(keys(&parts), [["b", "a"]]);
        assert_eq!(parts[0].edges.len(), 2, "the server knows better what is wrong with it");
    }

    #[test]
    fn a_member_comes_after_those_it_waits_for_with_its_edges() {
        let mut given = graph(
            &["end", "a", "b", "c", "begin"],
            &[("a", "end"), ("b", "end"), ("c", "end"), ("begin", "a")],
        );
        let parts = cut(&mut given, SMALL).unwrap();
        assert_eq!(keys(&parts), [vec!["b", "c", "begin"], vec!["a", "end"]]);
        assert_eq!((parts[0].edges.len(), parts[1].edges.len()), (0, 4));
        assert_eq!(
            (&parts[0].positions[..], &parts[1].positions[..]),
            (&[2, 3, 4][..], &[1, 0][..])
        );
    }

    #[test]
    fn a_part_is_full_of_members_of_edges_or_of_bytes() {
        let members = ["a", "b", "c", "d", "e"];
        let sizes = |edges: &[(&str, &str)], room| {
            let parts = cut(&mut graph(&members, edges), room).unwrap();
            parts.iter().map(|part| part.members.len()).collect::<Vec<_>>()
        };
        assert_eq!(sizes(&[], SMALL), [3, 2]);
        let edges = [("a", "d"), ("b", "d"), ("c", "d"), ("a", "e"), ("b", "e")];
        assert_eq!(sizes(&edges, Room { members: 10, ..SMALL }), [4, 1]);
        let one = bytes(&graph(&members[..1], &[]).members[0]) + bytes(&Vec::<GraphEdge>::new());
        assert_eq!(
            sizes(
                &[],
                Room {
                    members: 10,
                    bytes: 2 * one,
                    ..SMALL
                }
            ),
            [2, 2, 1]
        );
        assert_eq!(
            sizes(
                &[],
                Room {
                    members: 10,
                    bytes: 1,
                    ..SMALL
                }
            ),
            [1, 1, 1, 1, 1]
        );
    }

    #[test]
    fn a_member_that_waits_for_very_many_comes_again_with_the_others() {
        let members = ["a", "b", "c", "d", "e", "end"];
        let edges = ["a", "b", "c", "d", "e"].map(|from| (from, "end"));
        let room = Room {
            members: 10,
            edges: 2,
            ..SMALL
        };
        let parts = cut(&mut graph(&members, &edges), room).unwrap();
        assert_eq!(
            keys(&parts),
            [vec!["a", "b", "c", "d", "e", "end"], vec!["end"], vec!["end"]]
        );
        assert_eq!(parts.iter().map(|part| part.edges.len()).collect::<Vec<_>>(), [2, 2, 1]);
    }

    #[test]
    fn what_is_wrong_with_the_whole_is_found_before_a_part_is_sent() {
        let members = ["a", "b", "c", "d"];
        let refused = |members: &[&str], edges: &[(&str, &str)]| cut(&mut graph(members, edges), SMALL).err().unwrap();
        let cycle = refused(&members, &[("b", "c"), ("c", "b"), ("c", "d")]);
        assert_eq!(cycle.code, Code::CycleDetected);
        assert!(
            cycle.detail.contains("\"b\"") || cycle.detail.contains("\"c\""),
            "{cycle}"
        );
        assert_eq!(refused(&members, &[("a", "a")]).code, Code::CycleDetected);
        assert_eq!(refused(&members, &[("a", "x")]).code, Code::ExecutionNotInFlow);
        assert_eq!(refused(&members, &[("x", "a")]).code, Code::ExecutionNotInFlow);
        assert_eq!(refused(&["a", "b", "c", "a"], &[]).code, Code::InvalidInput);
        let mut grows = graph(&members, &[("x", "a")]);
        grows.flow.flow_id = Some("0190c5d4-7a6b-7c3d-8e9f-a0b1c2d3e4f5".parse().unwrap());
        assert!(cut(&mut grows, SMALL).is_ok(), "it may wait for a member that is there");
    }
}
