//! A task: the type that who submits and who works share.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::inputs::FromInputs;
use crate::options::TaskOptions;

/// A kind of work. The type itself is what the work is given: whoever submits writes one, the handler reads it.
///
/// Both sides depend on this type and on nothing else of each other. `#[derive(Task)]` writes the same as:
///
/// ```
/// use ff_sdk::{Task, TaskOptions};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize)]
/// struct Summarize {
///     url: String,
/// }
///
/// impl Task for Summarize {
///     const KIND: &'static str = "summarize";
///     type Output = String;
///     type Inputs = ();
///
///     fn options() -> TaskOptions {
///         TaskOptions::new().lane("web").retries(5)
///     }
/// }
/// ```
///
/// Anything else cannot be submitted, which the compiler says in a sentence:
///
/// ```compile_fail,E0277
/// # async fn example(ff: ff_sdk::Client) {
/// ff.submit("not a task").await;
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a task",
    label = "this is not a task",
    note = "a task is the type of what the work is given: put `#[derive(Serialize, Deserialize, Task)]` and `#[task(kind = \"…\", output = …)]` on it"
)]
pub trait Task: Serialize + DeserializeOwned + Send + 'static {
    /// What workers know it by. It is stored with every execution: changed, those on their way find no handler.
    const KIND: &'static str;
    /// What the work gives.
    type Output: Serialize + DeserializeOwned + Send + 'static;
    /// What it is handed of other members of its flow; `()` when that is nothing.
    type Inputs: FromInputs;

    /// How it is run unless a submission says otherwise.
    fn options() -> TaskOptions {
        TaskOptions::default()
    }
}
