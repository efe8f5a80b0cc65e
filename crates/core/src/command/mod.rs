//! What callers ask for and what they are told: one struct in, one outcome out, a file per noun.

pub mod budget;
pub mod claim;
mod finish;
pub mod flow;
pub mod key;
pub mod lane;
pub mod lease;
pub mod operator;
pub mod page;
pub mod quota;
pub mod signal;
pub mod spawn;
pub mod steps;
pub mod stream;
pub mod submit;
pub mod suspend;
pub mod view;
pub mod waitpoint;
pub mod worker;
