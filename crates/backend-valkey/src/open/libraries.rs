//! Libraries of other releases: those that nobody has used for a day are deleted.
//!
//! Deleting one that is in use does no harm: whoever misses it loads it again.

use std::sync::Weak;
use std::time::Duration;

use ff_backend::Result;
use ff_backend::opening::Obstacle as _;
use redis::Value;
use tokio::time::sleep;

use super::obstacle::Obstacle;
use crate::call::PATIENCE;
use crate::client::Nodes;
use crate::error::corrupt;
use crate::keys::SHARED;
use crate::library::{Function, LIBRARY, NAME_PREFIX};
use crate::pack::count;
use crate::reply::{list, text};
use crate::shared::Shared;

/// How long a library may be unused.
const UNUSED_MAX: Duration = Duration::from_hours(24);
/// How often a process notes that it uses its own.
const NOTED_EVERY: Duration = Duration::from_hours(1);

/// Notes hourly that the library is in use, for as long as the store is open.
pub(super) async fn keep_in_use(shared: Weak<Shared>) {
    loop {
        sleep(NOTED_EVERY).await;
        let Some(shared) = shared.upgrade() else { return };
        if let Err(error) = note_use(&shared).await.map_err(Obstacle::into_error) {
            tracing::debug!(%error, "the library's use was not noted; the next hour tries again");
        }
    }
}

/// Notes that the library is in use, and deletes those that are not.
pub(super) async fn note_use(shared: &Shared) -> std::result::Result<(), Obstacle> {
    let loaded = loaded(shared).await?;
    let mut ask = shared.ask(3);
    ask.text(LIBRARY.name())
        .texts(loaded.iter())
        .number(count(UNUSED_MAX.as_millis()));
    let reply = shared.call_within(PATIENCE, Function::LIBRARIES, SHARED, ask).await?;
    for name in &reply.answer {
        delete(shared, text(name)?).await;
    }
    Ok(())
}

/// Libraries of this and other releases on any server.
async fn loaded(shared: &Shared) -> std::result::Result<Vec<String>, Obstacle> {
    let mut command = redis::cmd("FUNCTION");
    command.arg("LIST").arg("LIBRARYNAME").arg(format!("{NAME_PREFIX}*"));
    let mut names = Vec::new();
    for listed in shared.client.run_on(Nodes::Primaries, &command).await? {
        for library in list(listed?)? {
            names.push(name_of(library)?);
        }
    }
    names.sort_unstable();
    names.dedup();
    Ok(names)
}

/// A library is listed as names and values.
fn name_of(library: Value) -> Result<String> {
    let fields = list(library)?;
    let is_name = |pair: &&[Value]| text(&pair[0]).is_ok_and(|field| field == "library_name");
    let found = fields.chunks_exact(2).find(is_name);
    let found = found.ok_or_else(|| corrupt("a library is listed without its name"))?;
    text(&found[1]).map(str::to_owned)
}

async fn delete(shared: &Shared, name: &str) {
    let mut command = redis::cmd("FUNCTION");
    command.arg("DELETE").arg(name);
    match shared.client.run_on(Nodes::Primaries, &command).await {
        Ok(_) => tracing::info!(library = name, "deleted a library that nobody has used for a day"),
        Err(error) => tracing::debug!(library = name, %error, "a library that nobody uses stays"),
    }
}
