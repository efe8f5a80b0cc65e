//! What every verb has: a fabric, the store's time, a namespace, and somewhere to print.

use std::sync::Arc;

use ff_core::command::page::{Page, PageRequest};
use ff_core::fabric::{Fabric, Result};
use ff_core::name::Namespace;
use ff_core::time::{Duration, Timestamp};
use ff_core::view::{ExecutionView, ListExecutions};
use tokio::time::Instant;

use super::output::{Format, Out};
use crate::at::At;

/// What every verb can be told.
#[derive(Clone, clap::Args)]
#[command(next_help_heading = "Where and how")]
pub(crate) struct Common {
    /// The tenant [default: `default`; where executions, flows and events are read, all that the key may see]
    #[arg(long, env = "FF_NAMESPACE", hide_env_values = true)]
    namespace: Option<Namespace>,
    /// How things are printed: as a table, as json (one document) or as ndjson (a document per line)
    #[arg(
        short,
        long,
        env = "FF_OUTPUT",
        hide_env_values = true,
        value_name = "FORM",
        value_enum,
        hide_possible_values = true,
        default_value_t
    )]
    output: Format,
    #[command(flatten)]
    pub(crate) at: At,
}

/// A verb under way.
pub(crate) struct Session {
    pub(crate) fabric: Arc<dyn Fabric>,
    /// The store's time when the verb began.
    pub(crate) now: Timestamp,
    /// The tenant that was named.
    pub(crate) namespace: Option<Namespace>,
    pub(crate) out: Out,
    begun: Instant,
}

impl Common {
    /// Opens what the verb works on.
    pub(crate) async fn open(&self) -> anyhow::Result<Session> {
        let opened = self.at.place()?.open().await?;
        Ok(Session {
            fabric: opened.fabric,
            now: opened.now,
            namespace: self.namespace.clone(),
            out: self.out(),
            begun: Instant::now(),
        })
    }

    /// Where it prints.
    pub(crate) fn out(&self) -> Out {
        Out::standard(self.output)
    }
}

impl Session {
    /// How long ago the verb began.
    pub(crate) fn since_begun(&self) -> Duration {
        Duration::from_millis(u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX))
    }

    /// A page of these executions.
    pub(crate) async fn list_executions(
        &self,
        list: &ListExecutions,
        page: PageRequest,
    ) -> Result<Page<ExecutionView>> {
        let list = ListExecutions { page, ..list.clone() };
        let listed = self.fabric.list_executions(list).await?;
        Ok(Page {
            items: listed.items,
            next: listed.next,
        })
    }

    /// The tenant of what is made, and of listings that are of one.
    pub(crate) fn own_namespace(&self) -> Namespace {
        self.namespace.clone().unwrap_or_else(Namespace::default_namespace)
    }
}
