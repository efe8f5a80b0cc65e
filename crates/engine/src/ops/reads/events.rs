//! events: what happened, after a cursor, waiting until there is something.

use ff_backend::Error;
use ff_backend::query::{FeedStart, Listing, Page};
use ff_core::command::page::PageRequest;
use ff_core::error::{Code, Rejection};
use ff_core::fabric::Result;
use ff_core::limits::PAGE_MAX;
use ff_core::partition::{Family, Partition};
use ff_core::record::HistoryLine;
use ff_core::token::SignedCursor;
use ff_core::view::{Event, EventFilter, Events, ReadEvents};

use super::positions::Positions;
use crate::directory::keys;
use crate::engine::Engine;
use crate::fault::{internal, refusal};

/// Lines one call looks at before it answers what it has: a filter may leave out all of them.
const LOOKED_AT_MAX: usize = 10_000;
/// Stands for every flow partition among the waiters of the feeds; no store has a partition of this index.
const ANY_PARTITION: Partition = Partition::flow(u16::MAX);

/// A reader on its way.
struct Reader {
    filter: EventFilter,
    limit: usize,
    /// `None` until its first page is read.
    positions: Option<Positions>,
    looked_at: usize,
    /// Lines that pass, each with the bytes of the positions after it.
    found: Vec<(Vec<u8>, HistoryLine)>,
}

pub(crate) async fn events(engine: &Engine, request: ReadEvents) -> Result<Events> {
    let mut watch = engine.watch(request.wait)?;
    let page = PageRequest {
        cursor: request.cursor,
        limit: request.limit,
    };
    let mut reader = Reader {
        limit: page.limit()?,
        positions: positions_of(engine, page.cursor.as_ref()).await?,
        filter: EventFilter {
            namespace: engine.namespace_to_read(request.filter.namespace.clone())?,
            ..request.filter
        },
        looked_at: 0,
        found: Vec::new(),
    };
    let feeds = engine.shared.feeds.join(ANY_PARTITION);
    loop {
        let wake = feeds.next_wake();
        read_on(engine, &mut reader).await?;
        if reader.has_enough() || !watch.wait(wake).await? {
            return answer(engine, reader).await;
        }
    }
}

/// Reads until something passes the filter or there is no more.
async fn read_on(engine: &Engine, reader: &mut Reader) -> Result<()> {
    while !reader.has_enough() {
        let partitions = engine.shared.config.counts.all(Family::Flow);
        let start = |partition| (partition, reader.start_of(partition));
        let of = Listing::Feed(partitions.map(start).collect());
        let page = engine.store().try_list(of, reader.chunk()).await;
        let page = page.map_err(|error| expired(&error))?;
        if !reader.pass(page) {
            return Ok(());
        }
    }
    Ok(())
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

/// A cursor goes on under another filter, but never for somebody who may see other namespaces.
fn scope(engine: &Engine) -> String {
    match &engine.caller.namespace {
        None => "events".to_owned(),
        Some(namespace) => format!("events/{namespace}"),
    }
}

/// The feed of a partition grew: whoever waits for it, or for any, looks again.
pub(crate) fn feed_grew(engine: &Engine, partition: Partition) {
    engine.shared.feeds.wake(&partition);
    engine.shared.feeds.wake(&ANY_PARTITION);
}

impl Reader {
    fn has_enough(&self) -> bool {
        !self.found.is_empty() || self.looked_at >= LOOKED_AT_MAX
    }

    /// Lines to ask for: with a filter more than are wanted, because most may not pass it.
    fn chunk(&self) -> usize {
        if self.filter == EventFilter::default() {
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
        let positions = self.positions.get_or_insert_with(|| Positions::beginning(page.now));
        let lines = page.feed();
        let any = !lines.is_empty();
        for (partition, position, line) in lines {
            if self.found.len() == self.limit {
                break;
            }
            self.looked_at += 1;
            positions.pass(partition, position);
            if self.filter.passes(&line) {
                self.found.push((positions.to_bytes(), line));
            }
        }
        any
    }
}

/// The refusal for a feed that could not be read; one that no longer holds the cursor says from where on it does.
fn expired(error: &Error) -> Rejection {
    let refused = refusal(error);
    match error {
        Error::CursorExpired { partition, oldest } => {
            let oldest = oldest.map(|oldest| format!("{}-{}", oldest.millis, oldest.sequence));
            refused.with("partition", partition.to_string()).with("oldest", oldest)
        }
        _ => refused,
    }
}
