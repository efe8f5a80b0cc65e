//! Flows by filter, newest first.

use ff_backend::codec::cursor::Cut;
use ff_backend::query::{FlowFilter, Rows};
use ff_core::partition::Family;
use ff_core::record::Record;

use super::Found;
use super::reader::Reader;
use super::walk::{ListPosition, Names, Order, Walk};
use crate::keys::{FLOWS, tag};

pub(super) async fn flows(reader: &mut Reader<'_>, filter: &FlowFilter, cut: &Cut) -> Found {
    let order = Order::NewestFirst {
        from: None,
        before: None,
    };
    let set = filter
        .tag
        .as_ref()
        .map_or_else(|| FLOWS.to_owned(), |(key, value)| tag(key, value));
    let partitions = reader.shared.counts.all(Family::Flow);
    let sets = partitions.map(|partition| (partition, set.clone()));
    let after = cut.after::<ListPosition>()?;
    let walk = Walk::new(sets, order, Names::of_records("flow:"), after.as_ref());
    let page = reader.readable_page(cut, walk, |record, version| match record {
        Record::Flow(flow) if filter.matches(&flow) => Some((*flow, version)),
        _ => None,
    });
    let (rows, next) = page.await?;
    Ok((Rows::Flows(rows), next))
}
