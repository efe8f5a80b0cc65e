//! FlowFabric for programs.
//!
//! A [`Task`] is a type: whoever submits writes one, a handler reads it. [`Client`] submits tasks, waits for what they give and
//! watches them, over an engine in the same process or a server far away; it is a [`Fabric`], as the engine is, so that
//! whatever is written against one runs against the other.
//!
//! ```no_run
//! use ff_sdk::{Client, Task};
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Serialize, Deserialize, Task)]
//! #[task(kind = "hello", output = String)]
//! struct Hello {
//!     name: String,
//! }
//!
//! # async fn example() -> ff_sdk::Result<()> {
//! let ff = Client::connect("http://127.0.0.1:7117").open()?;
//! let run = ff.submit(Hello { name: "Ana".into() }).await?;
//! println!("{}", run.result().await?);
//! # Ok(())
//! # }
//! ```

// What the derives write names this crate, also where it is used inside of it.
extern crate self as ff_sdk;

pub mod budget;
pub mod client;
pub mod codec;
pub mod ctx;
mod duration;
#[cfg(feature = "embedded")]
pub mod embedded;
mod error;
pub mod events;
pub mod flow;
pub mod handler;
pub mod inputs;
pub mod json;
mod options;
mod patience;
pub mod prelude;
#[cfg(feature = "client")]
pub mod remote;
pub mod run;
mod signal;
mod submit;
mod task;
mod task_error;
#[cfg(feature = "test")]
pub mod test;
pub mod worker;

pub use budget::{ChangeBudget, NewBudget};
pub use client::Client;
pub use codec::{Codec, CodecError, Json};
pub use ctx::{Child, ChildFailed, Ctx, Decided, OnBreach, StepRun, Stop};
pub use duration::{days, hours, mins, secs};
pub use error::{Error, Result};
pub use events::{Events, Observed};
pub use ff_core;
pub use ff_core::error::{Code, Rejection};
pub use ff_core::fabric::Fabric;
pub use ff_core::id::{BudgetId, ExecutionId, FlowId, QuotaPolicyId};
pub use ff_core::payload::Payload;
pub use ff_core::record::TimeoutBehavior as OnTimeout;
pub use ff_core::record::{Happening, OnHardLimit};
pub use ff_core::state::PublicState;
pub use ff_sdk_macros::{FromInputs, Task};
pub use flow::{Flow, FlowRun, Node};
pub use handler::{
    Attempt, FromTask, Handler, Input, Inputs, IntoOutcome, Outcome, Raw, RawHandler, State, Tags, TaskInfo,
    TaskLimits, Tier,
};
pub use inputs::{FromInputs, InputError, NamedInputs};
pub use options::{TaskOptions, tier};
#[cfg(feature = "client")]
pub use remote::Remote;
pub use run::{Ended, Run};
pub use signal::{CallbackHandle, Signal};
pub use submit::{IntoSubmission, RunOf, Submission, Submit};
pub use task::Task;
pub use task_error::TaskError;
pub use worker::{
    BuildError, Drain, DrainThen, Layer, Next, TakeError, UnknownKind, Worker, WorkerBuilder, WorkerError, from_fn,
};
