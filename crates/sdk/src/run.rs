//! One execution, by its id and the type of what it gives.

mod decision;
mod ended;
mod frames;
mod replay;
mod result;
mod steps;
pub(crate) mod waitpoint;

use std::fmt;
use std::marker::PhantomData;

use ff_core::command::operator::{CancelExecution, Cancelled};
use ff_core::fabric::{Fabric, On};
use ff_core::id::ExecutionId;
use ff_core::state::PublicState;
use ff_core::view::{ExecutionView, Explanation};

use crate::client::Client;
use crate::error::Result;
use crate::task::Task;

pub use self::decision::Decision;
pub use self::ended::Ended;
pub use self::frames::{Frames, ReadFrames, RunFrame};
pub use self::replay::Replay;
pub use self::steps::{ReadSteps, Step};

/// One execution that gives an `O` when it succeeds. It is a handle: dropped, the execution goes on.
///
/// ```no_run
/// # use ff_sdk::{Client, Task};
/// # use serde::{Deserialize, Serialize};
/// # #[derive(Serialize, Deserialize)]
/// # struct Summarize { url: String }
/// # impl Task for Summarize { const KIND: &'static str = "summarize"; type Output = String; type Inputs = (); }
/// # async fn example(ff: Client) -> ff_sdk::Result<()> {
/// let run = ff.submit(Summarize { url: "https://example.org".into() }).await?;
/// println!("{} is {}", run.id(), run.state().await?);
/// println!("{}", run.result().await?);
/// # Ok(())
/// # }
/// ```
pub struct Run<O> {
    client: Client,
    id: ExecutionId,
    gives: PhantomData<fn() -> O>,
}

impl Client {
    /// The handle of an execution of `T` whose id is known. Nothing is asked: whether there is one shows with its first call.
    pub fn run<T: Task>(&self, id: ExecutionId) -> Run<T::Output> {
        self.run_of(id)
    }

    /// The same by what the execution gives.
    pub(crate) fn run_of<O>(&self, id: ExecutionId) -> Run<O> {
        Run {
            client: self.clone(),
            id,
            gives: PhantomData,
        }
    }
}

impl<O> Run<O> {
    /// Its id: keep it, and [`Client::run`] gives the handle again.
    pub const fn id(&self) -> ExecutionId {
        self.id
    }

    pub(crate) const fn client(&self) -> &Client {
        &self.client
    }

    /// Where it stands, in one word.
    pub async fn state(&self) -> Result<PublicState> {
        Ok(self.client.get_state(self.id).await?.public_state)
    }

    /// Everything about it but its bytes.
    pub async fn view(&self) -> Result<ExecutionView> {
        Ok(self.client.get_execution(self.id).await?)
    }

    /// Ends it, whatever it is doing. A handler that runs is told to stop.
    pub async fn cancel(&self, reason: impl Into<String>) -> Result<Cancelled> {
        let command = CancelExecution {
            reason: reason.into(),
            fence: None,
        };
        Ok(self.client.cancel_execution(On::new(self.id, command)).await?)
    }

    /// Each condition between it and a worker, with its current value: why it does not run.
    pub async fn explain(&self) -> Result<Explanation> {
        Ok(self.client.explain(self.id).await?)
    }
}

impl<O> Clone for Run<O> {
    fn clone(&self) -> Self {
        self.client.run_of(self.id)
    }
}

impl<O> fmt::Debug for Run<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Run").field(&self.id).finish()
    }
}
