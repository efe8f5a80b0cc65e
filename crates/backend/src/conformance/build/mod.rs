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
pub(crate) use records::{edge, every_record, flow, key, signal, step, tagged, waitpoint};
pub(crate) use store::{Store, submission};
