//! `ff submit`.

use ff_core::command::submit::{CreateExecution, Created, DependsOn};
use ff_core::limits::PRIORITY_MAX;
use ff_core::name::{ExecutionKind, IdempotencyKey, LaneId};
use ff_core::payload::Payload;
use ff_core::record::{DependencyKind, Tags};
use ff_core::time::Duration;

use super::policy::PolicyArguments;
use super::result;
use crate::say;
use crate::verbs::session::{Common, Session};
use crate::verbs::tag::{TagArguments, name_tag};
use crate::verbs::{id, input, when};

/// Submit an execution and print its id
#[derive(clap::Args)]
pub(crate) struct Submit {
    /// Which handler runs it
    kind: ExecutionKind,
    /// What it works on: JSON, @FILE, or - for standard input
    #[arg(long, value_name = "JSON")]
    input: Option<String>,
    /// The queue workers take it from
    #[arg(long, default_value = "default")]
    lane: LaneId,
    /// What to call it: every verb takes this instead of its id
    #[arg(long)]
    name: Option<String>,
    #[command(flatten)]
    tags: TagArguments,
    /// From 0 to 9000, higher first
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u16).range(..=i64::from(PRIORITY_MAX)))]
    priority: u16,
    /// Not before this much time has passed, such as 90s or 2h
    #[arg(long, value_parser = when::parse_span)]
    delay: Option<Duration>,
    /// Submitted again with the same key within a day, it is the same one
    #[arg(long, value_name = "KEY")]
    idempotency_key: Option<IdempotencyKey>,
    /// The flow it becomes a member of
    #[arg(long)]
    flow: Option<String>,
    /// A member of that flow that must end well before it runs. May be repeated
    #[arg(long, requires = "flow", value_name = "ID")]
    after: Vec<String>,
    /// Wait for its end and print its result
    #[arg(long)]
    wait: bool,
    #[command(flatten)]
    policy: PolicyArguments,
    #[command(flatten)]
    common: Common,
}

impl Submit {
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        let session = self.common.open().await?;
        let command = self.command(&session).await?;
        let created = session.fabric.create_execution(command).await?;
        tell_of_repetition(&created);
        let id = created.execution_id();
        if self.wait {
            say::aside(format_args!("submitted {id}"));
            return result::print(&session, id, None).await;
        }
        session.out.done(&created, id)
    }

    async fn command(&self, session: &Session) -> anyhow::Result<CreateExecution> {
        let input = match &self.input {
            Some(given) => input::payload(given)?,
            None => Payload::default(),
        };
        let flow_id = match &self.flow {
            Some(flow) => Some(id::flow(session, flow).await?),
            None => None,
        };
        let mut depends_on = Vec::new();
        for upstream in &self.after {
            depends_on.push(DependsOn {
                edge_id: None,
                upstream: id::execution(session, upstream).await?,
                dependency_kind: DependencyKind::default(),
                data_passing_ref: None,
            });
        }
        let tags: Tags = self.tags.tags().chain(name_tag(self.name.as_deref())).collect();
        Ok(CreateExecution {
            namespace: session.own_namespace(),
            lane_id: self.lane.clone(),
            priority: self.priority,
            idempotency_key: self.idempotency_key.clone(),
            tags,
            policy: self.policy.policy(session).await?,
            delay_until: self.delay.map(|delay| session.now + delay),
            flow_id,
            depends_on,
            ..CreateExecution::new(self.kind.clone(), input)
        })
    }
}

fn tell_of_repetition(created: &Created) {
    match created {
        Created::Created { .. } => {}
        Created::Duplicate {
            content_differs: false, ..
        } => say::aside("It was submitted before under this key; nothing was added."),
        Created::Duplicate {
            content_differs: true, ..
        } => say::aside(
            "Something else was submitted before under this key; nothing was added. Use another --idempotency-key.",
        ),
    }
}
