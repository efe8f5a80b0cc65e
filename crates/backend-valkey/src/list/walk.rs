//! A walk along sorted sets of many partitions in one order. A small chunk of each is read, and more only of those that run
//! dry before the page is full: most partitions have nothing to do with it.

use std::cmp::Ordering;
use std::collections::VecDeque;

use ff_backend::Result;
use ff_backend::codec::key::record_key;
use ff_core::partition::Partition;
use ff_core::record::RecordKey;
use ff_core::time::Timestamp;
use redis::Value;
use serde::{Deserialize, Serialize};

use super::reader::{Command, Reader};
use crate::reply::{list, text, whole_score};

/// Names of a set that are read at once, at least and at most.
const CHUNK: (usize, usize) = (4, 1_000);

/// Where something stands in a listing: by score, name and partition.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct ListPosition {
    /// What its set sorts it by; zero where that is the name alone.
    pub(super) score: i64,
    /// The part of its name that tells it from the others of the walk.
    pub(super) name: String,
    /// The number of its partition.
    pub(super) partition: u16,
}

/// The order of a walk.
#[derive(Clone, Copy)]
pub(super) enum Order {
    /// The lowest score first.
    Ascending,
    /// The latest moment first: those at or after one, and before another.
    NewestFirst {
        from: Option<Timestamp>,
        before: Option<Timestamp>,
    },
    /// By name, in a set where every score is the same.
    ByName,
}

/// What a walk is after.
pub(super) struct Names {
    /// What the members it meets begin with; others are passed over.
    pub(super) begin: String,
    /// What the names of their records begin with; the rest is the same.
    pub(super) lead_to: String,
}

/// A walk on its way.
pub(super) struct Walk {
    order: Order,
    names: Names,
    strands: Vec<Strand>,
}

/// One of the sets.
struct Strand {
    partition: Partition,
    set: String,
    /// The last member that was read, or that the cursor names.
    passed: Option<Passed>,
    found: VecDeque<ListPosition>,
    chunk: usize,
    has_more: bool,
}

struct Passed {
    score: i64,
    member: String,
    /// A cursor of another partition leaves its namesake here to be shown.
    but_equal: bool,
}

impl Names {
    /// Members that are the names of records.
    pub(super) fn of_records(begin: impl Into<String>) -> Self {
        let begin = begin.into();
        Self {
            lead_to: begin.clone(),
            begin,
        }
    }
}

impl Walk {
    /// A walk along these sets, from the beginning or after a position.
    pub(super) fn new(
        sets: impl IntoIterator<Item = (Partition, String)>,
        order: Order,
        names: Names,
        after: Option<&ListPosition>,
    ) -> Self {
        let strands = sets.into_iter().map(|(partition, set)| Strand {
            partition,
            set,
            passed: after.map(|after| Passed {
                score: after.score,
                member: format!("{}{}", names.begin, after.name),
                but_equal: order.compare(&partition.index, &after.partition).is_gt(),
            }),
            found: VecDeque::new(),
            chunk: 0,
            has_more: true,
        });
        Self {
            strands: strands.collect(),
            order,
            names,
        }
    }

    /// The record something stands for.
    pub(super) fn record_key(&self, position: &ListPosition) -> Result<RecordKey> {
        let name = format!("{}{}", self.names.lead_to, position.name);
        Ok(record_key(Partition::flow(position.partition), &name)?)
    }

    /// The next positions, as many as wanted unless there are no more.
    pub(super) async fn next(&mut self, reader: &mut Reader<'_>, wanted: usize) -> Result<Vec<ListPosition>> {
        // One more than wanted tells whether the walk has an end here.
        let chunk = (2 * wanted).div_ceil(self.strands.len().max(1)).min(wanted + 1);
        let mut positions = Vec::new();
        while positions.len() < wanted {
            self.refill(reader, chunk).await?;
            let before = positions.len();
            while positions.len() < wanted
                && let Some(strand) = self.first()
            {
                positions.extend(strand.found.pop_front());
            }
            if positions.len() == before && !self.has_more() {
                break;
            }
        }
        Ok(positions)
    }

    /// Whether there may be more to come.
    pub(super) fn has_more(&self) -> bool {
        self.strands
            .iter()
            .any(|strand| strand.has_more || !strand.found.is_empty())
    }

