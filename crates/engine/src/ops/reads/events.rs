//! events: what happened, after a cursor, waiting until there is something.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration as Span;

use ff_backend::Error;
use ff_backend::query::{FeedLine, FeedStart, Listing, Page};
use ff_core::command::page::PageRequest;
use ff_core::error::{Code, Rejection};
use ff_core::fabric::Result;
use ff_core::limits::{EVENTS_PER_BATCH_MAX, LOOKED_AT_MAX, PAGE_MAX};
use ff_core::partition::Partition;
use ff_core::record::HistoryLine;
use ff_core::time::Duration;
use ff_core::token::SignedCursor;
use ff_core::view::{Event, EventFilter, Events, EventsFrom, ReadEvents};
use futures::future::select;

use super::feed_hub::{Ahead, Seat};
use super::positions::Positions;
use crate::directory::keys;
use crate::engine::Engine;
use crate::fault::{internal, refusal};

/// How long before now somebody begins who asks for what happens now: what is written at this moment may carry the time of a
/// moment ago.
const JUST_NOW: Duration = Duration::from_secs(1);

/// A reader on its way.
struct Reader {
    filter: EventFilter,
    limit: usize,
    /// Goes past more than it shows, and counts what it leaves out.
    collects: bool,
    /// `None` until its first page is read.
    positions: Option<Positions>,
    looked_at: usize,
    /// Lines that pass, each with the bytes of the positions after it.
    found: Vec<(Vec<u8>, HistoryLine)>,
    skipped: u64,
}

pub(crate) async fn events(engine: &Engine, request: ReadEvents) -> Result<Events> {
    request.check()?;
    let mut watch = engine.watch(request.wait)?;
    let began = engine.host().elapsed();
    let page = PageRequest {
        cursor: request.cursor,
        limit: request.limit,
    };
    let limit = page.limit()?;
    let mut reader = Reader {
        limit: request.batch.map_or(limit, |_| limit.min(EVENTS_PER_BATCH_MAX)),
        collects: request.batch.is_some(),
        filter: EventFilter {
            namespace: engine.namespace_to_read(request.filter.namespace.clone())?,
            ..request.filter
        },
        positions: match request.from {
            None | Some(EventsFrom::Oldest) => positions_of(engine, page.cursor.as_ref()).await?,
            Some(EventsFrom::At(at)) => Some(Positions::from(at)),
            Some(EventsFrom::Now) => Some(positions_now(engine).await?),
        },
        looked_at: 0,
        found: Vec::new(),
        skipped: 0,
    };
    if request.wait == Duration::ZERO {
        read_on(engine, &mut reader).await?;
        return answer(engine, reader).await;
    }
    let seat = Seat::take(engine);
    loop {
        let wake = engine.shared.feed_hub.next_wake();
        follow(engine, &seat, &mut reader).await?;
        if reader.has_enough() || !watch.wait(wake).await? {
            break;
        }
    }
    // Who has more to read than fits into one answer is not kept waiting for still more.
    if let Some(batch) = request.batch.filter(|_| !reader.found.is_empty() && !reader.is_full()) {
        let until = began + Span::from_millis(batch.min(request.wait).as_millis());
        collect_until(engine, until).await;
        follow(engine, &seat, &mut reader).await?;
    }
    answer(engine, reader).await
}

/// Waits while more comes together, unless the process stops.
async fn collect_until(engine: &Engine, until: Span) {
    let left = until.saturating_sub(engine.host().elapsed());
    if !left.is_zero() {
        select(pin!(engine.stopped()), engine.host().sleep(left)).await;
    }
}

/// Goes past what this process remembers, or reads what it does not.
async fn follow(engine: &Engine, seat: &Seat<'_>, reader: &mut Reader) -> Result<()> {
    seat.keep_reading();
    let hub = &engine.shared.feed_hub;
    while let Some(place) = reader.positions.as_ref().and_then(|positions| positions.place) {
        match hub.after(place) {
            Ahead::Lines(lines) => {
                reader.pass_remembered(&lines);
                return Ok(());
            }
            Ahead::Left { out, positions } if reader.collects => {
                reader.skipped += out;
                reader.positions = Some(positions);
            }
            Ahead::Left { .. } | Ahead::Unknown => break,
        }
    }
    let end = hub.end();
    let has_seen_all = read_on(engine, reader).await?;
    if let Some(positions) = reader.positions.as_mut().filter(|_| has_seen_all) {
        positions.place = end.or_else(|| hub.begin(engine, positions));
    }
    Ok(())
}

/// Reads until something passes the filter or there is no more; whether there is no more.
async fn read_on(engine: &Engine, reader: &mut Reader) -> Result<bool> {
    if let Some(positions) = &mut reader.positions {
        positions.place = None;
    }
    while !reader.is_full() {
        let partitions = engine.flow_partitions().into_iter();
        let start = |partition| (partition, reader.start_of(partition));
        let of = Listing::Feed(partitions.map(start).collect());
        let page = engine.store().try_list(of, reader.chunk()).await;
        let page = page.map_err(|error| expired(&error))?;
        if !reader.pass(page) {
            return Ok(true);
        }
    }
    Ok(false)
}

