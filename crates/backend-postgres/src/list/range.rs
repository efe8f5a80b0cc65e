//! Records of lists, in their order across partitions and lists.

use std::collections::BTreeMap;

use ff_backend::codec::cursor::{Cut, Start, VISITED_MAX};
use ff_backend::codec::{key, record, score};
use ff_backend::query::{Range, Rows};
use ff_backend::transaction::Version;
use ff_backend::{Error, Result};
use ff_core::id::ExecutionId;
use ff_core::machine::index::{Index, Order};
use ff_core::record::{Record, RecordKey};
use ff_core::time::Timestamp;

use super::{Found, flow_numbers, one_more};
use crate::call::{Answer, call};
use crate::error::corrupt;
use crate::rows::answered;
use crate::shared::{Shared, count, moment, number, partition, version};

answered! {
    /// A record and where it stands.
    Place as "place" {
        sort: Option<String>, number: Option<i64>, partition: i16, key: String, version: Option<i64>,
        tag: Option<i64>, body: Option<String>, claim: Option<String>,
    }
}

/// What was found of all lists, as far as every one of them was followed.
#[derive(Default)]
struct Walk {
    found: BTreeMap<Order, Place>,
    reached: Option<Order>,
    now: Timestamp,
}

/// What is asked of every list.
struct Asked<'q> {
    range: &'q Range,
    start: Start,
    partitions: Vec<i16>,
    at_most: i64,
    visited_max: i64,
}

impl Shared {
    pub(super) async fn list_range(&self, range: &Range, cut: &Cut) -> Found {
        let asked = Asked {
            range,
            start: Start::of(range, cut)?,
            partitions: flow_numbers(&range.partitions),
            at_most: one_more(cut),
            visited_max: count(VISITED_MAX),
        };
        let mut walk = Walk::default();
        let mut names = Vec::new();
        let mut queues = Vec::new();
        for index in &range.of {
            match index {
                Index::Age(namespace) => {
                    let namespace = namespace.as_ref().map(ToString::to_string);
                    self.follow_age(&asked, namespace, &mut walk).await?;
                }
                Index::Queue(queue) => queues.push(self.queue_number(queue).await?),
                Index::Attempts(id) | Index::Waitpoints(id) | Index::Signals(id) => {
                    self.follow_parts(&asked, index, *id, &mut walk).await?;
                }
                index => names.push(index.to_string()),
            }
        }
        if !names.is_empty() {
            self.follow_entries(&asked, &names, &mut walk).await?;
        }
        if !queues.is_empty() {
            self.follow_queues(&asked, &queues, &mut walk).await?;
        }
        walk.page(range, cut)
    }

    async fn follow_entries(&self, asked: &Asked<'_>, names: &[String], walk: &mut Walk) -> Result<()> {
        let start = &asked.start;
        let until = asked.range.until.as_ref().map(Order::as_str);
        let (now, answer) = self
            .ask(call!(reading list_entries(
                names: &names,
                partitions: &asked.partitions,
                start: &start.order.as_str(),
                is_after: &start.is_after,
                until: &until,
                at_most: &asked.at_most,
                visited_max: &asked.visited_max,
            )))
            .await?;
        let reached: Option<String> = answer.get("reached")?;
        let reached = reached.map(|sort| order_of_text(&sort)).transpose()?;
        let order = |place: &Place| order_of_text(place.sort.as_deref().unwrap_or_default());
        walk.take(asked.range, (now, &answer), order, reached)
    }

    async fn follow_age(&self, asked: &Asked<'_>, namespace: Option<String>, walk: &mut Walk) -> Result<()> {
        let (created_at, id) = asked.start.read(Order::as_newest)?;
        // Beyond what a column holds is before everything there is.
        let created_at = i64::try_from(created_at.as_millis()).unwrap_or(i64::MAX);
        let last_partition = i32::from(id.partition().index) - i32::from(asked.start.is_after);
        let (now, answer) = self
            .ask(call!(reading list_newest(
                own_namespace: &namespace,
                partitions: &asked.partitions,
                start_created_at: &created_at,
                start_uuid: &id.uuid(),
                start_partition: &last_partition,
                at_most: &asked.at_most,
                visited_max: &asked.visited_max,
            )))
            .await?;
        let newest = |place: &Place, uuid: &str| {
            let id = key::execution_id(partition(place.partition), uuid)?;
            let created_at = moment(place.number.unwrap_or_default());
            Ok::<_, Error>(Order::newest(created_at).then_newest(id))
        };
        let reached: Option<Place> = answer.get("reached")?;
        let reached = reached.map(|place| newest(&place, &place.key)).transpose()?;
        let order = |place: &Place| newest(place, place.key.trim_start_matches("execution:"));
        walk.take(asked.range, (now, &answer), order, reached)
    }

