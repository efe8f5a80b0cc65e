//! Executions by filter, newest first: a walk along the narrowest set for the filter, which looks at each execution it meets.

use ff_backend::codec::cursor::Cut;
use ff_backend::query::{ExecutionFilter, Rows};
use ff_core::partition::{Family, Partition};
use ff_core::record::Record;
use ff_core::state::PublicState;

use super::Found;
use super::reader::Reader;
use super::walk::{ListPosition, Names, Order, Walk};
use crate::keys::{EXECUTIONS, OPEN, in_state, tag};

pub(super) async fn executions(reader: &mut Reader<'_>, filter: &ExecutionFilter, cut: &Cut) -> Found {
    let order = Order::NewestFirst {
        from: filter.created_from,
        before: filter.created_before,
    };
    let set = narrowest(filter);
    let sets = partitions(reader, filter)
        .into_iter()
        .map(|partition| (partition, set.clone()));
    let after = cut.after::<ListPosition>()?;
    let walk = Walk::new(sets, order, Names::of_records("execution:"), after.as_ref());
    let page = reader.readable_page(cut, walk, |record, version| match record {
        Record::Execution(execution) if filter.matches(&execution) => Some((*execution, version)),
        _ => None,
    });
    let (rows, next) = page.await?;
    Ok((Rows::Executions(rows), next))
}

/// Members live where their flow does.
fn partitions(reader: &Reader<'_>, filter: &ExecutionFilter) -> Vec<Partition> {
    let counts = reader.shared.counts;
    match filter.flow_id {
        Some(flow_id) => vec![counts.of_flow(flow_id)],
        None => counts.all(Family::Flow).collect(),
    }
}

/// The set that leads past the fewest executions nobody asked for.
fn narrowest(filter: &ExecutionFilter) -> String {
    if let Some((key, value)) = &filter.tag {
        return tag(key, value);
    }
    match filter.state {
        // The usual end has no set of its own.
        None | Some(PublicState::Completed) => EXECUTIONS.to_owned(),
        Some(state) if state.is_terminal() => in_state(state),
        Some(_) => OPEN.to_owned(),
    }
}
