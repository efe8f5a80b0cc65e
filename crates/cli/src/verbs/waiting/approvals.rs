//! `ff approvals`.

use std::collections::HashMap;

use ff_core::command::page::PageRequest;
use ff_core::command::signal::{Approval, ListApprovals};
use ff_core::id::ExecutionId;
use ff_core::record::ReasonCode;

use super::asked::{self, Asked};
use crate::verbs::output::{Cell, Column, Ink, Table};
use crate::verbs::paging::Limit;
use crate::verbs::session::{Common, Session};
use crate::verbs::{id, when};

/// List what waits for a person
#[derive(clap::Args)]
pub(crate) struct Approvals {
    #[command(flatten)]
    limit: Limit,
    #[command(flatten)]
    common: Common,
}

impl Approvals {
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        let session = self.common.open().await?;
        let ask = async |page: PageRequest| {
            let namespace = session.namespace.clone();
            session
                .fabric
                .approvals(ListApprovals {
                    namespace,
                    page,
                    ..ListApprovals::default()
                })
                .await
        };
        let listed = self.limit.list(ask).await?;
        let asked = match session.out.is_table() {
            true => asked::read(&session, &listed.items).await?,
            false => HashMap::new(),
        };
        let table = |items: &[_]| table(&session, items, &asked);
        self.limit
            .print(session.out, &listed, table, "Nothing waits for a person.")
    }
}

fn table(session: &Session, approvals: &[Approval], asked: &HashMap<ExecutionId, Asked>) -> Table {
    let columns = [
        Column::new("ID"),
        Column::new("NAME").cut(),
        Column::new("KIND").cut(),
        Column::new("WHY"),
        Column::new("ASKS").cut(),
        Column::number("SINCE"),
        Column::number("ENDS").spare(),
        Column::new("AT").spare(),
    ];
    let mut table = Table::new(columns);
    for approval in approvals {
        let known = asked.get(&approval.execution_id);
        let (why, ink) = match approval.escalated {
            true => ("overdue", Ink::Bad),
            false => (why(approval.reason_code), Ink::Warning),
        };
        let keys: Vec<_> = approval
            .waitpoints
            .iter()
            .map(|waitpoint| waitpoint.key.as_str())
            .collect();
        let ends = approval.timeout_at.map(|at| when::from_now(at, session.now));
        table.row([
            Cell::new(Ink::Strong, id::short(approval.execution_id.uuid())),
            known.and_then(|known| known.name.as_deref()).unwrap_or_default().into(),
            approval.execution_kind.as_str().into(),
            Cell::new(ink, why),
            known.map_or("", |known| known.question.as_str()).into(),
            when::from_now(approval.since, session.now).into(),
            ends.unwrap_or_default().into(),
            keys.join(", ").into(),
        ]);
    }
    table
}

const fn why(reason: ReasonCode) -> &'static str {
    match reason {
        ReasonCode::WaitingForApproval => "approval",
        ReasonCode::OperatorReview => "review",
        ReasonCode::ManualPause => "paused",
        _ => "waiting",
    }
}
