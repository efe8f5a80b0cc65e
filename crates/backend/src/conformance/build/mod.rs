//! What the cases are made of: a store under test with builders for everything it is asked.

mod ask;
mod feed;
#[cfg(test)]
mod golden;
mod random;
mod records;
mod store;

pub(crate) use ask::{conflict, fence, ids, record_key};
pub(crate) use feed::FeedReader;
pub(crate) use random::Random;
pub(crate) use records::{all_entries, attempt, edge, every_record, flow, key, phase, signal, step, tagged, waitpoint};
pub(crate) use store::{Store, submission};
