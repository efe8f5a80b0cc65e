//! What the verbs of `ff` print, as a person at a terminal sees it. The files in `expected/` hold it; `UPDATE_GOLDEN=1` writes them anew.

mod copies;
mod errors;
mod executions;
mod flows;
mod ids;
mod operate;
mod printed;
mod scene;
mod tools;
mod waiting;
