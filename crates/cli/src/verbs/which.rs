//! The one thing that a verb is about.

use ff_core::id::{BudgetId, ExecutionId, FlowId, QuotaPolicyId};

use super::id;
use super::session::{Common, Session};

/// Makes the argument that names one thing: how help calls it, and how it is found.
macro_rules! which {
    ($($(#[doc = $help:literal])+ $noun:ident($value:literal, $find:path): $id:ty;)+) => { $(
        #[derive(clap::Args)]
        pub(crate) struct $noun {
            $(#[doc = $help])+
            #[arg(value_name = $value)]
            pub(crate) given: String,
        }

        impl $noun {
            /// Opens what the verb works on, and finds what it is about.
            pub(crate) async fn open(&self, common: &Common) -> anyhow::Result<(Session, $id)> {
                let session = common.open().await?;
                let id = $find(&session, &self.given).await?;
                Ok((session, id))
            }
        }
    )+ };
}

which! {
    /// Which: its id, its name, or the last eight digits of its id
    OneExecution("EXECUTION", id::execution): ExecutionId;
    /// Which: its id, its name, or the last eight digits of its id
    OneFlow("FLOW", id::flow): FlowId;
    /// Which: its id, what it is for, or the last eight digits of its id
    OneBudget("BUDGET", id::budget): BudgetId;
    /// Which: its id, or the last eight digits of its id
    OneQuota("QUOTA", id::quota): QuotaPolicyId;
}
