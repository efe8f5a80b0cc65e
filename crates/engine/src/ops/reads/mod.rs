//! Reading executions, lanes and events.
//!
//! | file | what |
//! |---|---|
//! | `get`, `result` | get_execution, get_state; get_result |
//! | `list` | list_executions, and views of executions for other listings |
//! | `history` | get_history, list_attempts |
//! | `explain` | explain |
//! | `lanes`, `throughput` | list_lanes; what ended lately |
//! | `wait`, `watch` | wait_for_end; waiting in general, and how many may |
//! | `events`, `positions` | events; how far a reader has come in every feed |
//! | `view`, `scene` | what a caller sees of an execution, and what stands around it |

mod events;
mod explain;
mod get;
mod history;
mod lanes;
mod list;
mod positions;
mod result;
mod scene;
mod throughput;
mod view;
mod wait;
mod watch;

pub(crate) use history::attempt_in;
pub(crate) use throughput::Throughput;
pub(crate) use watch::Parked;

use async_trait::async_trait;
use ff_core::command::page::{ListOf, Page, PageRequest};
use ff_core::fabric::{On, Reads, Result};
use ff_core::id::ExecutionId;
use ff_core::payload::Payload;
use ff_core::record::{Attempt, HistoryLine};
use ff_core::view::{
    Events, ExecutionView, Explanation, GetResult, LaneView, ListExecutions, ReadEvents, StateView, WaitForEnd,
};

use crate::engine::Engine;

#[async_trait]
impl Reads for Engine {
    async fn get_execution(&self, id: ExecutionId) -> Result<ExecutionView> {
        self.view_execution(id).await
    }

    async fn get_state(&self, id: ExecutionId) -> Result<StateView> {
        self.view_state(id).await
    }

    async fn get_result(&self, request: On<ExecutionId, GetResult>) -> Result<Payload> {
        self.read_result(request.id, request.command).await
    }

    async fn wait_for_end(&self, request: On<ExecutionId, WaitForEnd>) -> Result<StateView> {
        self.await_end(request.id, request.command.wait).await
    }

    async fn list_executions(&self, request: ListExecutions) -> Result<Page<ExecutionView>> {
        self.page_of_executions(request).await
    }

    async fn get_history(&self, request: On<ExecutionId, PageRequest>) -> Result<Page<HistoryLine>> {
        self.page_of_history(request.id, request.command).await
    }

    async fn list_attempts(&self, request: On<ExecutionId, PageRequest>) -> Result<Page<Attempt>> {
        self.page_of_attempts(request.id, request.command).await
    }

    async fn explain(&self, id: ExecutionId) -> Result<Explanation> {
        self.explain_execution(id).await
    }

    async fn list_lanes(&self, request: ListOf) -> Result<Page<LaneView>> {
        self.page_of_lanes(request).await
    }

    async fn events(&self, request: ReadEvents) -> Result<Events> {
        self.read_events(request).await
    }
}