    async fn follow_queues(&self, asked: &Asked<'_>, queues: &[i64], walk: &mut Walk) -> Result<()> {
        let start = asked.start.read(Order::as_score)?;
        let (now, answer) = self
            .ask(call!(reading list_queued(
                queues: &queues,
                partitions: &asked.partitions,
                start_score: &score::number(&start),
                start_uuid: &start.id.uuid(),
                // What has the score and the id of the cursor in other partitions comes once more, and is left out here.
                at_most: &(asked.at_most + count(asked.partitions.len())),
            )))
            .await?;
        let order = |place: &Place| {
            let id = key::execution_id(partition(place.partition), place.key.trim_start_matches("execution:"))?;
            Ok(Order::best(&score::score(place.number.unwrap_or_default(), id)?))
        };
        walk.take(asked.range, (now, &answer), order, None)?;
        walk.found
            .retain(|order, _| *order > asked.start.order || (!asked.start.is_after && *order == asked.start.order));
        Ok(())
    }

    async fn follow_parts(&self, asked: &Asked<'_>, index: &Index, id: ExecutionId, walk: &mut Walk) -> Result<()> {
        if !asked.partitions.contains(&number(id.partition())) {
            return Ok(());
        }
        let first = asked.start.read(|order| part(index, order))?;
        let first = key::name(&first);
        let (all, _) = first.rsplit_once(':').unwrap_or_default();
        // ";" comes right after ":".
        let before = format!("{all};");
        let (now, answer) = self
            .ask(call!(reading list_keys(
                own_partition: &number(id.partition()),
                start: &first,
                is_after: &asked.start.is_after,
                before: &before,
                at_most: &asked.at_most,
            )))
            .await?;
        let order = |place: &Place| match key::record_key(partition(place.partition), &place.key)? {
            RecordKey::Attempt(_, own) => Ok(Order::index(own)),
            RecordKey::Waitpoint(_, own) => Ok(Order::first(own.uuid())),
            RecordKey::Signal(_, own) => Ok(Order::first(own.uuid())),
            other => Err(corrupt(format!("{other:?} is in no such list"))),
        };
        walk.take(asked.range, (now, &answer), order, None)
    }
}

/// The part of an execution an order stands for.
fn part(index: &Index, order: &Order) -> Option<RecordKey> {
    Some(match index {
        Index::Attempts(id) => RecordKey::Attempt(*id, order.as_index()?),
        Index::Waitpoints(id) => RecordKey::Waitpoint(*id, ff_core::id::WaitpointId::from_uuid(order.as_uuid()?)),
        Index::Signals(id) => RecordKey::Signal(*id, ff_core::id::SignalId::from_uuid(order.as_uuid()?)),
        _ => return None,
    })
}

fn order_of_text(text: &str) -> Result<Order> {
    Order::parse(text).ok_or_else(|| corrupt(format!("order {text:?}")))
}

impl Walk {
    fn take(
        &mut self,
        range: &Range,
        (now, answer): (Timestamp, &Answer),
        order: impl Fn(&Place) -> Result<Order>,
        reached: Option<Order>,
    ) -> Result<()> {
        self.now = now;
        for place in answer.get::<Vec<Place>>("answer")? {
            let order = order(&place)?;
            if range.reaches(&order) {
                self.found.insert(order, place);
            }
        }
        if let Some(reached) = reached.filter(|reached| range.reaches(reached))
            && self.reached.as_ref().is_none_or(|before| reached < *before)
        {
            self.reached = Some(reached);
        }
        Ok(())
    }

    /// The page of what was found, as far as every list was followed.
    fn page(mut self, range: &Range, cut: &Cut) -> Found {
        if let Some(reached) = &self.reached {
            self.found.retain(|order, _| order <= reached);
        }
        let places: Vec<(Order, Place)> = self.found.into_iter().collect();
        let (shown, next) = cut.first(places, |(order, _)| order.as_str().to_owned());
        let next = next.or_else(|| self.reached.map(|order| cut.cursor(&order.as_str())));
        let must_be_whole = range.of.iter().any(Index::must_be_whole);
        let mut rows = Vec::new();
        for (_, place) in shown {
            match read(place) {
                Ok(found) => rows.extend(found),
                Err(error) if must_be_whole => return Err(error),
                Err(error) => tracing::error!(%error, "a record cannot be read and is left out of a listing"),
            }
        }
        Ok((self.now, Rows::Records(rows), next))
    }
}

/// The record at a place, if it is still there.
fn read(place: Place) -> Result<Option<(Record, Version)>> {
    let (Some(counter), Some(tag), Some(body)) = (place.version, place.tag, place.body) else {
        return Ok(None);
    };
    let key = key::record_key(partition(place.partition), &place.key)?;
    let found = record::read_with_claim(&key, &body, &place.claim.unwrap_or_default())?;
    Ok(Some((found, version(counter, tag))))
}
