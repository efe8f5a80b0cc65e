//! Handing out: claims, admission, grants, exchange.

mod admission;
mod claim;
mod exchange;
mod grants;
mod support;