    /// The set whose next member comes first of all, as far as that is known.
    fn first(&mut self) -> Option<&mut Strand> {
        if self.strands.iter().any(Strand::is_dry) {
            return None;
        }
        let order = self.order;
        let filled = self.strands.iter_mut().filter(|strand| !strand.found.is_empty());
        filled.min_by(|left, right| order.compare(&left.found.front(), &right.found.front()))
    }

    /// Reads on where nothing is left.
    async fn refill(&mut self, reader: &mut Reader<'_>, chunk: usize) -> Result<()> {
        while self.strands.iter().any(Strand::is_dry) {
            let mut commands = Vec::new();
            for strand in self.strands.iter_mut().filter(|strand| strand.is_dry()) {
                strand.chunk = strand.chunk.max(chunk.max(CHUNK.0));
                commands.push((strand.partition, strand.command(self.order, &self.names.begin)));
            }
            let replies = reader.ask_each(commands).await?;
            let dry = self.strands.iter_mut().filter(|strand| strand.is_dry());
            for (strand, reply) in dry.zip(replies) {
                strand.absorb(reply, self.order, &self.names.begin)?;
            }
        }
        Ok(())
    }
}

impl Order {
    fn compare<T: Ord>(self, left: &T, right: &T) -> Ordering {
        match self {
            Self::NewestFirst { .. } => right.cmp(left),
            Self::Ascending | Self::ByName => left.cmp(right),
        }
    }
}

impl Strand {
    fn is_dry(&self) -> bool {
        self.has_more && self.found.is_empty()
    }

    /// Members that the next read asks for: the one that was passed comes again.
    fn reach(&self) -> usize {
        self.chunk + usize::from(self.passed.is_some())
    }

    fn command(&self, order: Order, begin: &str) -> Command {
        let range = Command::new("ZRANGE", &*self.set);
        let score = self.passed.as_ref().map(|passed| passed.score.to_string());
        let range = match order {
            Order::Ascending => {
                let first = score.unwrap_or_else(|| "-inf".to_owned());
                range.args([&first, "+inf", "BYSCORE"])
            }
            Order::NewestFirst { from, before } => {
                let last = from.map_or_else(|| "-inf".to_owned(), |from| from.to_string());
                let first = before.map_or_else(|| "+inf".to_owned(), |before| format!("({before}"));
                range.args([&score.unwrap_or(first), &last, "BYSCORE"]).arg("REV")
            }
            Order::ByName => {
                let first = self.passed.as_ref().map_or(begin, |passed| &passed.member);
                range.args([format!("[{first}"), format!("({begin}~")]).arg("BYLEX")
            }
        };
        let range = range.args(["LIMIT", "0"]).arg(self.reach().to_string());
        match order {
            Order::ByName => range,
            _ => range.arg("WITHSCORES"),
        }
    }

    /// Takes what was read. Members may have come and gone meanwhile, so it is compared with what was passed, not counted.
    fn absorb(&mut self, reply: Value, order: Order, begin: &str) -> Result<()> {
        let mut members = members(reply, order)?;
        self.has_more = members.len() == self.reach();
        let passed = self.passed.take();
        if let Some(passed) = &passed {
            members.retain(|member| passed.leaves(member, order));
        }
        let last = members.last().map(|(score, member)| Passed {
            score: *score,
            member: member.clone(),
            but_equal: false,
        });
        self.chunk = match last {
            Some(_) => (2 * self.chunk).min(CHUNK.1.max(self.chunk)),
            // Very many have the score of what was passed: the next read reaches well beyond them.
            None => 8 * self.chunk,
        };
        self.passed = last.or(passed);
        let partition = self.partition.index;
        self.found.extend(members.into_iter().filter_map(|(score, member)| {
            let name = member.strip_prefix(begin)?.to_owned();
            Some(ListPosition { score, name, partition })
        }));
        Ok(())
    }
}

impl Passed {
    /// Whether this member is still to come.
    fn leaves(&self, (score, member): &(i64, String), order: Order) -> bool {
        match order.compare(&(*score, member), &(self.score, &self.member)) {
            Ordering::Less => false,
            Ordering::Equal => self.but_equal,
            Ordering::Greater => true,
        }
    }
}

fn members(reply: Value, order: Order) -> Result<Vec<(i64, String)>> {
    let values = list(reply)?;
    if let Order::ByName = order {
        return values.iter().map(|member| Ok((0, text(member)?.to_owned()))).collect();
    }
    let pairs = values.chunks_exact(2);
    pairs
        .map(|pair| Ok((whole_score(&pair[1])?, text(&pair[0])?.to_owned())))
        .collect()
}
