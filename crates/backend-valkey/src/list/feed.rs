//! The feeds of partitions, oldest line first: what waits longest comes first, so that no feed keeps another waiting.

use std::borrow::Cow;

use ff_backend::codec::key::{record_key, unescaped};
use ff_backend::codec::line;
use ff_backend::query::{FEED_KEPT_FOR, FeedPosition, FeedStart, FeedTrim, Rows};
use ff_backend::{Error, Result};
use ff_core::name::LaneId;
use ff_core::partition::{Family, Partition};
use ff_core::record::{AboutLines, HistoryLine, HistorySubject, RecordKey};
use ff_core::time::Timestamp;
use redis::Value;

use super::Found;
use super::reader::{Command, Question, Reader};
use crate::error::corrupt;
use crate::keys::{FEED, STAMPS};
use crate::reply::{list, optional_text, text, values};

/// Lines of each feed that are read at once at least.
const CHUNK_MIN: usize = 8;
/// Times that feeds are read for one page.
const READS_MAX: usize = 4;

/// A feed that is being read.
struct Feed {
    partition: Partition,
    /// From where the reader wants it, or after what was read.
    start: FeedStart,
    has_more: bool,
}

/// A line that was read and not parsed yet.
type Raw = (FeedPosition, Partition, String);

pub(super) async fn feed(reader: &mut Reader<'_>, asked: &[(Partition, FeedStart)], limit: usize) -> Found {
    // Lines of this moment and before are not shown any more. They are kept until as many others as a feed holds have come after.
    let hidden = reader.shared.known_now().await? - FEED_KEPT_FOR;
    let of_flows = asked.iter().filter(|(partition, _)| partition.family == Family::Flow);
    let feed = |(partition, start): &(Partition, FeedStart)| Feed {
        partition: *partition,
        start: *start,
        has_more: true,
    };
    let mut feeds: Vec<Feed> = of_flows.map(feed).collect();
    let mut lines = Vec::new();
    for round in 0..READS_MAX {
        feeds.retain(|feed| feed.has_more);
        if feeds.is_empty() || lines.len() >= limit {
            break;
        }
        let chunk = (2 * limit).div_ceil(feeds.len()).clamp(CHUNK_MIN, limit.max(CHUNK_MIN));
        let questions = feeds.iter().map(|feed| feed.question(hidden, chunk));
        let answers = reader.ask(questions.collect()).await?;
        for (feed, answer) in feeds.iter_mut().zip(answers) {
            match feed.absorb(answer, hidden, chunk)? {
                Some(found) => lines.extend(found),
                // What was read before is shown; the reader's next question finds out.
                None if round > 0 => feed.has_more = false,
                None => return Err(expired(reader, feed.partition, hidden).await?),
            }
        }
    }
    lines.sort_unstable_by_key(|(position, partition, _)| (*position, *partition));
    lines.truncate(limit);
    let rows = lines.into_iter();
    let rows = rows.map(|(position, partition, line)| Ok((partition, position, parse(partition, &line)?)));
    Ok((Rows::Feed(rows.collect::<Result<_>>()?), None))
}

impl Feed {
    /// Reads the entry of the position the reader has seen, and those after it: if that one is there, nothing was trimmed.
    /// Who has seen none reads what was trimmed, and what was shown when it began: if that is shown no more, it was missed.
    fn question(&self, hidden: Timestamp, chunk: usize) -> Question {
        let trimmed = || Command::new("HGET", STAMPS).arg("trimmed");
        let commands = match self.start {
            FeedStart::Oldest => vec![range(first_shown(hidden), chunk)],
            FeedStart::Since(began) => vec![trimmed(), range(first_shown(began - FEED_KEPT_FOR), chunk)],
            FeedStart::From(at) => vec![trimmed(), range(position(at.as_millis(), 0), chunk)],
            FeedStart::After(FeedPosition { major, minor }) => {
                vec![entry_of(major, minor), range(position(major, minor + 1), chunk)]
            }
        };
        (self.partition, commands)
    }

    /// The lines from where they were asked for; `None` when the feed does not show all there ever was from there.
    fn absorb(&mut self, mut answer: Vec<Value>, hidden: Timestamp, chunk: usize) -> Result<Option<Vec<Raw>>> {
        let range = list(answer.pop().ok_or_else(|| corrupt("a feed was not read"))?)?;
        self.has_more = range.len() == chunk;
        let mut lines = raw_lines(self.partition, range)?;
        match (self.start, answer.pop()) {
            (FeedStart::After(seen), Some(entry)) => {
                let around = raw_lines(self.partition, list(entry)?)?;
                let Some(place) = around.iter().position(|(position, ..)| *position == seen) else {
                    return Ok(None);
                };
                lines.splice(0..0, around.into_iter().skip(place + 1));
            }
            (start, Some(stamp)) if trim(&stamp)?.is_some_and(|trim| trim.is_missed_from(start)) => return Ok(None),
            _ => {}
        }
        if lines
            .first()
            .is_some_and(|(position, ..)| *position < first_shown(hidden))
        {
            return Ok(None);
        }
        if let Some((position, ..)) = lines.last() {
            self.start = FeedStart::After(*position);
        }
        Ok(Some(lines))
    }
}

