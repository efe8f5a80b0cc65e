//! The feeds of partitions, oldest line first.
//!
//! The place of a line is the transaction that wrote it, its number there, and the generation: after a failover that lost it, another
//! line may have the same two numbers.

use std::time::Duration;

use ff_backend::codec::{key, line};
use ff_backend::query::{FEED_KEPT_FOR, FeedLine, FeedPosition, FeedStart, Rows};
use ff_backend::{Error, Result};
use ff_core::partition::{Family, Partition};
use ff_core::record::{HistorySubject, RecordKey};
use ff_core::time::Timestamp;
use tokio::time::sleep;
use uuid::Uuid;

use super::{Found, about};
use crate::call::{Answer, call};
use crate::error::corrupt;
use crate::rows::{answered, sent};
use crate::shared::{Shared, count, duration, millis, number, partition};

/// How long what is there and cannot be shown yet is waited for, each time.
const PAUSES_MS: [u64; 6] = [2, 4, 8, 16, 32, 64];

sent! {
    /// From where a feed is read.
    #[derive(Default)]
    StartRow as "feed_start" {
        partition: i16, what: &'static str, at: Option<i64>, xid: Option<i64>, number: Option<i32>,
        generation: Option<i32>,
    }
}

answered! {
    /// A line of a feed, and what it leaves out.
    LineRow as "feed_line" {
        partition: i16, xid: i64, number: i32, generation: i32, key: String, namespace: String, lane: Option<String>,
        kind: String, flow_id: Option<Uuid>, line: String,
    }
}

impl Shared {
    pub(super) async fn list_feed(&self, asked: &[(Partition, FeedStart)], limit: usize) -> Found {
        let of_flows = asked.iter().filter(|(partition, _)| partition.family == Family::Flow);
        let starts: Vec<StartRow> = of_flows
            .map(|(partition, start)| start_row(*partition, *start))
            .collect();
        let (mut now, mut answer) = self.read_feed(&starts, limit).await?;
        // Whoever has just committed something wants to see it; what hides it has usually ended a moment later.
        for pause in PAUSES_MS {
            if !answer.get::<Option<bool>>("is_behind")?.unwrap_or(false) {
                break;
            }
            sleep(Duration::from_millis(pause)).await;
            (now, answer) = self.read_feed(&starts, limit).await?;
        }
        let expired: Option<i16> = answer.get("expired")?;
        if let Some(own) = expired {
            let oldest: Option<LineRow> = answer.get("oldest")?;
            return Err(Error::CursorExpired {
                partition: partition(own),
                oldest: oldest.map(|line| position(&line)),
            });
        }
        let found: Vec<LineRow> = answer.get("answer")?;
        let lines: Vec<FeedLine> = found.into_iter().map(feed_line).collect::<Result<_>>()?;
        Ok((now, Rows::Feed(lines), None))
    }

    async fn read_feed(&self, starts: &[StartRow], limit: usize) -> Result<(Timestamp, Answer)> {
        let kept = duration(FEED_KEPT_FOR);
        self.ask(call!(reading feed(starts: &starts, at_most: &count(limit), kept_ms: &kept)))
            .await
    }
}

fn start_row(partition: Partition, start: FeedStart) -> StartRow {
    let row = StartRow {
        partition: number(partition),
        ..StartRow::default()
    };
    match start {
        FeedStart::Oldest => StartRow { what: "oldest", ..row },
        FeedStart::Since(began) => StartRow {
            what: "since",
            at: Some(millis(began)),
            ..row
        },
        FeedStart::From(at) => StartRow {
            what: "from",
            at: Some(millis(at)),
            ..row
        },
        FeedStart::After(seen) => StartRow {
            what: "after",
            xid: Some(seen.major.cast_signed()),
            number: Some(half(seen.minor >> 32)),
            generation: Some(half(seen.minor)),
            ..row
        },
    }
}

/// The transaction, then the number in it; the generation tells apart what no order does.
fn position(line: &LineRow) -> FeedPosition {
    FeedPosition {
        major: line.xid.cast_unsigned(),
        minor: u64::from(line.number.cast_unsigned()) << 32 | u64::from(line.generation.cast_unsigned()),
    }
}

/// The lower half of a number, bit by bit.
#[expect(clippy::cast_possible_truncation, reason = "the upper half is asked for otherwise")]
const fn half(bits: u64) -> i32 {
    (bits as u32).cast_signed()
}

fn feed_line(row: LineRow) -> Result<FeedLine> {
    let partition = partition(row.partition);
    let subject = match key::record_key(partition, &row.key)? {
        RecordKey::Execution(id) => HistorySubject::Execution(id),
        RecordKey::Flow(id) => HistorySubject::Flow(id),
        _ => return Err(corrupt(format!("a line about {:?}", row.key))),
    };
    let place = position(&row);
    let about = about(subject, (Some(row.namespace), row.lane, Some(row.kind)), row.flow_id)?;
    Ok((partition, place, line::read(&row.line, &about)?))
}
