//! Feeds and histories that forget, tell too much, or let their readers miss something.

use std::sync::Mutex;

use async_trait::async_trait;
use ff_backend::codec::cursor::Cut;
use ff_backend::layer::Layer;
use ff_backend::query::{Cursor, FeedStart, Listing, Page, Query, Rows};
use ff_backend::transaction::{CommitError, Committed, Transaction};
use ff_backend::{Backend, Error, Result};
use ff_core::limits::HISTORY_LINES_MAX;
use ff_core::partition::Partition;
use ff_core::record::HistoryLine;

use crate::liar::lies;

lies! {
    // Every line that was ever told by a transaction.
    Mutex<Vec<HistoryLine>>;
    /// Histories grow without end.
    HistoryUnbounded,
    /// Nothing reaches the feed.
    FeedForgets,
    /// What people wrote reaches the feed.
    FeedKeepsDetails,
    /// The feed is read backwards.
    FeedNotOrdered,
    /// The lines of one partition come before those of the next.
    FeedStarvesOthers,
    /// Only the first of many feeds is read.
    OneFeedRead,
    /// A page of a feed has a next one.
    FeedHasCursors,
    /// A reader that fell behind is not told.
    FeedGapHidden,
    /// The wrong feed is named when a position is not held.
    FeedExpiredElsewhere,
    /// A feed is read from its beginning wherever the reader stands.
    FeedPositionsIgnored,
    /// What was dropped from a feed before a reader saw any of it is not told.
    FeedBeginningsForgotten,
    /// A feed is read from its beginning by whoever asks for what comes from a moment on.
    FeedMomentsIgnored,
}

#[async_trait]
impl Layer for Liar {
    fn inner(&self) -> &dyn Backend {
        &*self.honest
    }

    async fn commit(&self, batch: Vec<Transaction>) -> Vec<std::result::Result<Committed, CommitError>> {
        let lines = batch.iter().flat_map(|transaction| transaction.history.clone());
        self.seen.lock().expect("no panic").extend(lines);
        self.inner().commit(batch).await
    }

    async fn list(&self, query: Query) -> Result<Page> {
        match (self.lie, query.of.clone()) {
            (_, Listing::Feed(asked)) => self.list_feed(query, asked).await,
            (Lie::HistoryUnbounded, Listing::History(subject)) => {
                let mut told = self.seen.lock().expect("no panic").clone();
                told.retain(|line| line.subject == subject);
                if told.len() > HISTORY_LINES_MAX {
                    return self.all_that_was_told(&query, told);
                }
                self.inner().list(query).await
            }
            _ => self.inner().list(query).await,
        }
    }
}

type Asked = Vec<(Partition, FeedStart)>;

impl Liar {
    fn all_that_was_told(&self, query: &Query, told: Vec<HistoryLine>) -> Result<Page> {
        let cut = Cut::new(query)?;
        let from = cut.after::<usize>()?.map_or(0, |last| last + 1);
        let rest = told.into_iter().enumerate().skip(from);
        let (rows, next) = cut.page(rest.map(|(number, line)| Ok::<_, Error>((number, Some(line)))))?;
        Ok(Page {
            now: self.honest.memory.now(),
            rows: Rows::History(rows),
            next,
        })
    }

    async fn list_feed(&self, query: Query, mut asked: Asked) -> Result<Page> {
        if self.lie == Lie::FeedStarvesOthers {
            return self.one_after_the_other(query, asked).await;
        }
        self.distort_asked(&mut asked);
        let from_start = self.feed(&query, from_oldest(&asked, |_| true));
        let mut page = match self.feed(&query, asked).await {
            Err(Error::CursorExpired { .. }) if self.lie == Lie::FeedGapHidden => from_start.await?,
            Err(Error::CursorExpired { oldest, .. }) if self.lie == Lie::FeedExpiredElsewhere => {
                let partition = Partition::flow(u16::MAX);
                return Err(Error::CursorExpired { partition, oldest });
            }
            page => page?,
        };
        self.distort_page(&mut page);
        Ok(page)
    }

    async fn feed(&self, query: &Query, asked: Asked) -> Result<Page> {
        let of = Listing::Feed(asked);
        self.inner().list(Query { of, ..query.clone() }).await
    }

    async fn one_after_the_other(&self, mut query: Query, mut asked: Asked) -> Result<Page> {
        asked.sort_by_key(|(partition, _)| *partition);
        let mut lines = Vec::new();
        for feed in asked {
            if query.limit > 0 {
                let more = self.feed(&query, vec![feed]).await?.feed();
                query.limit -= more.len();
                lines.extend(more);
            }
        }
        Ok(Page {
            now: self.honest.memory.now(),
            rows: Rows::Feed(lines),
            next: None,
        })
    }

    fn distort_asked(&self, asked: &mut Asked) {
        match self.lie {
            Lie::OneFeedRead => asked.truncate(1),
            Lie::FeedPositionsIgnored => *asked = from_oldest(asked, |_| true),
            Lie::FeedBeginningsForgotten => *asked = from_oldest(asked, |start| matches!(start, FeedStart::Since(_))),
            Lie::FeedMomentsIgnored => *asked = from_oldest(asked, |start| matches!(start, FeedStart::From(_))),
            _ => {}
        }
    }

    fn distort_page(&self, page: &mut Page) {
        let Rows::Feed(rows) = &mut page.rows else { return };
        match self.lie {
            Lie::FeedForgets => rows.clear(),
            Lie::FeedNotOrdered => rows.reverse(),
            Lie::FeedHasCursors => page.next = Some(Cursor("feed:".to_owned())),
            Lie::FeedKeepsDetails => {
                let told = self.seen.lock().expect("no panic");
                for (_, _, event) in rows {
                    let full = told.iter().find(|line| *line.event() == *event);
                    *event = full.unwrap_or(event).clone();
                }
            }
            _ => {}
        }
    }
}

/// Reads some feeds from their oldest line on, wherever that was asked for.
fn from_oldest(asked: &Asked, changes: impl Fn(&FeedStart) -> bool) -> Asked {
    let start = |start: &FeedStart| if changes(start) { FeedStart::Oldest } else { *start };
    asked
        .iter()
        .map(|(partition, from)| (*partition, start(from)))
        .collect()
}
