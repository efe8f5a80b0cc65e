//! The thread on which workers talk to the engine.

use std::sync::OnceLock;

use tokio::runtime::{Builder, Handle};

/// A runtime of its own for the loops of all workers of this process, so that a handler that blocks its thread costs nobody a
/// lease.
///
/// It never ends: what an engine of this process, or a pool of connections, began on it may be somebody else's by then.
pub(crate) fn runtime() -> std::io::Result<&'static Handle> {
    static RUNTIME: OnceLock<Handle> = OnceLock::new();
    if let Some(handle) = RUNTIME.get() {
        return Ok(handle);
    }
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let handle = runtime.handle().clone();
    // Of two threads that come here at once one is left without work, and harms nobody.
    std::thread::Builder::new()
        .name("ff-worker".to_owned())
        .spawn(move || runtime.block_on(std::future::pending::<()>()))?;
    Ok(RUNTIME.get_or_init(|| handle))
}
