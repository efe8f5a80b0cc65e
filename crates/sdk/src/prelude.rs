//! What most programs use, in one line: `use ff_sdk::prelude::*;`.

pub use crate::flow::{All, Any, Quorum};
pub use crate::{
    Client, Ctx, Events, Fabric, Flow, FromInputs, Input, Inputs, Node, Outcome, Run, State, Task, TaskError,
    TaskOptions, Worker, days, hours, mins, secs, tier,
};
