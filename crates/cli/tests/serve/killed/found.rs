//! What the server says about one execution in the end.

use ff_core::command::steps::{ReadSteps, StepView};
use ff_core::command::stream::{AttemptRef, ReadStream};
use ff_core::fabric::{On, Result};
use ff_core::frame::{FrameBound, FrameId};
use ff_core::id::{BudgetId, ExecutionId, SignalId};
use ff_core::limits::PAGE_MAX;
use ff_core::name::Dimension;
use ff_core::record::Attempt;
use ff_core::state::PublicState;
use ff_core::view::{ExecutionView, GetResult};
use ff_sdk::{Fabric, Remote};

use super::held::UNITS;
use crate::listed::whole_page;

/// Everything that is kept of one execution.
pub(crate) struct Found {
    pub(crate) view: ExecutionView,
    pub(crate) result: Option<serde_json::Value>,
    /// Its frames by attempt: the id, and the number that is the payload.
    pub(crate) frames: Vec<Vec<(FrameId, u64)>>,
    pub(crate) signals: Vec<SignalId>,
    /// Its steps, by the number each has for a name and left.
    pub(crate) steps: Vec<u64>,
    attempts: Vec<Attempt>,
}

impl Found {
    pub(crate) async fn read(client: &Remote, view: ExecutionView) -> Result<Self> {
        let id = view.execution_id;
        let mut frames = Vec::new();
        for attempt_index in 0..view.attempt_count {
            frames.push(
                read_frames(
                    client,
                    AttemptRef {
                        execution_id: id,
                        attempt_index,
                    },
                )
                .await?,
            );
        }
        let result = match view.state.public_state {
            PublicState::Completed => {
                let payload = client.get_result(On::new(id, GetResult::default())).await?;
                Some(serde_json::from_slice(&payload.bytes).unwrap())
            }
            _ => None,
        };
        let signals = client.list_signals(On::new(id, whole_page())).await?;
        Ok(Self {
            view,
            result,
            frames,
            steps: read_steps(client, id).await?,
            signals: signals.items.iter().map(|view| view.signal.id).collect(),
            attempts: client.list_attempts(On::new(id, whole_page())).await?.items,
        })
    }

    /// What its attempts recorded as spent.
    pub(crate) fn spent(&self, budget_id: BudgetId) -> u64 {
        let units = Dimension::parse(UNITS).unwrap();
        let reported = self.attempts.iter().filter_map(|attempt| attempt.usage.get(&budget_id));
        reported.filter_map(|usage| usage.get(&units)).sum()
    }
}

async fn read_steps(client: &Remote, id: ExecutionId) -> Result<Vec<u64>> {
    let everything = ReadSteps {
        from_seq: None,
        limit: Some(PAGE_MAX),
        outputs: true,
        forgotten: false,
    };
    let page = client.read_steps(On::new(id, everything)).await?;
    let number = |step: &StepView| {
        let left = step.output.as_ref().map(|output| output.bytes.as_ref());
        assert_eq!(
            left,
            Some(step.key.as_str().as_bytes()),
            "{id}: what step {} left",
            step.key
        );
        step.key.as_str().parse().unwrap()
    };
    Ok(page.items.iter().map(number).collect())
}

async fn read_frames(client: &Remote, attempt: AttemptRef) -> Result<Vec<(FrameId, u64)>> {
    let everything = ReadStream {
        from: FrameBound::Start,
        to: FrameBound::End,
        limit: Some(PAGE_MAX),
    };
    let page = client.read_stream(On::new(attempt, everything)).await?;
    let number = |bytes: &[u8]| str::from_utf8(bytes).unwrap().parse().unwrap();
    let frames = page.frames.iter();
    Ok(frames.map(|frame| (frame.id, number(&frame.payload.bytes))).collect())
}
