//! How the graph of a flow is read: in one answer, however many members it has.

use serde::{Deserialize, Serialize};

use crate::command::page::PageRequest;
use crate::error::Rejection;
use crate::id::{ExecutionId, FlowId};
use crate::name::ExecutionKind;
use crate::state::PublicState;
use crate::time::Timestamp;
use crate::token::SignedCursor;

/// The graph of a flow with the state of every member. Members stand in classes, and inside a class by id.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FlowGraphView {
    /// Which flow.
    pub flow_id: FlowId,
    /// Which edges there are: it moves with every one that is added.
    pub graph_revision: u64,
    /// How many members there are.
    pub members: usize,
    /// When the flow was created: `started` and `ended` count from there.
    pub created_at: Timestamp,
    /// When the members were read.
    pub as_of: Timestamp,
    /// Where `events` goes on: what it tells from there on happened after this was read, or at most a second before.
    pub cursor: SignedCursor,
    /// The kinds of members, each once; classes name them by their place.
    pub kinds: Vec<ExecutionKind>,
    /// Members that play the same part in the graph: of one kind in one layer, behind the same classes and before the same.
    /// Of a flow of more than 5,000 members at most 400, for which classes are put together.
    pub classes: Vec<GraphClass>,
    /// The state of each member, one letter each: `w` waiting, `d` delayed, `l` rate_limited, `u` waiting_children,
    /// `r` resumable, `a` active, `s` suspended, `c` completed, `f` failed, `e` expired, `x` cancelled, `k` skipped.
    pub states: String,
    /// When the current or last attempt of each member started, in milliseconds after the member before it in this list that has
    /// one, the first after `created_at`; null: it has none.
    pub started: Vec<Option<i64>>,
    /// When each member ended, in the same way; null: it has not.
    pub ended: Vec<Option<i64>>,
    /// From one class to another, and how many edges that stands for.
    pub links: Vec<(usize, usize, usize)>,
    /// The id of each member; absent where there are more than 5,000.
    pub ids: Option<Vec<ExecutionId>>,
    /// From one member to another that waits for it; absent where there are more than 5,000 members.
    pub edges: Option<Vec<(usize, usize)>>,
    /// There are more than 200,000 edges: those of the newest members are in it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub more_edges: bool,
}

/// Members that are shown as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GraphClass {
    /// The kind of its members; absent: they are of several.
    pub kind: Option<usize>,
    /// Its layer, or the first of them. A member stands one layer after the last of those it waits for, and one that waits for
    /// nothing right before the first that waits for it.
    pub layer: usize,
    /// How many layers it has; absent: one.
    pub layers: Option<usize>,
    /// The place of its first member.
    pub first: usize,
    /// How many members it has.
    pub count: usize,
}

/// Asks for the ids of a class of members.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListGraphMembers {
    /// Which class, by its place in the graph.
    pub class: usize,
    /// From which of its members on; absent: the first.
    #[serde(default)]
    pub from: usize,
    /// At most this many; absent: 50, at most 1,000.
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::text::page))]
    pub limit: Option<usize>,
}

impl ListGraphMembers {
    /// How many are wanted at most.
    pub fn limit(&self) -> Result<usize, Rejection> {
        let page = PageRequest {
            cursor: None,
            limit: self.limit,
        };
        page.limit()
    }
}

/// The ids of a class of members.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GraphMembers {
    /// Of which graph: of another one the classes are others.
    pub graph_revision: u64,
    /// How many members that graph has: with more of them the classes are others, too.
    pub members: usize,
    /// How many the class has.
    pub count: usize,
    /// Those that were asked for, in order.
    pub ids: Vec<ExecutionId>,
}

impl FlowGraphView {
    /// The letter of a state.
    pub const fn letter(state: PublicState) -> char {
        match state {
            PublicState::Waiting => 'w',
            PublicState::Delayed => 'd',
            PublicState::RateLimited => 'l',
            PublicState::WaitingChildren => 'u',
            PublicState::Resumable => 'r',
            PublicState::Active => 'a',
            PublicState::Suspended => 's',
            PublicState::Completed => 'c',
            PublicState::Failed => 'f',
            PublicState::Expired => 'e',
            PublicState::Cancelled => 'x',
            PublicState::Skipped => 'k',
        }
    }

    /// Moments, each as the time after the last one before it that there is; the first as the time after `since`.
    pub fn apart(since: Timestamp, moments: impl IntoIterator<Item = Option<Timestamp>>) -> Vec<Option<i64>> {
        let mut last = since.as_millis().cast_signed();
        let mut apart = |at: Timestamp| {
            let at = at.as_millis().cast_signed();
            at - std::mem::replace(&mut last, at)
        };
        moments.into_iter().map(|at| at.map(&mut apart)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_has_a_letter_of_its_own() {
        let letters: std::collections::BTreeSet<char> = PublicState::ALL
            .iter()
            .map(|state| FlowGraphView::letter(*state))
            .collect();
        assert_eq!(letters.len(), PublicState::ALL.len());
    }

    #[test]
    fn moments_are_told_by_what_lies_between_them() {
        let at = Timestamp::from_millis;
        let moments = [Some(at(110)), None, Some(at(105)), Some(at(205))];
        assert_eq!(
            FlowGraphView::apart(at(100), moments),
            [Some(10), None, Some(-5), Some(100)]
        );
    }
}
