//! A flow that was submitted.

use std::fmt;

use ff_core::command::flow::{CancelFlow, GraphCreated, MemberCancellation};
use ff_core::command::page::PageRequest;
use ff_core::error::Code;
use ff_core::fabric::{Fabric, On};
use ff_core::id::{ExecutionId, FlowId};
use ff_core::machine::flow::FlowState;
use ff_core::machine::graph::member_id;
use ff_core::record::CancelFlowPolicy;
use ff_core::time::Duration;
use ff_core::view::FlowView;
use serde::de::DeserializeOwned;

use super::{Node, Shared};
use crate::client::Client;
use crate::error::{Error, Result};
use crate::run::Run;
use crate::task::Task;

/// A flow that was submitted. It is a handle: dropped, the flow goes on.
pub struct FlowRun {
    client: Client,
    id: FlowId,
    /// The graph that was submitted by this process, with what its members became.
    submitted: Option<(Shared, Vec<ExecutionId>)>,
}

impl Client {
    /// The handle of a flow whose id is known. Nothing is asked: whether there is one shows with its first call.
    pub fn flow(&self, id: FlowId) -> FlowRun {
        FlowRun {
            client: self.clone(),
            id,
            submitted: None,
        }
    }
}

impl FlowRun {
    pub(super) fn new(client: Client, graph: Shared, created: GraphCreated) -> Self {
        Self {
            client,
            id: created.flow_id,
            submitted: Some((graph, created.execution_ids)),
        }
    }

    /// Its id: keep it, and [`Client::flow`] gives the handle again.
    pub const fn id(&self) -> FlowId {
        self.id
    }

    /// The execution that a node became.
    pub fn run<O>(&self, node: &Node<O>) -> Result<Run<O>> {
        let submitted = self.submitted.as_ref();
        let id = submitted.and_then(|(graph, ids)| ids.get(node.index_in(graph)?));
        match id {
            Some(id) => Ok(self.client.run_of(*id)),
            None => Err(Error::Invalid {
                what: "a node of another flow".to_owned(),
                problems: vec![format!(
                    "flow {} was not submitted with it; .member(name) asks by name",
                    self.id
                )],
            }),
        }
    }

    /// The execution of `T` that was submitted under this name: `<kind>-<n>`, or as it was named.
    pub async fn member<T: Task>(&self, name: &str) -> Result<Run<T::Output>> {
        let one = PageRequest {
            cursor: None,
            limit: Some(1),
        };
        let members = self.client.list_members(On::new(self.id, one)).await?;
        let found = members.items.first();
        // All members live in one partition, and their ids follow from their names.
        let id = found.map(|member| member_id(self.id, member.execution_id.partition(), name));
        let missing = || Code::ExecutionNotFound.because(format!("flow {} has no members", self.id));
        let run = self.client.run_of(id.ok_or_else(missing)?);
        let kind = run.view().await?.execution_kind;
        if kind.as_str() != T::KIND {
            let detail = format!("member {name:?} of flow {} is a {kind}, not a {}", self.id, T::KIND);
            return Err(Code::InvalidInput.because(detail).into());
        }
        Ok(run)
    }

    /// What a node gives, waited for as long as it takes.
    pub async fn result<O: DeserializeOwned>(&self, node: &Node<O>) -> Result<O> {
        self.run(node)?.result().await
    }

    /// Where it stands, in one word.
    pub async fn state(&self) -> Result<FlowState> {
        Ok(self.view().await?.state)
    }

    /// The flow with exact counts of its members.
    pub async fn view(&self) -> Result<FlowView> {
        Ok(self.client.get_flow(self.id).await?)
    }

    /// Cancels every member that has not ended. No member is handed out after it answered.
    pub async fn cancel(&self, reason: impl Into<String>) -> Result<MemberCancellation> {
        let command = CancelFlow {
            reason: reason.into(),
            policy: CancelFlowPolicy::CancelAll,
            wait: Duration::ZERO,
        };
        Ok(self.client.cancel_flow(On::new(self.id, command)).await?)
    }
}

impl fmt::Debug for FlowRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("FlowRun").field(&self.id).finish()
    }
}
