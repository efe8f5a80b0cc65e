//! The operations, a file per noun. Each file implements one trait of [`ff_core::fabric`].

mod budgets;
pub(crate) mod flows;
mod operate;
mod quotas;
mod reads;
mod replay;
mod signals;
mod streams;
mod submit;
mod work;
mod workers;

pub(crate) use reads::{Parked, Throughput};
