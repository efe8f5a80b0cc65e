//! Small shared state.

use ff_backend::Result;
use ff_backend::hint::Hint;
use ff_backend::settings::{Expected, Setting, SettingsOp, SettingsReply};
use postgres_types::{FromSql, ToSql};

use crate::call::{Call, call};
use crate::error::corrupt;
use crate::hints;
use crate::shared::{Shared, duration, moment};

/// An operation.
#[derive(Debug, Default, ToSql)]
#[postgres(name = "setting_op")]
struct SettingOp {
    what: &'static str,
    key: String,
    value: Option<String>,
    expected: Option<&'static str>,
    revision: Option<i64>,
    ttl_ms: Option<i64>,
    after: Option<String>,
    at_most: Option<i64>,
}

/// What an operation found, or came to.
#[derive(Debug, FromSql)]
#[postgres(name = "setting_found")]
struct SettingFound {
    op: i32,
    what: String,
    key: Option<String>,
    value: Option<String>,
    revision: Option<i64>,
    updated_at: Option<i64>,
    expires_at: Option<i64>,
}

impl Shared {
    /// Runs the operations, one after the other.
    pub(crate) async fn settings(&self, ops: Vec<SettingsOp>) -> Result<Vec<SettingsReply>> {
        let (caller, rows): (_, Vec<SettingOp>) = (self.caller(), ops.iter().map(setting_op).collect());
        let asked = Call {
            writes: ops.iter().any(|op| matches!(op, SettingsOp::Put { .. })),
            ..call!(writing settings(caller: &caller, ops: &rows))
        };
        let row = self.connections.row(asked).await?;
        self.was_told(row.try_get("now").map_err(corrupt)?);
        let found: Vec<SettingFound> = row.try_get("answer").map_err(corrupt)?;
        let mut by_op: Vec<Vec<SettingFound>> = ops.iter().map(|_| Vec::new()).collect();
        for one in found {
            let at = usize::try_from(one.op - 1).map_err(corrupt)?;
            by_op
                .get_mut(at)
                .ok_or_else(|| corrupt("an answer to nothing"))?
                .push(one);
        }
        let mut changed = Vec::new();
        let replies = ops.iter().zip(by_op).map(|(op, found)| {
            if let (SettingsOp::Put { key, .. }, Some(one)) = (op, found.first())
                && matches!(one.what.as_str(), "written" | "deleted")
            {
                changed.push(Hint::Setting(key.clone()));
            }
            reply(op, found)
        });
        let replies = replies.collect();
        hints::tell(self, changed);
        replies
    }
}

fn setting_op(op: &SettingsOp) -> SettingOp {
    match op {
        SettingsOp::Get { key } => SettingOp {
            what: "get",
            key: key.clone(),
            ..SettingOp::default()
        },
        SettingsOp::List { prefix, after, limit } => SettingOp {
            what: "list",
            key: prefix.clone(),
            after: after.clone(),
            at_most: Some(i64::try_from(*limit).unwrap_or(i64::MAX)),
            ..SettingOp::default()
        },
        SettingsOp::Put {
            key,
            value,
            expected,
            ttl,
        } => {
            let (expected, revision) = match expected {
                Expected::Anything => ("anything", None),
                Expected::Absent => ("absent", None),
                Expected::Revision(revision) => ("revision", Some(revision.cast_signed())),
            };
            SettingOp {
                what: "put",
                key: key.clone(),
                value: value.as_ref().map(ToString::to_string),
                expected: Some(expected),
                revision,
                ttl_ms: ttl.map(duration),
                ..SettingOp::default()
            }
        }
    }
}

fn reply(op: &SettingsOp, found: Vec<SettingFound>) -> Result<SettingsReply> {
    if let SettingsOp::List { .. } = op {
        let page = found.into_iter().filter_map(|one| setting(one).transpose());
        return page.collect::<Result<_>>().map(SettingsReply::Page);
    }
    let Some(one) = found.into_iter().next() else {
        return Ok(SettingsReply::Absent);
    };
    let is_conflict = one.what == "conflict";
    let found = setting(one)?;
    Ok(match (is_conflict, found) {
        (true, found) => SettingsReply::Conflict(found),
        (false, Some(found)) => SettingsReply::Found(found),
        (false, None) => SettingsReply::Absent,
    })
}

fn setting(found: SettingFound) -> Result<Option<Setting>> {
    let (Some(key), Some(value), Some(revision), Some(updated_at)) =
        (found.key, found.value, found.revision, found.updated_at)
    else {
        return Ok(None);
    };
    Ok(Some(Setting {
        key,
        value: serde_json::from_str(&value).map_err(corrupt)?,
        revision: revision.cast_unsigned(),
        updated_at: moment(updated_at),
        expires_at: found.expires_at.map(moment),
    }))
}
