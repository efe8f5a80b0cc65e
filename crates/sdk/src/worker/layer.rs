//! Layers: what runs around every handler of a worker.

use std::borrow::Borrow;
use std::sync::Arc;

use futures::future::BoxFuture;

use super::registry::Run;
use crate::handler::{Ending, Given, TaskInfo};

/// Something that runs around every handler of a worker: it measures, logs, or answers in its place.
///
/// A handler that pauses (a wait, a long sleep) is dropped with the layers around it and runs again from its first line.
pub trait Layer: Send + Sync + 'static {
    /// Runs the task, by way of [`Next::run`] or not.
    fn run(&self, task: TaskInfo, next: Next) -> BoxFuture<'static, Ending>;
}

/// What a layer is around: the layers inside it, and the handler.
pub struct Next {
    layers: Arc<[Arc<dyn Layer>]>,
    /// How many of the layers have begun.
    begun: usize,
    handler: Arc<dyn Run>,
    given: Given,
}

impl Next {
    pub(super) fn new(layers: Arc<[Arc<dyn Layer>]>, handler: Arc<dyn Run>, given: Given) -> Self {
        Self {
            layers,
            begun: 0,
            handler,
            given,
        }
    }

    /// Runs what is inside, and says how it ended.
    pub fn run(mut self, task: impl Borrow<TaskInfo>) -> BoxFuture<'static, Ending> {
        match self.layers.get(self.begun).map(Arc::clone) {
            None => self.handler.run(self.given),
            Some(layer) => {
                self.begun += 1;
                layer.run(task.borrow().clone(), self)
            }
        }
    }
}

/// A layer from an async function.
///
/// ```
/// use ff_sdk::from_fn;
///
/// let timed = from_fn(|task, next| async move {
///     let begun = std::time::Instant::now();
///     let end = next.run(&task).await;
///     println!("{} took {:?}, well: {}", task.kind(), begun.elapsed(), end.is_ok());
///     end
/// });
/// ```
pub fn from_fn<F, Fut>(function: F) -> impl Layer
where
    F: Fn(TaskInfo, Next) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Ending> + Send + 'static,
{
    FromFn(function)
}

struct FromFn<F>(F);

impl<F, Fut> Layer for FromFn<F>
where
    F: Fn(TaskInfo, Next) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Ending> + Send + 'static,
{
    fn run(&self, task: TaskInfo, next: Next) -> BoxFuture<'static, Ending> {
        Box::pin((self.0)(task, next))
    }
}
