//! Writing what was worked out from what was read, if nobody wrote meanwhile.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::Duration;

use ff_backend::{Error, Result};
use ff_core::partition::Partition;
use tokio::time::sleep;

use super::fields::Fields;
use crate::call::Reply;
use crate::keys::prefix;
use crate::library::Function;
use crate::shared::Shared;

/// How often a change is worked out again because the limit was written meanwhile.
pub(crate) const TRIES_MAX: u32 = 64;
/// So many tries follow each other at once.
const TRIES_AT_ONCE: u32 = 4;
/// The longest pause between later ones.
const PAUSE_MAX_MS: u64 = 8;

/// A change of a limit.
pub(crate) struct Put<'a> {
    pub(crate) function: Function,
    pub(crate) partition: Partition,
    /// The name of its hash.
    pub(crate) name: String,
    /// The revision that was read; empty: it is new.
    pub(crate) revision: &'a str,
    pub(crate) before: Fields,
    pub(crate) after: Fields,
    /// The set of those that are not deleted.
    pub(crate) set: &'a str,
    /// Its [`member`](super::member) of that set.
    pub(crate) member: String,
}

impl Shared {
    /// Writes a change. The answer is nothing, or the limit as it is if it has another revision.
    pub(crate) async fn put_limit(&self, put: Put<'_>) -> Result<Reply> {
        let mut ask = self.ask(7);
        ask.text(prefix(put.partition)).text(&put.name).text(put.revision);
        put.after.pack_since(&put.before, &mut ask);
        ask.text(put.set).text(put.member);
        let reply = self.call(put.function, put.partition, ask).await?;
        self.was_told(reply.now);
        Ok(reply)
    }
}

/// Waits before another try, so that those who change the same limit do not keep meeting.
pub(crate) async fn pause(tries: u32) {
    if tries >= TRIES_AT_ONCE {
        let dice = RandomState::new().build_hasher().finish();
        sleep(Duration::from_millis(1 + dice % PAUSE_MAX_MS)).await;
    }
}

/// A limit was written by others in every try.
pub(crate) fn contended(name: &str) -> Error {
    Error::Unavailable(format!(
        "{name} was written by others {TRIES_MAX} times while it was being changed"
    ))
}
