//! Transactions of one call that write a record in common go one after the other.

use std::collections::HashMap;

use ff_backend::transaction::{Role, Transaction};
use ff_core::record::RecordKey;

use super::Open;

/// Transactions in one step at most.
const WAVE_MAX: usize = 128;

/// The first step in which a record may be written next, and read.
#[derive(Clone, Copy, Default)]
struct Free {
    written: usize,
    read: usize,
}

/// The same transactions in steps: in each, no record is written by one and touched by another, and what is related keeps its order.
pub(super) fn waves(open: Open<'_>) -> Vec<Open<'_>> {
    let mut waves: Vec<Open<'_>> = Vec::new();
    let mut free: HashMap<RecordKey, Free> = HashMap::new();
    for (place, transaction) in open {
        let mut first = first_free(transaction, &free);
        while waves.get(first).is_some_and(|wave| wave.len() >= WAVE_MAX) {
            first += 1;
        }
        for (role, key, _) in transaction.expectations() {
            let free = free.entry(key).or_default();
            free.written = free.written.max(first + 1);
            if role != Role::Guard {
                free.read = free.read.max(first + 1);
            }
        }
        waves.resize_with(waves.len().max(first + 1), Vec::new);
        waves[first].push((place, transaction));
    }
    waves
}

fn first_free(transaction: &Transaction, free: &HashMap<RecordKey, Free>) -> usize {
    let touched = transaction.expectations().map(|(role, key, _)| {
        let free = free.get(&key).copied().unwrap_or_default();
        if role == Role::Guard { free.read } else { free.written }
    });
    touched.max().unwrap_or(0)
}
