//! Flows as code: tasks that wait for each other and hand their results on, submitted in one call.

mod check;
mod graph;
mod node;
mod run;
mod submit;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ff_core::id::FlowId;
use ff_core::policy::Retention;

use self::graph::Graph;
pub use self::node::{Join, Node};
pub use self::run::FlowRun;
use crate::duration::millis;
use crate::submit::{IntoSubmission, Written};
use crate::task::Task;

pub use self::node::Join::{All, Any, Quorum};

/// A flow that is being written down. Nothing runs before it is submitted, and then only when all of it is there.
///
/// ```
/// # use ff_sdk::{Flow, FromInputs, Task};
/// # use serde::{Deserialize, Serialize};
/// # #[derive(Serialize, Deserialize, Task)]
/// # #[task(kind = "fetch", output = String)]
/// # struct Fetch { url: String }
/// # #[derive(Serialize, Deserialize, Task)]
/// # #[task(kind = "merge", output = String, inputs = MergeInputs)]
/// # struct Merge {}
/// # #[derive(FromInputs)]
/// # struct MergeInputs { pages: Vec<String> }
/// # #[derive(Serialize, Deserialize, Task)]
/// # #[task(kind = "render", output = String, inputs = RenderInputs)]
/// # struct Render {}
/// # #[derive(FromInputs)]
/// # struct RenderInputs { text: String }
/// # async fn example(ff: ff_sdk::Client, urls: Vec<String>) -> ff_sdk::Result<()> {
/// let mut flow = Flow::new("report");
/// let pages: Vec<_> = urls.iter().map(|url| flow.add(Fetch { url: url.clone() })).collect();
/// let merged = flow.add(Merge {}).collect("pages", &pages);
/// let report = flow.add(Render {}).input("text", &merged);
/// let text = ff.submit_flow(flow).await?.result(&report).await?;
/// # Ok(())
/// # }
/// ```
pub struct Flow {
    graph: Shared,
}

/// What a flow and its nodes write into.
type Shared = Arc<Mutex<Graph>>;

impl Flow {
    /// An empty flow of this kind: listings and events can be filtered by it.
    pub fn new(kind: impl Into<String>) -> Self {
        Self {
            graph: Arc::new(Mutex::new(Graph::new(kind.into()))),
        }
    }

    /// Its id, instead of a fresh one: a repeated submission is the first one.
    #[must_use]
    pub fn id(self, id: FlowId) -> Self {
        lock(&self.graph).id = Some(id);
        self
    }

    /// A label that listings can be filtered by; the key matches `[a-z][a-z0-9_.-]{0,127}`.
    #[must_use]
    pub fn tag(self, key: impl Into<String>, value: impl Into<String>) -> Self {
        lock(&self.graph).tags.insert(key.into(), value.into());
        self
    }

    /// How long it is kept after its last member ended.
    #[must_use]
    pub fn retention(self, time: Duration) -> Self {
        lock(&self.graph).retention = Some(Retention::For(millis(time)));
        self
    }

    /// Adds a task, which is called `<kind>-<n>` unless it is named.
    pub fn add<S: IntoSubmission>(&mut self, task: S) -> Node<<S::Task as Task>::Output> {
        let index = lock(&self.graph).add::<S::Task>(Written::of(task.into_submission()));
        Node::new(Arc::clone(&self.graph), index)
    }
}

/// Nobody leaves a graph half-written: whoever panicked did so before or after.
fn lock(graph: &Mutex<Graph>) -> MutexGuard<'_, Graph> {
    graph.lock().unwrap_or_else(PoisonError::into_inner)
}
