//! The conformance suite on the store in memory, and on one that takes every liberty of the contract.

mod liberties;
mod memory;
