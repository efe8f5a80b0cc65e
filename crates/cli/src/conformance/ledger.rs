//! What the bodies of steps did, as they say themselves: an effect that was noted has happened, whoever heard of it.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::extract::State;
use axum::routing::post;
use axum::{Json, Router};
use ff_core::id::ExecutionId;
use serde::Deserialize;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// Everything that was noted.
pub(super) struct Ledger {
    notes: Notes,
    address: SocketAddr,
    serving: JoinHandle<()>,
}

type Notes = Arc<Mutex<Vec<Note>>>;

/// One thing that a body did.
#[derive(Clone, Deserialize)]
struct Note {
    execution_id: String,
    effect: String,
    /// What it hands out.
    #[serde(default)]
    detail: Value,
}

impl Ledger {
    /// Listens for notes.
    pub(super) async fn start() -> anyhow::Result<Self> {
        let notes = Notes::default();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let routes = Router::new().route("/", post(note)).with_state(Arc::clone(&notes));
        let serving = tokio::spawn(async move {
            if let Err(error) = axum::serve(listener, routes).await {
                tracing::warn!(%error, "the ledger takes no more notes");
            }
        });
        Ok(Self {
            notes,
            address,
            serving,
        })
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// How often an execution had this effect.
    pub(super) fn count(&self, id: ExecutionId, effect: &str) -> usize {
        let notes = self.notes();
        notes.iter().filter(|note| note.is_of(id, effect)).count()
    }

    /// All effects of an execution, in order.
    pub(super) fn effects(&self, id: ExecutionId) -> Vec<String> {
        let notes = self.notes();
        let of_it = notes.iter().filter(|note| note.execution_id == id.to_string());
        of_it.map(|note| note.effect.clone()).collect()
    }

    /// What came with an effect.
    pub(super) fn detail(&self, id: ExecutionId, effect: &str) -> Option<Value> {
        let notes = self.notes();
        let found = notes.iter().find(|note| note.is_of(id, effect));
        found.map(|note| note.detail.clone())
    }

    fn notes(&self) -> MutexGuard<'_, Vec<Note>> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Ledger {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl Note {
    fn is_of(&self, id: ExecutionId, effect: &str) -> bool {
        self.execution_id == id.to_string() && self.effect == effect
    }
}

async fn note(State(notes): State<Notes>, Json(note): Json<Note>) {
    notes.lock().unwrap_or_else(PoisonError::into_inner).push(note);
}
