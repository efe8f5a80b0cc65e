//! The signals that end a process.

use tokio::sync::mpsc;

use super::thread;

/// A message for each signal that asks the process to end. It is listened to on the workers' own thread, as the runtime of the
/// caller may be one without signals, or be blocked.
pub(super) fn signals() -> std::io::Result<mpsc::UnboundedReceiver<()>> {
    let (told, telling) = mpsc::unbounded_channel();
    let runtime = thread::runtime()?;
    let _inside = runtime.enter();
    listen(runtime, &told)?;
    Ok(telling)
}

#[cfg(unix)]
fn listen(runtime: &tokio::runtime::Handle, told: &mpsc::UnboundedSender<()>) -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    for kind in [SignalKind::terminate(), SignalKind::interrupt()] {
        let (mut signal, told) = (signal(kind)?, told.clone());
        runtime.spawn(async move { while signal.recv().await.is_some() && told.send(()).is_ok() {} });
    }
    Ok(())
}

#[cfg(not(unix))]
fn listen(runtime: &tokio::runtime::Handle, told: &mpsc::UnboundedSender<()>) -> std::io::Result<()> {
    let told = told.clone();
    runtime.spawn(async move { while tokio::signal::ctrl_c().await.is_ok() && told.send(()).is_ok() {} });
    Ok(())
}
