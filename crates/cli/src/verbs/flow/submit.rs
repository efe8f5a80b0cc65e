//! `ff flow submit`.

use ff_core::id::FlowId;
use ff_core::machine::flow::FlowState;
use ff_core::view::FlowView;

use super::file;
use crate::failure::{Class, Failure};
use crate::say;
use crate::verbs::id;
use crate::verbs::patience::patiently;
use crate::verbs::session::{Common, Session};
use crate::verbs::tag::{TagArguments, name_tag};

/// How often a flow that is waited for is looked at.
const LOOK_EVERY: std::time::Duration = std::time::Duration::from_secs(1);

/// Submit the flow in a file, JSON or YAML, and print its id
#[derive(clap::Args)]
pub(crate) struct Submit {
    /// The file, or - for standard input; `ff schema flow` says what may stand in it
    file: String,
    /// What to call it: every verb takes this instead of its id
    #[arg(long)]
    name: Option<String>,
    #[command(flatten)]
    tags: TagArguments,
    /// Wait until everything in it has ended
    #[arg(long)]
    wait: bool,
    #[command(flatten)]
    common: Common,
}

impl Submit {
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        let mut graph = file::read(&self.file)?;
        let session = self.common.open().await?;
        let definition = &mut graph.flow.definition;
        definition
            .tags
            .extend(self.tags.tags().chain(name_tag(self.name.as_deref())));
        if let Some(namespace) = &session.namespace {
            definition.namespace = namespace.clone();
        }
        let namespace = definition.namespace.clone();
        for member in &mut graph.members {
            member.submission.namespace = namespace.clone();
        }
        let created = session.fabric.create_flow_graph(graph).await?;
        session.out.done(&created, created.flow_id)?;
        if self.wait {
            let flow = until_ended(&session, created.flow_id).await?;
            return judge(&flow);
        }
        Ok(())
    }
}

async fn until_ended(session: &Session, id: FlowId) -> anyhow::Result<FlowView> {
    loop {
        let flow = patiently(async || session.fabric.get_flow(id).await).await?;
        if flow.ended_at.is_some() {
            return Ok(flow);
        }
        // Flows have no long poll: their members have.
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

fn judge(flow: &FlowView) -> anyhow::Result<()> {
    if flow.state == FlowState::Completed {
        say::aside("It has completed.");
        return Ok(());
    }
    let short = id::short(flow.flow_id.uuid());
    let advice = format!("`ff flow graph {short}` shows where it went wrong.");
    Err(Failure::new(Class::EndedBadly, format!("it ended {}", flow.state))
        .advise(advice)
        .into())
}
