//! Handlers: plain async functions that say by their arguments what they need, and by what they return how a task goes on.
//!
//! | where | what |
//! |---|---|
//! | `function` | which functions are handlers |
//! | `arguments` | functions and their arguments, each for itself |
//! | `extract` | what a handler can be given |
//! | `outcome` | what it can return |
//! | `given` | the task as its arguments are made from |

mod arguments;
mod extract;
mod function;
mod given;
mod info;
mod outcome;

pub use arguments::{Arguments, FirstArgument, Function, TaskArguments};
pub use extract::{Attempt, FromTask, Input, Inputs, NotGiven, Raw, State, Tags, Tier};
pub use function::{Handler, Limited, RawHandler, TaskLimits};
pub(crate) use given::States;
pub use given::{Given, Needs};
pub(crate) use info::Facts;
pub use info::TaskInfo;
pub use outcome::{Ending, IntoOutcome, Outcome};
