//! Verbs about `ff` itself.

mod completions;
mod man;
#[cfg(test)]
mod page;
mod schema;

pub(crate) use completions::Completions;
pub(crate) use man::Man;
pub(crate) use schema::Schema;
