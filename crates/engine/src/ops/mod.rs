//! The operations, a module per noun of the table, a function per operation: load, decide, commit.

pub(crate) mod budgets;
pub(crate) mod flows;
pub(crate) mod keys;
pub(crate) mod operate;
pub(crate) mod quotas;
pub(crate) mod reads;
mod replay;
pub(crate) mod signals;
pub(crate) mod streams;
pub(crate) mod submit;
pub(crate) mod views;
pub(crate) mod work;
pub(crate) mod workers;

pub(crate) use crate::scheduler::claims;
pub(crate) use flows::Pictures;
pub(crate) use reads::{FeedHub, NamesSeen, Throughput, WaitingReads};
