//! Small shared state.

use ff_backend::hint::Hint;
use ff_backend::settings::{Setting, SettingsOp, SettingsReply};
use ff_core::time::{Duration, Timestamp};
use rusqlite::Row;
use serde_json::Value;

use crate::batch::Batch;
use crate::column::{from_json, integer, moment, moment_if_any, text, to_json};
use crate::database::Database;
use crate::sql::{self, with};

impl Batch<'_> {
    /// Runs an operation.
    pub(crate) fn setting(&mut self, op: SettingsOp) -> rusqlite::Result<SettingsReply> {
        let SettingsOp::Put {
            key,
            value,
            expected,
            ttl,
        } = op
        else {
            return read(&self.database, &op, self.now);
        };
        let found = load(&self.database, &key, self.now)?;
        if !expected.is_met_by(found.as_ref()) {
            return Ok(SettingsReply::Conflict(found));
        }
        if let Some(value) = value {
            return self.put_setting(key, value, ttl).map(SettingsReply::Found);
        }
        if found.is_some() {
            self.database.run(with!(sql::DELETE_SETTING, key: key))?;
            self.hint(Hint::Setting(key));
        }
        Ok(SettingsReply::Absent)
    }

    fn put_setting(&mut self, key: String, value: Value, ttl: Option<Duration>) -> rusqlite::Result<Setting> {
        self.state.last_revision += 1;
        let setting = Setting {
            key,
            value,
            revision: self.state.last_revision,
            updated_at: self.now,
            expires_at: ttl.map(|ttl| self.now + ttl),
        };
        self.database.run(with!(sql::PUT_SETTING,
            key: setting.key,
            value: to_json(&setting.value)?,
            revision: setting.revision,
            updated_at: setting.updated_at.as_millis(),
            expires_at: setting.expires_at.map(Timestamp::as_millis)))?;
        self.hint(Hint::Setting(setting.key.clone()));
        Ok(setting)
    }
}

/// What an operation reads. One that writes reads nothing.
pub(crate) fn read(database: &Database<'_>, op: &SettingsOp, now: Timestamp) -> rusqlite::Result<SettingsReply> {
    let (prefix, after, limit) = match op {
        SettingsOp::Put { .. } => return Ok(SettingsReply::Absent),
        SettingsOp::Get { key } => {
            let found = load(database, key, now)?;
            return Ok(found.map_or(SettingsReply::Absent, SettingsReply::Found));
        }
        SettingsOp::List { prefix, after, limit } => (prefix, after, limit),
    };
    let from = after.as_ref().unwrap_or(prefix).max(prefix);
    let asked = with!(sql::LIST_SETTINGS, from: from, after: after, now: now.as_millis(), limit: integer(*limit));
    database.rows(asked, |mut rows| {
        let mut page = Vec::new();
        while let Some(row) = rows.next()?
            && text(row, 0)?.starts_with(prefix)
        {
            page.push(setting(row)?);
        }
        Ok(SettingsReply::Page(page))
    })
}

fn load(database: &Database<'_>, key: &str, now: Timestamp) -> rusqlite::Result<Option<Setting>> {
    database.find(with!(sql::LOAD_SETTING, key: key, now: now.as_millis()), setting)
}

fn setting(row: &Row<'_>) -> rusqlite::Result<Setting> {
    Ok(Setting {
        key: row.get(0)?,
        value: from_json(text(row, 1)?)?,
        revision: row.get(2)?,
        updated_at: moment(row, 3)?,
        expires_at: moment_if_any(row, 4)?,
    })
}
