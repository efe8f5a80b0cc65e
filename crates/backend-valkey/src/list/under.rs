//! Executions of partitions that wait or run under a budget.

use ff_backend::Result;
use ff_backend::codec::cursor::Cut;
use ff_backend::query::Rows;
use ff_core::id::BudgetId;
use ff_core::machine::placement::{Placement, placement};
use ff_core::partition::Partition;
use ff_core::record::{Execution, Record};

use super::Found;
use super::partitions::flow_partitions;
use super::reader::{Command, Reader};
use super::walk::{ListPosition, Names, Order, Walk};
use crate::keys::{INDEX, QUEUES, QueueName};
use crate::reply::{list, text};

/// Those that wait in a queue that needs the budget, best score first.
pub(super) async fn queued(reader: &mut Reader<'_>, partitions: &[Partition], budget_id: BudgetId, cut: &Cut) -> Found {
    let after = cut.after::<ListPosition>()?;
    let sets = queues_under(reader, partitions, budget_id).await?;
    let walk = Walk::new(sets, Order::Ascending, Names::of_records("execution:"), after.as_ref());
    page(reader, cut, walk, |execution| {
        matches!(placement(execution), Placement::Eligible { .. })
    })
    .await
}

/// Those that run, by id.
pub(super) async fn leased(reader: &mut Reader<'_>, partitions: &[Partition], budget_id: BudgetId, cut: &Cut) -> Found {
    let names = Names {
        begin: format!("leased:{budget_id}:"),
        lead_to: "execution:".to_owned(),
    };
    let after = cut.after::<ListPosition>()?;
    let sets = flow_partitions(partitions)
        .into_iter()
        .map(|partition| (partition, INDEX.to_owned()));
    let walk = Walk::new(sets, Order::ByName, names, after.as_ref());
    page(reader, cut, walk, |execution| {
        matches!(placement(execution), Placement::Leased { .. })
    })
    .await
}

async fn page(reader: &mut Reader<'_>, cut: &Cut, walk: Walk, belongs: fn(&Execution) -> bool) -> Found {
    let page = reader.readable_page(cut, walk, |record, version| match record {
        Record::Execution(execution) if belongs(&execution) => Some((*execution, version)),
        _ => None,
    });
    let (rows, next) = page.await?;
    Ok((Rows::Executions(rows), next))
}

/// The queues of partitions whose signature names the budget.
async fn queues_under(
    reader: &mut Reader<'_>,
    partitions: &[Partition],
    budget_id: BudgetId,
) -> Result<Vec<(Partition, String)>> {
    let partitions = flow_partitions(partitions);
    let commands = partitions.iter().map(|partition| {
        let all = Command::new("ZRANGE", QUEUES).args(["0", "-1"]);
        (*partition, all)
    });
    let replies = reader.ask_each(commands.collect()).await?;
    let id = budget_id.to_string();
    let mut sets = Vec::new();
    for (partition, queues) in partitions.into_iter().zip(replies) {
        for registration in list(queues)? {
            let registration = text(&registration)?;
            // Most are of other budgets: only what has the id in its text is parsed.
            if registration.contains(&id) {
                let (set, queue) = QueueName::registered(registration)?;
                sets.extend(queue.signature.budgets.contains(&budget_id).then_some((partition, set)));
            }
        }
    }
    Ok(sets)
}
