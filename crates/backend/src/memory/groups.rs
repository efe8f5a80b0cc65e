//! Sorted sets by key; a key with nothing under it is gone.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeBounds;

/// Sorted sets by key.
#[derive(Clone)]
pub(super) struct Groups<K, V>(BTreeMap<K, BTreeSet<V>>);

impl<K, V> Default for Groups<K, V> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<K: Ord, V: Ord> Groups<K, V> {
    /// Adds `value`; whether it is the first one under `key`.
    pub(super) fn insert(&mut self, key: K, value: V) -> bool {
        let group = self.0.entry(key).or_default();
        group.insert(value);
        group.len() == 1
    }

    /// Removes `value`.
    pub(super) fn remove(&mut self, key: &K, value: &V) {
        let Some(group) = self.0.get_mut(key) else { return };
        group.remove(value);
        if group.is_empty() {
            self.0.remove(key);
        }
    }

    /// What is under `key`.
    pub(super) fn get(&self, key: &K) -> Option<&BTreeSet<V>> {
        self.0.get(key)
    }

    /// The groups whose keys are in `keys`, in order.
    pub(super) fn range(&self, keys: impl RangeBounds<K>) -> impl Iterator<Item = (&K, &BTreeSet<V>)> {
        self.0.range(keys)
    }
}
