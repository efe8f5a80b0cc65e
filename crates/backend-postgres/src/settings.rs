//! Small shared state.

use ff_backend::Result;
use ff_backend::hint::Hint;
use ff_backend::settings::{Expected, Setting, SettingsOp, SettingsReply};

use crate::call::{Call, call};
use crate::error::corrupt;
use crate::hints;
use crate::rows::{answered, sent};
use crate::shared::{Shared, count, duration, moment};

sent! {
    /// An operation.
    #[derive(Default)]
    SettingOp as "setting_op" {
        what: &'static str, key: String, value: Option<String>, expected: Option<&'static str>,
        revision: Option<i64>, ttl_ms: Option<i64>, after: Option<String>, at_most: Option<i64>,
    }
}

answered! {
    /// What an operation found, or came to.
    SettingFound as "setting_found" {
        op: i32, what: String, key: Option<String>, value: Option<String>, revision: Option<i64>,
        updated_at: Option<i64>, expires_at: Option<i64>,
    }
}

impl Shared {
    /// Runs the operations, one after the other.
    pub(crate) async fn settings(&self, ops: Vec<SettingsOp>) -> Result<Vec<SettingsReply>> {
        let rows: Vec<SettingOp> = ops.iter().map(setting_op).collect();
        let asked = Call {
            writes: ops.iter().any(|op| matches!(op, SettingsOp::Put { .. })),
            ..call!(writing settings(ops: &rows))
        };
        let (_, answer) = self.ask(asked).await?;
        let mut found = answer.get::<Vec<SettingFound>>("answer")?.into_iter().peekable();
        let mut changed = Vec::new();
        let replies = (1..).zip(&ops).map(|(nth, op)| {
            let found: Vec<SettingFound> = std::iter::from_fn(|| found.next_if(|one| one.op == nth)).collect();
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
    let asked = |what, key: &String| SettingOp {
        what,
        key: key.clone(),
        ..SettingOp::default()
    };
    match op {
        SettingsOp::Get { key } => asked("get", key),
        SettingsOp::List { prefix, after, limit } => SettingOp {
            after: after.clone(),
            at_most: Some(count(*limit)),
            ..asked("list", prefix)
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
                value: value.as_ref().map(ToString::to_string),
                expected: Some(expected),
                revision,
                ttl_ms: ttl.map(duration),
                ..asked("put", key)
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
