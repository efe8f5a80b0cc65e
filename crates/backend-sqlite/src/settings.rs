//! Small shared state.

use ff_backend::Result;
use ff_backend::hint::Hint;
use ff_backend::settings::{Setting, SettingsOp, SettingsReply};
use ff_core::time::{Duration, Timestamp};
use rusqlite::{Connection, OptionalExtension, Row};
use serde_json::Value;

use crate::backend::SqliteBackend;
use crate::batch::Batch;
use crate::record::{from_json, to_json};

impl SqliteBackend {
    /// Runs operations in order. Reading alone does not wait for the writer.
    pub(crate) async fn settings_ops(&self, ops: Vec<SettingsOp>) -> Result<Vec<SettingsReply>> {
        let reads = |op: &SettingsOp| matches!(op, SettingsOp::Get { .. } | SettingsOp::List { .. });
        if ops.iter().all(reads) {
            return self
                .read_store(move |connection, now| ops.iter().filter_map(|op| read(connection, op, now)).collect())
                .await;
        }
        self.write(move |batch| ops.into_iter().map(|op| batch.setting(op)).collect())
            .await
    }
}

impl Batch<'_> {
    fn setting(&mut self, op: SettingsOp) -> rusqlite::Result<SettingsReply> {
        match op {
            SettingsOp::Get { key } => get(self.connection, &key, self.now),
            SettingsOp::List { prefix, after, limit } => list(
                self.connection,
                &Listed {
                    prefix: &prefix,
                    after: after.as_deref(),
                    limit,
                },
                self.now,
            ),
            SettingsOp::Put {
                key,
                value,
                expected,
                ttl,
            } => {
                let found = load(self.connection, &key, self.now)?;
                if !expected.is_met_by(found.as_ref()) {
                    return Ok(SettingsReply::Conflict(found));
                }
                self.put_setting(key, value, ttl).map(SettingsReply::Found)
            }
            SettingsOp::Delete { key, expected } => {
                let found = load(self.connection, &key, self.now)?;
                if !expected.is_met_by(found.as_ref()) {
                    return Ok(SettingsReply::Conflict(found));
                }
                if found.is_some() {
                    self.run(include_str!("../sql/delete_setting.sql"), [&key])?;
                    self.hint(Hint::Setting(key));
                }
                Ok(SettingsReply::Absent)
            }
        }
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
        let params = (
            &setting.key,
            to_json(&setting.value)?,
            setting.revision,
            setting.updated_at.as_millis(),
            setting.expires_at.map(Timestamp::as_millis),
        );
        self.run(include_str!("../sql/put_setting.sql"), params)?;
        self.hint(Hint::Setting(setting.key.clone()));
        Ok(setting)
    }
}

/// What an operation reads; `None`: it writes.
fn read(connection: &Connection, op: &SettingsOp, now: Timestamp) -> Option<rusqlite::Result<SettingsReply>> {
    match op {
        SettingsOp::Get { key } => Some(get(connection, key, now)),
        SettingsOp::List { prefix, after, limit } => {
            let listed = Listed {
                prefix,
                after: after.as_deref(),
                limit: *limit,
            };
            Some(list(connection, &listed, now))
        }
        SettingsOp::Put { .. } | SettingsOp::Delete { .. } => None,
    }
}

fn get(connection: &Connection, key: &str, now: Timestamp) -> rusqlite::Result<SettingsReply> {
    let found = load(connection, key, now)?;
    Ok(found.map_or(SettingsReply::Absent, SettingsReply::Found))
}

fn load(connection: &Connection, key: &str, now: Timestamp) -> rusqlite::Result<Option<Setting>> {
    let mut statement = connection.prepare_cached(include_str!("../sql/load_setting.sql"))?;
    statement.query_row((key, now.as_millis()), setting).optional()
}

struct Listed<'a> {
    prefix: &'a str,
    after: Option<&'a str>,
    limit: usize,
}

fn list(connection: &Connection, listed: &Listed<'_>, now: Timestamp) -> rusqlite::Result<SettingsReply> {
    let mut statement = connection.prepare_cached(include_str!("../sql/list_settings.sql"))?;
    let from = listed.after.unwrap_or_default().max(listed.prefix);
    let limit = i64::try_from(listed.limit).unwrap_or(i64::MAX);
    let mut rows = statement.query((from, listed.after, now.as_millis(), limit))?;
    let mut page = Vec::new();
    while let Some(row) = rows.next()? {
        if !row.get_ref(0)?.as_str()?.starts_with(listed.prefix) {
            break;
        }
        page.push(setting(row)?);
    }
    Ok(SettingsReply::Page(page))
}

fn setting(row: &Row<'_>) -> rusqlite::Result<Setting> {
    let expires_at: Option<u64> = row.get(4)?;
    Ok(Setting {
        key: row.get(0)?,
        value: from_json(row.get_ref(1)?.as_str()?)?,
        revision: row.get(2)?,
        updated_at: Timestamp::from_millis(row.get(3)?),
        expires_at: expires_at.map(Timestamp::from_millis),
    })
}