async fn answer(engine: &Engine, reader: Reader) -> Result<Events> {
    let ring = keys::ring(engine).await?;
    let scope = scope(engine);
    let sign = |positions: &[u8]| SignedCursor::mint(&ring, &scope, positions);
    let event = |(positions, line): (Vec<u8>, HistoryLine)| Event {
        cursor: sign(&positions),
        line,
    };
    let positions = reader
        .positions
        .ok_or_else(|| internal("events were answered without a page"))?;
    Ok(Events {
        next: sign(&positions.to_bytes()),
        events: reader.found.into_iter().map(event).collect(),
        skipped: reader.skipped,
    })
}

async fn positions_of(engine: &Engine, cursor: Option<&SignedCursor>) -> Result<Option<Positions>> {
    let Some(cursor) = cursor else {
        return Ok(None);
    };
    let state = engine.open_signed(cursor, &scope(engine)).await?;
    let invalid = || Code::InvalidCursor.because("the cursor is not one of the events; start without one");
    Positions::from_bytes(&state).ok_or_else(invalid).map(Some)
}

/// Where somebody begins who wants what happens from now on.
async fn positions_now(engine: &Engine) -> Result<Positions> {
    match engine.shared.feed_hub.now() {
        Some(positions) => Ok(positions),
        None => Ok(Positions::from(engine.store().ping().await? - JUST_NOW)),
    }
}

/// A cursor from which everything is told that happens from now on.
pub(crate) async fn events_from_now(engine: &Engine) -> Result<SignedCursor> {
    let positions = positions_now(engine).await?;
    engine.sign(&scope(engine), &positions.to_bytes()).await
}

/// A cursor goes on under another filter, but never for somebody who may see other namespaces.
fn scope(engine: &Engine) -> String {
    match &engine.caller.namespace {
        None => "events".to_owned(),
        Some(namespace) => format!("events/{namespace}"),
    }
}

/// The feed of a partition grew: whoever waits for something of it looks again.
pub(crate) fn feed_grew(engine: &Engine, partition: Partition) {
    engine.shared.feeds.wake(&partition);
    engine.shared.feed_hub.ring();
}

impl Reader {
    /// Whether there is something to answer.
    fn has_enough(&self) -> bool {
        !self.found.is_empty() || self.skipped > 0 || self.looked_at >= LOOKED_AT_MAX
    }

    /// Whether nothing more is to be read now.
    fn is_full(&self) -> bool {
        self.looked_at >= LOOKED_AT_MAX || !self.collects && self.has_enough()
    }

    /// Lines to ask for: with a filter more than are wanted, because most may not pass it.
    fn chunk(&self) -> usize {
        if self.filter == EventFilter::default() && !self.collects {
            self.limit
        } else {
            PAGE_MAX
        }
    }

    fn start_of(&self, partition: Partition) -> FeedStart {
        let positions = self.positions.as_ref();
        positions.map_or(FeedStart::Oldest, |positions| positions.start_of(partition))
    }

    /// Goes past the lines of a page, until enough of them pass the filter; the rest is read again next time. Whether there
    /// were any.
    fn pass(&mut self, page: Page) -> bool {
        self.positions.get_or_insert_with(|| Positions::since(page.now));
        let lines = page.feed();
        let any = !lines.is_empty();
        for line in &lines {
            if !self.pass_line(line) {
                break;
            }
        }
        any
    }

    /// Goes past lines this process remembers, those after its place, until enough of them pass the filter.
    fn pass_remembered(&mut self, lines: &[Arc<FeedLine>]) {
        for line in lines {
            if !self.pass_line(line) {
                return;
            }
            if let Some(place) = self.positions.as_mut().and_then(|positions| positions.place.as_mut()) {
                place.next += 1;
            }
        }
    }

    /// Goes past one line; `false`: enough were found before it.
    fn pass_line(&mut self, told: &FeedLine) -> bool {
        let (partition, position, line) = told;
        let is_full = self.found.len() == self.limit;
        if is_full && !self.collects {
            return false;
        }
        let Some(positions) = self.positions.as_mut().filter(|found| found.lack(told)) else {
            return true;
        };
        self.looked_at += 1;
        positions.pass(*partition, *position);
        if !self.filter.passes(line) {
            return true;
        }
        if is_full {
            self.skipped += 1;
        } else {
            self.found.push((positions.to_bytes(), line.clone()));
        }
        true
    }
}

/// The refusal for a feed that could not be read; one that no longer holds the cursor says from where on it does.
fn expired(error: &Error) -> Rejection {
    let refused = refusal(error);
    match error {
        Error::CursorExpired { partition, oldest } => {
            let oldest = oldest.map(|oldest| format!("{}-{}", oldest.major, oldest.minor));
            refused.with("partition", partition.to_string()).with("oldest", oldest)
        }
        _ => refused,
    }
}
