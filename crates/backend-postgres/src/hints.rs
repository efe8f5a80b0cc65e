//! Wake-ups: to this process at once, to others gathered and after the commit, never inside one.

use std::collections::BTreeSet;
use std::sync::{Arc, Weak};
use std::time::Duration;

use ff_backend::hint::Hint;
use futures::StreamExt as _;
use futures::channel::mpsc::{UnboundedReceiver, unbounded};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;
use tokio::time::sleep;
use tokio_postgres::{AsyncMessage, Client, Connection};

use crate::call::call;
use crate::open::Address;
use crate::shared::Shared;

/// What hints are told on.
const CHANNEL: &str = "flowfabric";
/// Pause before another try to listen.
const PAUSE: Duration = Duration::from_millis(100);
/// How long hints are gathered for others.
const GATHERED_FOR: Duration = Duration::from_millis(2);
/// Bytes of one message: PostgreSQL takes less than 8,000.
const MESSAGE_MAX: usize = 7_500;

/// Wakes up whoever listens, here and in other processes.
pub(crate) fn tell(shared: &Shared, hints: Vec<Hint>) {
    if hints.is_empty() {
        return;
    }
    let mut board = shared.hints();
    for hint in hints {
        if let Ok(line) = serde_json::to_string(&hint) {
            // The task that tells others ends with the store.
            let _ = shared.told.send(line);
        }
        board.note(hint);
    }
    board.send();
}

/// Tells other processes what this one has noted, each thing once.
pub(crate) async fn tell_others(shared: Weak<Shared>, mut to_tell: mpsc::UnboundedReceiver<String>) {
    while let Some(first) = to_tell.recv().await {
        sleep(GATHERED_FOR).await;
        let mut lines = BTreeSet::from([first]);
        while let Ok(line) = to_tell.try_recv() {
            lines.insert(line);
        }
        let Some(shared) = shared.upgrade() else { return };
        let told = shared
            .connections
            .rows(call!(reading tell_others(messages: &messages(&shared.name, &lines))))
            .await;
        if let Err(error) = told {
            tracing::debug!(%error, "other processes were not woken up; their sweeps find it");
        }
    }
}

/// Lines in as few messages as hold them, each after the name of whoever tells them.
fn messages(name: &str, lines: &BTreeSet<String>) -> Vec<String> {
    let empty = || format!("{name}\n");
    let mut messages = vec![empty()];
    for line in lines {
        if messages
            .last()
            .is_some_and(|last| last.len() + line.len() >= MESSAGE_MAX)
        {
            messages.push(empty());
        }
        if let Some(last) = messages.last_mut() {
            last.push_str(line);
            last.push('\n');
        }
    }
    messages
}

/// A connection that notifications come in on.
pub(crate) struct Listener {
    messages: UnboundedReceiver<String>,
    /// Closed when this is dropped.
    _client: Client,
}

impl Listener {
    /// Begins to listen on a new connection.
    pub(crate) async fn start<S, T>(
        client: Client,
        mut connection: Connection<S, T>,
    ) -> Result<Self, tokio_postgres::Error>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
        T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let (sender, messages) = unbounded();
        tokio::spawn(async move {
            let mut incoming = futures::stream::poll_fn(move |context| connection.poll_message(context));
            while let Some(Ok(message)) = incoming.next().await {
                if let AsyncMessage::Notification(told) = message
                    && sender.unbounded_send(told.payload().to_owned()).is_err()
                {
                    return;
                }
            }
        });
        client.batch_execute(&format!("LISTEN {CHANNEL}")).await?;
        Ok(Self {
            messages,
            _client: client,
        })
    }
}

/// Listens for as long as the store is open; tells when hints may have been missed.
pub(crate) async fn listen(shared: Weak<Shared>, address: Address, mut listener: Listener) {
    loop {
        while let Some(text) = listener.messages.next().await {
            let Some(shared) = shared.upgrade() else { return };
            shared.hear_all(&text);
        }
        listener = loop {
            if shared.strong_count() == 0 {
                return;
            }
            match address.listener().await {
                Ok(listener) => break listener,
                Err(error) => tracing::debug!(%error, "no hints from the store yet"),
            }
            sleep(PAUSE).await;
        };
        let Some(shared) = shared.upgrade() else { return };
        shared.filled_queues().doubt();
        shared.floors().forget_all(shared.next_look());
        let mut board = shared.hints();
        board.note(Hint::Missed);
        board.send();
    }
}

impl Shared {
    /// Takes over what another process has told. What this one has told itself comes back too.
    fn hear_all(self: &Arc<Self>, text: &str) {
        let (from, lines) = text.split_once('\n').unwrap_or_default();
        if from == self.name {
            return;
        }
        let mut board = self.hints();
        for line in lines.lines() {
            match serde_json::from_str(line) {
                Ok(hint) => {
                    if let Hint::Eligible { partition, .. } = hint {
                        self.filled_queues().doubt();
                        self.floors().forget(partition, self.next_look());
                    }
                    board.note(hint);
                }
                Err(error) => tracing::warn!(%error, "a hint cannot be read; sweeps find what it was about"),
            }
        }
        board.send();
    }
}
