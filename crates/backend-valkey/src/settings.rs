//! Small shared state, all under one hash tag.

use ff_backend::Result;
use ff_backend::settings::{Expected, Setting, SettingsOp, SettingsReply};
use ff_core::time::Timestamp;
use redis::Value;

use crate::call::PATIENCE;
use crate::error::corrupt;
use crate::keys::SHARED;
use crate::library::Function;
use crate::pack::{Pack, count};
use crate::reply::{bytes, document, list, number, optional_number, text, values};
use crate::shared::Shared;

/// Greater than every byte of text.
const AFTER_TEXT: u8 = 0xff;

impl Shared {
    /// Runs operations in order, each atomic.
    pub(crate) async fn settings(&self, ops: Vec<SettingsOp>) -> Result<Vec<SettingsReply>> {
        let reads = |op: &SettingsOp| matches!(op, SettingsOp::Get { .. } | SettingsOp::List { .. });
        let function = match ops.iter().all(reads) {
            true => Function::READ_SETTINGS,
            false => Function::SETTINGS,
        };
        let mut ask = self.ask(1);
        ask.each(ops.iter(), pack_op);
        let reply = self.call_within(PATIENCE, function, SHARED, ask).await?;
        let replies: Vec<SettingsReply> = reply.answer.into_iter().map(parse).collect::<Result<_>>()?;
        match replies.len() == ops.len() {
            true => Ok(replies),
            false => Err(corrupt("a settings operation was not answered")),
        }
    }
}

fn pack_op(ask: &mut Pack, op: &SettingsOp) {
    match op {
        SettingsOp::Get { key } => ask.list(2).text("get").text(key),
        SettingsOp::List { prefix, after, limit } => {
            let (first, last) = range(prefix, after.as_deref());
            ask.list(4).text("list").text(first).text(last).number(count(*limit))
        }
        SettingsOp::Put {
            key,
            value,
            expected,
            ttl,
        } => ask
            .list(5)
            .text("put")
            .text(key)
            .text(expectation(*expected))
            .optional(value.as_ref().map(ToString::to_string))
            .maybe(ttl.map(|ttl| count(ttl.as_millis()))),
    };
}

/// The names that begin with `prefix` and come after `after`, in the server's words.
fn range(prefix: &str, after: Option<&str>) -> (String, Vec<u8>) {
    let first = match after.filter(|after| *after >= prefix) {
        Some(after) => format!("({after}"),
        None => format!("[{prefix}"),
    };
    let mut last = format!("({prefix}").into_bytes();
    last.push(AFTER_TEXT);
    (first, last)
}

fn expectation(expected: Expected) -> String {
    match expected {
        Expected::Anything => "anything".to_owned(),
        Expected::Absent => "absent".to_owned(),
        Expected::Revision(revision) => revision.to_string(),
    }
}

fn parse(reply: Value) -> Result<SettingsReply> {
    let mut parts = list(reply)?.into_iter();
    let outcome = parts.next().ok_or_else(|| corrupt("an answer is too short"))?;
    let mut settings = parts.map(setting).collect::<Result<Vec<_>>>()?;
    match text(&outcome)? {
        "page" => Ok(SettingsReply::Page(settings)),
        "absent" => Ok(SettingsReply::Absent),
        "conflict" => Ok(SettingsReply::Conflict(settings.pop())),
        "found" => settings
            .pop()
            .map(SettingsReply::Found)
            .ok_or_else(|| corrupt("a setting was found and not told")),
        other => Err(corrupt(format!("a settings operation was answered {other:?}"))),
    }
}

fn setting(value: Value) -> Result<Setting> {
    let [key, value, revision, updated_at, expires_at] = values(value)?;
    Ok(Setting {
        key: text(&key)?.to_owned(),
        value: document(bytes(value)?)?,
        revision: number(&revision)?,
        updated_at: Timestamp::from_millis(number(&updated_at)?),
        expires_at: optional_number(&expires_at)?.map(Timestamp::from_millis),
    })
}
