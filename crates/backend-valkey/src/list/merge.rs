//! Lists of many partitions in one order. A small chunk of each is read, and more only of those that run dry before the page is
//! full: most partitions have nothing to do with it.

use std::collections::VecDeque;

use ff_backend::query::Range;
use ff_backend::{Error, Result};
use ff_core::machine::index::Order;
use ff_core::partition::Partition;

use super::flow_partitions;
use super::reader::Reader;
use super::source::{Place, Source};
use crate::reply::{list, values};
use crate::shared::Shared;

/// Places of a list that are read at once, at least and at most.
const CHUNK: (usize, usize) = (4, 1_000);

/// The places of a range, as far as they were read.
pub(super) struct Merge<'r> {
    range: &'r Range,
    strands: Vec<Strand>,
    /// The last place that was given: one that stands in several lists is given once.
    last: Option<Order>,
}

/// One list in one partition.
struct Strand {
    partition: Partition,
    source: Source,
    /// From where on it was not read yet.
    start: Order,
    /// Whether what stands right there was.
    is_passed: bool,
    found: VecDeque<Place>,
    chunk: usize,
    has_more: bool,
}

impl<'r> Merge<'r> {
    /// What is in a range, from its beginning or after a place.
    pub(super) fn new(shared: &Shared, range: &'r Range, after: Option<String>) -> Result<Self> {
        let is_passed = after.is_some();
        let start = match after {
            Some(text) => Order::parse(&text).ok_or(Error::InvalidCursor)?,
            None => range.from.clone().unwrap_or_default(),
        };
        let partitions = flow_partitions(&range.partitions);
        let (mut sources, mut strands) = (Vec::new(), Vec::new());
        for index in &range.of {
            let source = Source::of(index);
            if sources.contains(&source) {
                continue;
            }
            let only = index.partition(shared.counts);
            let here = partitions.iter().filter(|here| only.is_none_or(|only| only == **here));
            strands.extend(here.map(|partition| Strand {
                partition: *partition,
                source: source.clone(),
                start: start.clone(),
                is_passed,
                found: VecDeque::new(),
                chunk: 0,
                has_more: true,
            }));
            sources.push(source);
        }
        Ok(Self {
            range,
            strands,
            last: None,
        })
    }

    /// The next places, as many as wanted unless there are no more.
    pub(super) async fn next(&mut self, reader: &mut Reader<'_>, wanted: usize) -> Result<Vec<Place>> {
        // One more than wanted tells whether there is an end here.
        let chunk = (2 * wanted).div_ceil(self.strands.len().max(1)).min(wanted + 1);
        let mut places = Vec::new();
        while places.len() < wanted {
            self.refill(reader, chunk.max(CHUNK.0)).await?;
            let filled = self.strands.iter_mut().filter(|strand| !strand.found.is_empty());
            let first = filled.min_by(|left, right| left.first().cmp(&right.first()));
            let Some(place) = first.and_then(|strand| strand.found.pop_front()) else {
                break;
            };
            if self.last.as_ref() != Some(&place.order) {
                self.last = Some(place.order.clone());
                places.push(place);
            }
        }
        Ok(places)
    }

    /// Whether there may be more to come.
    pub(super) fn has_more(&self) -> bool {
        let mut strands = self.strands.iter();
        strands.any(|strand| strand.has_more || !strand.found.is_empty())
    }

    /// Reads on where nothing is left.
    async fn refill(&mut self, reader: &mut Reader<'_>, chunk: usize) -> Result<()> {
        // Of one list alone, what is read is what is wanted: its records come along.
        let is_alone = self.strands.len() == 1;
        loop {
            let dry: Vec<&mut Strand> = self.strands.iter_mut().filter(|strand| strand.is_dry()).collect();
            if dry.is_empty() {
                return Ok(());
            }
            let mut commands = Vec::with_capacity(dry.len());
            let mut asked = Vec::with_capacity(dry.len());
            for strand in dry {
                strand.chunk = strand.chunk.max(chunk);
                let command = match strand
                    .source
                    .with_records(strand.partition, &strand.start, strand.reach())
                {
                    Some(command) if is_alone => command,
                    _ => strand.source.command(&strand.start, strand.reach())?,
                };
                commands.push((strand.partition, command));
                asked.push(strand);
            }
            let replies = reader.ask_each(commands).await?;
            for (strand, reply) in asked.into_iter().zip(replies) {
                let (reply, records) = match strand.source {
                    Source::Entries(_) if is_alone => {
                        values(reply).map(|[members, records]| (members, list(records)))?
                    }
                    _ => (reply, Ok(Vec::new())),
                };
                let places = strand.source.places(strand.partition, reply)?;
                for (place, fields) in places.iter().zip(records?) {
                    let kept = (place.partition, place.key.clone());
                    reader.kept.insert(kept, list(fields)?);
                }
                strand.absorb(places, self.range);
            }
        }
    }
}

impl Strand {
    fn first(&self) -> Option<&Order> {
        self.found.front().map(|place| &place.order)
    }

    fn is_dry(&self) -> bool {
        self.has_more && self.found.is_empty()
    }

    /// Places that the next read asks for: the one it starts at may have been given.
    const fn reach(&self) -> usize {
        self.chunk + 1
    }

    /// Takes what was read. Entries may have come and gone meanwhile, so it is compared with where it should start, not counted.
    fn absorb(&mut self, places: Vec<Place>, range: &Range) {
        self.has_more = places.len() == self.reach() && places.last().is_none_or(|last| range.reaches(&last.order));
        let is_left = |order: &Order| *order > self.start || (*order == self.start && !self.is_passed);
        let wanted = places.into_iter();
        let wanted = wanted.filter(|place| is_left(&place.order) && range.reaches(&place.order));
        self.found = wanted.collect();
        self.chunk = match self.found.back() {
            Some(last) => {
                (self.start, self.is_passed) = (last.order.clone(), true);
                (2 * self.chunk).min(CHUNK.1.max(self.chunk))
            }
            // Very many have the number of the place it started at: the next read reaches well beyond them.
            None => 8 * self.chunk,
        };
    }
}
