//! Which executions are listed, and in which order.

use serde::{Deserialize, Serialize};

use super::{ExecutionView, HeldBackBy, WantedTag};
use crate::command::page::PageRequest;
use crate::error::{Code, Rejection};
use crate::id::{ExecutionId, FlowId};
use crate::limits::LISTED_IDS_MAX;
use crate::name::{Category, ExecutionKind, LaneId, Namespace, WorkerId};
use crate::record::Execution;
use crate::state::{PublicState, state_vector};
use crate::time::Timestamp;
use crate::token::SignedCursor;

/// Asks for executions. Everything given must hold; of a list, one of its values.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListExecutions {
    /// Of this tenant; absent: of all the caller may see.
    pub namespace: Option<Namespace>,
    /// Of one of these lanes; none: of every lane.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lane: Vec<LaneId>,
    /// In one of these states; none: in any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub state: Vec<PublicState>,
    /// For one of these handlers; none: for any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kind: Vec<ExecutionKind>,
    /// With all of these tags, each as `key=value`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tag: Vec<WantedTag>,
    /// Members of this flow.
    #[serde(rename = "flow")]
    pub flow_id: Option<FlowId>,
    /// These, up to 100, on one page: those that are not there are left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub id: Vec<ExecutionId>,
    /// Whose current or last attempt is this worker's, or this process slot's.
    pub worker: Option<WorkerId>,
    /// Held back by one of these: `budget`, `quota`, or one budget or quota as `budget:ID`, `quota:ID`; `dependencies`, `delay`,
    /// `hold`; `lane`, `capabilities`, each of which stands alone and is about one namespace, `default` unless given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cause: Vec<HeldBackBy>,
    /// Whose last failure was of this category.
    pub category: Option<Category>,
    /// Created at or after this moment.
    pub created_from: Option<Timestamp>,
    /// Created before this moment.
    pub created_before: Option<Timestamp>,
    /// Ended at or after this moment.
    pub ended_from: Option<Timestamp>,
    /// Ended before this moment.
    pub ended_before: Option<Timestamp>,
    /// In which order; absent: `newest`.
    #[serde(default)]
    pub order: ListOrder,
    /// Where to go on, and how many at most.
    #[serde(rename = "..page")]
    pub page: PageRequest,
}

/// In which order executions are listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ListOrder {
    /// The newest first; what one budget or one quota holds back, or `lane` or `capabilities`, as it is handed out once it may be.
    #[default]
    Newest,
    /// What waits for a worker of exactly one lane, that which is handed out first at the front. It takes no other filter than
    /// the lane and its namespace, which is `default` unless given.
    Next,
}

/// One page of executions. It may be shorter than asked for, or empty, and still have a next one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExecutionPage {
    /// The entries, in the order asked for.
    pub items: Vec<ExecutionView>,
    /// Where to go on; absent: that was all.
    pub next: Option<SignedCursor>,
    /// How many executions were looked at for this page, about; it ends after 10,000.
    pub looked_at: u64,
    /// When the last one that was looked at was created: how far back this page goes.
    pub reached_at: Option<Timestamp>,
}

impl ListExecutions {
    /// Refuses what contradicts itself.
    pub fn check(&self) -> Result<(), Rejection> {
        check_values([
            self.id.len(),
            self.lane.len(),
            self.state.len(),
            self.kind.len(),
            self.tag.len(),
            self.cause.len(),
        ])?;
        if self.cause.len() > 1 && self.cause.iter().any(|cause| cause.is_around()) {
            return Err(Code::InvalidInput.because("cause=lane and cause=capabilities stand alone"));
        }
        if self.order == ListOrder::Newest {
            return Ok(());
        }
        let is_waiting = self.state.iter().all(|state| *state == PublicState::Waiting);
        let only_a_lane = Self {
            namespace: self.namespace.clone(),
            lane: self.lane.clone(),
            state: self.state.clone(),
            order: ListOrder::Next,
            page: self.page.clone(),
            ..Self::default()
        };
        if self.lane.len() != 1 || !is_waiting || *self != only_a_lane {
            let detail = "order=next lists what waits in exactly one lane, and takes no other filter";
            return Err(Code::InvalidInput.because(detail));
        }
        Ok(())
    }

    /// Whether an execution has everything that was given.
    pub fn matches(&self, execution: &Execution) -> bool {
        let definition = &execution.definition;
        let attempt = execution.attempt.as_ref();
        let ended_at = execution.outcome().map(|outcome| outcome.at);
        let ran_on = |worker: &WorkerId| {
            attempt.is_some_and(|attempt| attempt.worker == *worker || attempt.instance.as_str() == worker.as_str())
        };
        self.namespace
            .as_ref()
            .is_none_or(|namespace| definition.namespace == *namespace)
            && is_one_of(&self.lane, &definition.lane)
            && (self.state.is_empty() || self.state.contains(&state_vector(execution).public_state))
            && is_one_of(&self.kind, &definition.kind)
            && self
                .tag
                .iter()
                .all(|tag| execution.tags.get(&tag.key) == Some(&tag.value))
            && self.flow_id.is_none_or(|flow| definition.flow == Some(flow))
            && is_one_of(&self.id, &execution.id)
            && (self.cause.is_empty() || self.cause.iter().any(|cause| cause.holds_back(execution)))
            && self.worker.as_ref().is_none_or(ran_on)
            && self
                .category
                .as_ref()
                .is_none_or(|category| last_category(execution) == Some(category))
            && is_between(Some(definition.created_at), self.created_from, self.created_before)
            && is_between(ended_at, self.ended_from, self.ended_before)
    }
}

/// Refuses more values in one list than anybody would choose from.
pub(crate) fn check_values(lengths: impl IntoIterator<Item = usize>) -> Result<(), Rejection> {
    match lengths.into_iter().find(|length| *length > LISTED_IDS_MAX) {
        Some(length) => {
            Err(Code::InvalidInput.because(format!("{length} values in one list, more than {LISTED_IDS_MAX}")))
        }
        None => Ok(()),
    }
}

pub(crate) fn is_one_of<T: PartialEq>(wanted: &[T], value: &T) -> bool {
    wanted.is_empty() || wanted.contains(value)
}

/// Whether a moment lies between two others, of which either may be open; what has no moment lies between two open ones.
fn is_between(at: Option<Timestamp>, from: Option<Timestamp>, before: Option<Timestamp>) -> bool {
    match at {
        None => from.is_none() && before.is_none(),
        Some(at) => from.is_none_or(|from| at >= from) && before.is_none_or(|before| at < before),
    }
}

/// The category of an execution's last failure: of its end, or of the attempt that is to be retried.
pub fn last_category(execution: &Execution) -> Option<&Category> {
    let of_end = execution.outcome().and_then(|outcome| outcome.failure.as_ref());
    let of_attempt = || execution.attempt.as_ref()?.end.as_ref()?.failure.as_ref();
    of_end.or_else(of_attempt).map(|failure| &failure.category)
}
