//! The operations of ops/: repetitions, lost replies, refusals.

mod audit;
mod claims;
mod frames;
mod keys;
mod limits;
mod members;
mod operate;
mod panics;
mod submit;
mod support;
mod usage;
mod waitpoints;
mod work;
