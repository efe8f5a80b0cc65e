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
//! | `problems` | list_problems |
//! | `view`, `scene` | what a caller sees of an execution, and what stands around it |

mod events;
mod explain;
mod get;
mod history;
mod lanes;
mod list;
mod positions;
mod problems;
mod result;
mod scene;
mod throughput;
mod view;
mod wait;
mod watch;

pub(crate) use history::attempt_in;
pub(crate) use throughput::Throughput;
pub(crate) use watch::Parked;

use ff_core::command::page::{ListOf, Page, PageRequest};
use ff_core::fabric::{On, Result};
use ff_core::id::ExecutionId;
use ff_core::payload::Payload;
use ff_core::record::{Attempt, HistoryLine};
use ff_core::view::{
    Events, ExecutionView, Explanation, GetResult, LaneView, ListExecutions, ListProblems, Problem, ReadEvents,
    StateView, WaitForEnd,
};

use crate::engine::Engine;

pub(crate) async fn get_execution(engine: &Engine, id: ExecutionId) -> Result<ExecutionView> {
    engine.view_execution(id).await
}

pub(crate) async fn get_state(engine: &Engine, id: ExecutionId) -> Result<StateView> {
    engine.view_state(id).await
}

pub(crate) async fn get_result(engine: &Engine, request: On<ExecutionId, GetResult>) -> Result<Payload> {
    engine.read_result(request.id, request.command).await
}

pub(crate) async fn wait_for_end(engine: &Engine, request: On<ExecutionId, WaitForEnd>) -> Result<StateView> {
    engine.await_end(request.id, request.command.wait).await
}

pub(crate) async fn list_executions(engine: &Engine, request: ListExecutions) -> Result<Page<ExecutionView>> {
    engine.page_of_executions(request).await
}

pub(crate) async fn get_history(engine: &Engine, request: On<ExecutionId, PageRequest>) -> Result<Page<HistoryLine>> {
    engine.page_of_history(request.id, request.command).await
}

pub(crate) async fn list_attempts(engine: &Engine, request: On<ExecutionId, PageRequest>) -> Result<Page<Attempt>> {
    engine.page_of_attempts(request.id, request.command).await
}

pub(crate) async fn explain(engine: &Engine, id: ExecutionId) -> Result<Explanation> {
    engine.explain_execution(id).await
}

pub(crate) async fn list_lanes(engine: &Engine, request: ListOf) -> Result<Page<LaneView>> {
    engine.page_of_lanes(request).await
}

pub(crate) async fn events(engine: &Engine, request: ReadEvents) -> Result<Events> {
    engine.read_events(request).await
}

pub(crate) async fn list_problems(engine: &Engine, _: ListProblems) -> Result<Vec<Problem>> {
    engine.problems().await
}
