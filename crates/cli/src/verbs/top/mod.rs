//! `ff top`.

mod frame;
mod screen;
mod snapshot;

use std::io::IsTerminal;

use ff_core::time::Duration;

use self::screen::Screen;
use self::snapshot::Snapshot;
use crate::serve::told_to_stop;
use crate::verbs::session::{Common, Session};
use crate::verbs::when;

/// Watch lanes, work and workers; q ends it
///
/// Without a terminal it prints what there is once.
#[derive(clap::Args)]
pub(crate) struct Top {
    /// How often to look
    #[arg(long, default_value = "1s", value_parser = when::parse_span)]
    every: Duration,
    /// Print what there is once
    #[arg(long)]
    once: bool,
    #[command(flatten)]
    common: Common,
}

impl Top {
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        let session = self.common.open().await?;
        let is_screen = std::io::stdout().is_terminal() && std::io::stdin().is_terminal();
        if self.once || !is_screen || !session.out.is_table() {
            let snapshot = Snapshot::take(&session, session.now).await?;
            return match session.out.is_table() {
                true => session.out.text(&frame::lines(&snapshot, None, session.out).join("\n")),
                false => session.out.json(&snapshot.document()),
            };
        }
        let every = std::time::Duration::from_millis(self.every.as_millis().max(100));
        watch(&session, every).await
    }
}

/// Draws until somebody has seen enough.
async fn watch(session: &Session, every: std::time::Duration) -> anyhow::Result<()> {
    let mut screen = Screen::open()?;
    let mut last: Option<Snapshot> = None;
    loop {
        let trouble = match Snapshot::take(session, session.now + session.since_begun()).await {
            Ok(snapshot) => {
                last = Some(snapshot);
                None
            }
            // Whoever watches wants to see when it is there again.
            Err(refusal) if refusal.code.retryable() => Some(refusal.detail),
            Err(refusal) => return Err(refusal.into()),
        };
        if let Some(snapshot) = &last {
            let (width, height) = screen.size();
            let out = crate::verbs::output::Out {
                width: Some(width),
                ..session.out
            };
            let mut lines = frame::lines(snapshot, Some(height), out);
            lines.extend(trouble.map(|trouble| format!("nobody answers: {trouble}")));
            screen.draw(&lines)?;
        }
        tokio::select! {
            () = screen.asked_to_stop() => return Ok(()),
            stop = told_to_stop() => return stop,
            () = tokio::time::sleep(every) => {}
        }
    }
}
