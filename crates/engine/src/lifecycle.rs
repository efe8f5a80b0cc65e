//! What runs in the background: listening to the store's hints, and the pump. And how it ends.

use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use ff_backend::hint::{Hint, HintStream};
use ff_core::command::stream::AttemptRef;
use ff_core::fabric::Result;
use ff_core::name::Kid;
use ff_core::time::Timestamp;
use futures::future::{BoxFuture, Either, select};
use tokio::sync::{oneshot, watch};

use crate::directory::keys;
use crate::engine::Engine;
use crate::ops::reads::feed_grew;
use crate::{pump, series};

/// How long a stop waits for what runs in the background.
const STOP_PATIENCE: Duration = Duration::from_secs(5);

/// Whether the engine runs, and what runs for it.
pub(crate) struct Lifecycle {
    started: AtomicBool,
    stopping: watch::Sender<bool>,
    /// Each one completes when a task of the background has ended.
    ends: Mutex<Vec<oneshot::Receiver<()>>>,
}

impl Default for Lifecycle {
    fn default() -> Self {
        Self {
            started: AtomicBool::new(false),
            stopping: watch::Sender::new(false),
            ends: Mutex::default(),
        }
    }
}

impl Engine {
    /// Begins to listen to the store and to pump. Once started it goes on until [`Engine::stop`]; a second call does nothing.
    pub fn start(&self) {
        if self.shared.lifecycle.started.swap(true, Ordering::SeqCst) || self.is_stopping() {
            return;
        }
        self.listen();
        let engine = self.clone();
        run_in_background(self, Box::pin(async move { pump::run(&engine).await }));
        let engine = self.clone();
        run_in_background(self, Box::pin(async move { series::keep(&engine).await }));
    }

    /// Begins to listen to the store without pumping: for whoever lets time pass by hand, with [`Engine::pump_pass`].
    pub fn listen(&self) {
        // From here on, not from when the task gets its turn: no hint is missed in between.
        let hints = self.store().hints();
        let listener = self.clone();
        run_in_background(self, Box::pin(async move { hear_all(&listener, hints).await }));
    }

    /// Accepts no more claims, ends waiting ones and everything that runs in the background, and gives the pump's partitions
    /// to other replicas. What was under way is not lost: it is due until somebody does it.
    pub async fn stop(&self) {
        self.shared.lifecycle.stopping.send_replace(true);
        self.shared.claim_queues.close();
        self.shared.streams.wake_all();
        self.shared.feeds.wake_all();
        self.shared.feed_hub.wake_all();
        self.shared.overviews.ring_all();
        let ends = std::mem::take(
            &mut *self
                .shared
                .lifecycle
                .ends
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
        );
        let mut patience = self.host().sleep(STOP_PATIENCE);
        for end in ends {
            if let Either::Right(_) = select(end, &mut patience).await {
                tracing::warn!("something in the background does not end; it is left behind");
                return;
            }
        }
    }

    /// The store's time; proves that it answers.
    pub async fn ping(&self) -> Result<Timestamp> {
        self.store().ping().await
    }

    /// The name of the key that signs tokens, grants and cursors; the first call over a store makes one.
    pub async fn signing_kid(&self) -> Result<Kid> {
        Ok(keys::ring(self).await?.current_kid().clone())
    }

    /// Whether the engine is stopping or has stopped.
    pub(crate) fn is_stopping(&self) -> bool {
        *self.shared.lifecycle.stopping.borrow()
    }

    /// Completes when the engine is to stop.
    pub(crate) async fn stopped(&self) {
        let mut stopping = self.shared.lifecycle.stopping.subscribe();
        // The sender lives as long as the engine.
        let _ = stopping.wait_for(|stopping| *stopping).await;
    }
}

fn run_in_background(engine: &Engine, task: BoxFuture<'static, ()>) {
    let (ended, end) = oneshot::channel();
    let ends = &engine.shared.lifecycle.ends;
    ends.lock().unwrap_or_else(PoisonError::into_inner).push(end);
    engine.host().spawn(Box::pin(async move {
        task.await;
        // Nobody may be waiting for the end.
        let _ = ended.send(());
    }));
}

async fn hear_all(engine: &Engine, mut hints: HintStream) {
    let mut stopped = pin!(engine.stopped());
    loop {
        match select(&mut stopped, pin!(hints.next())).await {
            Either::Left(_) => return,
            Either::Right((Some(hint), _)) => hear(engine, hint),
            Either::Right((None, _)) => {
                tracing::warn!("the store sends no more hints; only sweeps are left");
                return;
            }
        }
    }
}

/// A hint says where to look. Forgetting one costs time, so nothing here can fail.
fn hear(engine: &Engine, hint: Hint) {
    let shared = &engine.shared;
    match hint {
        Hint::Eligible { namespace, lane, .. } => shared.claim_queues.wake(&namespace, &lane),
        Hint::Due { partition, at } => pump::expect_due(engine, partition, at),
        Hint::Stream {
            execution_id,
            attempt_index,
        } => shared.streams.wake(&AttemptRef {
            execution_id,
            attempt_index,
        }),
        Hint::Feed { partition } => {
            feed_grew(engine, partition);
            shared.overviews.ring();
        }
        Hint::Cause(cause) => {
            shared.causes.moved(cause);
            shared.directory.limits.forget(cause);
            shared.overviews.ring();
        }
        Hint::Setting(key) => {
            shared.directory.setting_changed(&key);
            shared.overviews.setting_changed(&key);
            if key.starts_with("lane/") {
                shared.claim_queues.wake_all();
            }
        }
        Hint::Missed => look_everywhere(engine),
    }
}

/// Hints were lost: everything is looked at, and nothing remembered is believed.
fn look_everywhere(engine: &Engine) {
    let shared = &engine.shared;
    shared.directory.forget_all();
    shared.causes.forget_all();
    shared.claim_queues.wake_all();
    shared.streams.wake_all();
    shared.feeds.wake_all();
    shared.feed_hub.wake_all();
    shared.overviews.ring_all();
    pump::look_everywhere(engine);
}
