//! What executions are called on the terminal: by their tag `name`, as `ff` takes it, or by the end of their id.

use std::collections::HashMap;

use ff_core::fabric::Fabric;
use ff_core::record::HistorySubject;
use ff_sdk::Client;

use crate::verbs::id;

/// So many names are remembered; then all are asked for again.
const REMEMBERED_MAX: usize = 10_000;

/// Names that were asked for.
pub(crate) struct Names {
    client: Client,
    known: HashMap<HistorySubject, String>,
}

impl Names {
    pub(crate) fn new(client: Client) -> Self {
        Self {
            client,
            known: HashMap::new(),
        }
    }

    /// What it is called.
    pub(crate) async fn of(&mut self, subject: HistorySubject) -> String {
        if let Some(name) = self.known.get(&subject) {
            return name.clone();
        }
        let name = self.asked(subject).await.unwrap_or_else(|| id::short_subject(subject));
        if self.known.len() >= REMEMBERED_MAX {
            self.known.clear();
        }
        self.known.insert(subject, name.clone());
        name
    }

    /// Its tag. What is deleted meanwhile has none.
    async fn asked(&self, subject: HistorySubject) -> Option<String> {
        let tags = match subject {
            HistorySubject::Execution(id) => self.client.get_execution(id).await.ok()?.tags,
            HistorySubject::Flow(id) => self.client.get_flow(id).await.ok()?.tags,
        };
        tags.get(id::NAME).map(ToString::to_string)
    }
}
