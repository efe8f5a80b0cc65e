//! Small shared state.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use ff_core::time::{Duration, Timestamp};
use serde_json::Value;

use super::store::Store;
use crate::hint::Hint;
use crate::settings::{Expected, Setting, SettingsOp, SettingsReply};

/// The settings by name.
#[derive(Clone, Default)]
pub(super) struct SettingsTable {
    by_key: BTreeMap<String, Setting>,
    expiring: BTreeSet<(Timestamp, String)>,
    /// The last revision given to any of them; none is given twice.
    revision: u64,
}

impl SettingsTable {
    fn forget_expired(&mut self, now: Timestamp) {
        while let Some((_, key)) = self.expiring.first().filter(|(at, _)| at.has_come(now)).cloned() {
            self.remove(&key);
        }
    }

    fn remove(&mut self, key: &str) -> Option<Setting> {
        let setting = self.by_key.remove(key)?;
        if let Some(at) = setting.expires_at {
            self.expiring.remove(&(at, key.to_owned()));
        }
        Some(setting)
    }

    fn put(&mut self, key: String, value: Value, ttl: Option<Duration>, now: Timestamp) -> Setting {
        self.remove(&key);
        self.revision += 1;
        let expires_at = ttl.map(|ttl| now + ttl);
        if let Some(at) = expires_at {
            self.expiring.insert((at, key.clone()));
        }
        let setting = Setting {
            key,
            value,
            revision: self.revision,
            updated_at: now,
            expires_at,
        };
        self.by_key.insert(setting.key.clone(), setting.clone());
        setting
    }

    fn page(&self, prefix: &str, after: Option<&str>, limit: usize) -> Vec<Setting> {
        let from = match after.filter(|after| *after >= prefix) {
            Some(after) => Bound::Excluded(after),
            None => Bound::Included(prefix),
        };
        let settings = self.by_key.range::<str, _>((from, Bound::Unbounded));
        let of_prefix = settings.take_while(|(key, _)| key.starts_with(prefix));
        of_prefix.take(limit).map(|(_, setting)| setting.clone()).collect()
    }
}

impl Store {
    /// One operation on the settings.
    pub(super) fn settings(&mut self, op: SettingsOp) -> SettingsReply {
        self.settings.forget_expired(self.now);
        match op {
            SettingsOp::Get { key } => self.settings.by_key.get(&key).cloned().into(),
            SettingsOp::List { prefix, after, limit } => {
                SettingsReply::Page(self.settings.page(&prefix, after.as_deref(), limit))
            }
            SettingsOp::Put {
                key,
                value,
                expected,
                ttl,
            } => match self.setting_conflict(&key, expected) {
                Some(conflict) => conflict,
                None => self.write_setting(key, value, ttl),
            },
        }
    }

    fn write_setting(&mut self, key: String, value: Option<Value>, ttl: Option<Duration>) -> SettingsReply {
        if value.is_some() || self.settings.remove(&key).is_some() {
            self.hints.note(Hint::Setting(key.clone()));
        }
        match value {
            Some(value) => SettingsReply::Found(self.settings.put(key, value, ttl, self.now)),
            None => SettingsReply::Absent,
        }
    }

    fn setting_conflict(&self, key: &str, expected: Expected) -> Option<SettingsReply> {
        let found = self.settings.by_key.get(key);
        (!expected.is_met_by(found)).then(|| SettingsReply::Conflict(found.cloned()))
    }
}

impl From<Option<Setting>> for SettingsReply {
    fn from(setting: Option<Setting>) -> Self {
        setting.map_or(SettingsReply::Absent, SettingsReply::Found)
    }
}