/// What was trimmed last: `<when> <of which time>`.
fn trim(stamp: &Value) -> Result<Option<FeedTrim>> {
    let Some(stamp) = optional_text(stamp)? else {
        return Ok(None);
    };
    let unknown = || corrupt(format!("what was trimmed from a feed: {stamp:?}"));
    let (dropped, written) = stamp.split_once(' ').ok_or_else(unknown)?;
    let moment = |millis: &str| millis.parse().map(Timestamp::from_millis).map_err(corrupt);
    Ok(Some(FeedTrim {
        written_at: moment(written)?,
        dropped_at: moment(dropped)?,
    }))
}

/// The entry that holds the line at a position: the last one of its moment that does not begin after it.
fn entry_of(millis: u64, sequence: u64) -> Command {
    Command::new("XREVRANGE", FEED).args([&format!("{millis}-{sequence}"), &format!("{millis}-0"), "COUNT", "1"])
}

fn range(from: FeedPosition, count: usize) -> Command {
    let from = format!("{}-{}", from.major, from.minor);
    Command::new("XRANGE", FEED).args([&from, "+", "COUNT", &count.to_string()])
}

/// The time of an entry, and the number of a line in it.
const fn position(millis: u64, sequence: u64) -> FeedPosition {
    FeedPosition {
        major: millis,
        minor: sequence,
    }
}

fn first_shown(hidden: Timestamp) -> FeedPosition {
    position(hidden.as_millis() + 1, 0)
}

async fn expired(reader: &mut Reader<'_>, partition: Partition, hidden: Timestamp) -> Result<Error> {
    let oldest = vec![(partition, range(first_shown(hidden), 1))];
    let mut lines = Vec::new();
    for found in reader.ask_each(oldest).await? {
        lines.extend(raw_lines(partition, list(found)?)?);
    }
    Ok(Error::CursorExpired {
        partition,
        oldest: lines.first().map(|(position, ..)| *position),
    })
}

fn raw_lines(partition: Partition, entries: Vec<Value>) -> Result<Vec<Raw>> {
    let entries = entries.into_iter().map(|entry| raw(partition, entry));
    Ok(entries.collect::<Result<Vec<_>>>()?.concat())
}

/// The lines of an entry. Its id is their time and the number of the first of them.
fn raw(partition: Partition, entry: Value) -> Result<Vec<Raw>> {
    let [id, fields] = values(entry)?;
    let id = text(&id)?;
    let (millis, first) = id.split_once('-').ok_or_else(|| corrupt(format!("position {id:?}")))?;
    let (millis, first): (u64, u64) = (millis.parse().map_err(corrupt)?, first.parse().map_err(corrupt)?);
    let [_, lines] = values(fields)?;
    let lines = text(&lines)?.split('\n').flat_map(|line| {
        let (names, said) = line.split_once(' ').unwrap_or((line, ""));
        names.split(',').map(move |name| format!("{name} {said}"))
    });
    let lines = lines.zip(first..);
    Ok(lines
        .map(|(line, sequence)| (position(millis, sequence), partition, line))
        .collect())
}

/// A line of a feed: `<record> <namespace>/<lane> <kind> <flow> <line>`, with nothing between two spaces where there is none. In an
/// entry several records that the same is said of stand before it, with commas between them.
fn parse(partition: Partition, told: &str) -> Result<HistoryLine> {
    let unknown = || corrupt(format!("a line of a feed: {told:?}"));
    let mut parts = told.splitn(5, ' ');
    let mut next = || parts.next().ok_or_else(unknown);
    let subject = match record_key(partition, next()?)? {
        RecordKey::Execution(id) => HistorySubject::Execution(id),
        RecordKey::Flow(id) => HistorySubject::Flow(id),
        _ => return Err(unknown()),
    };
    let (namespace, lane) = next()?.split_once('/').ok_or_else(unknown)?;
    let given = |text: &'_ str| !text.is_empty();
    let kind = next()?.to_owned();
    let flow = next()?;
    let lane = given(lane).then(|| LaneId::parse(lane)).transpose();
    let about = AboutLines {
        subject,
        namespace: Cow::Owned(unescaped(namespace)?),
        lane: lane.map_err(corrupt)?.map(Cow::Owned),
        flow_id: given(flow).then(|| flow.parse()).transpose().map_err(corrupt)?,
        kind: Cow::Owned(kind),
    };
    Ok(line::read(next()?, &about)?)
}
