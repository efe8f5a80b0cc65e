//! The feeds of partitions, oldest line first.
//!
//! The place of a line is the transaction that wrote it, its number there, and the generation: after a failover that lost it, another
//! line may have the same two numbers.

use std::borrow::Cow;
use std::time::Duration;

use ff_backend::codec::{key, line};
use ff_backend::query::{FEED_KEPT_FOR, FeedLine, FeedPosition, FeedStart, Rows};
use ff_backend::{Error, Result};
use ff_core::id::FlowId;
use ff_core::name::{LaneId, Namespace};
use ff_core::partition::{Family, Partition};
use ff_core::record::{AboutLines, HistorySubject, RecordKey};
use postgres_types::{FromSql, ToSql};
use tokio::time::sleep;
use tokio_postgres::Row;
use uuid::Uuid;

use super::Found;
use crate::call::call;
use crate::error::corrupt;
use crate::shared::{Shared, duration, millis, number, partition};

/// How long what is there and cannot be shown yet is waited for, each time.
const PAUSES_MS: [u64; 6] = [2, 4, 8, 16, 32, 64];

/// From where a feed is read.
#[derive(Debug, Default, ToSql)]
#[postgres(name = "feed_start")]
struct StartRow {
    partition: i16,
    what: &'static str,
    at: Option<i64>,
    xid: Option<i64>,
    number: Option<i32>,
    generation: Option<i32>,
}

/// A line of a feed, and what it leaves out.
#[derive(Debug, FromSql)]
#[postgres(name = "feed_line")]
struct LineRow {
    partition: i16,
    xid: i64,
    number: i32,
    generation: i32,
    key: String,
    namespace: String,
    lane: Option<String>,
    kind: String,
    flow_id: Option<Uuid>,
    line: String,
}

impl Shared {
    pub(super) async fn list_feed(&self, asked: &[(Partition, FeedStart)], limit: usize) -> Found {
        let of_flows = asked.iter().filter(|(partition, _)| partition.family == Family::Flow);
        let starts: Vec<StartRow> = of_flows
            .map(|(partition, start)| start_row(*partition, *start))
            .collect();
        let mut row = self.read_feed(&starts, limit).await?;
        // Whoever has just committed something wants to see it; what hides it has usually ended a moment later.
        for pause in PAUSES_MS {
            if !row
                .try_get::<_, Option<bool>>("is_behind")
                .map_err(corrupt)?
                .unwrap_or(false)
            {
                break;
            }
            sleep(Duration::from_millis(pause)).await;
            row = self.read_feed(&starts, limit).await?;
        }
        let expired: Option<i16> = row.try_get("expired").map_err(corrupt)?;
        if let Some(own) = expired {
            let oldest: Option<LineRow> = row.try_get("oldest").map_err(corrupt)?;
            return Err(Error::CursorExpired {
                partition: partition(own),
                oldest: oldest.map(|line| position(&line)),
            });
        }
        let found: Vec<LineRow> = row.try_get("answer").map_err(corrupt)?;
        let lines: Vec<FeedLine> = found.iter().map(feed_line).collect::<Result<_>>()?;
        let now = self.was_told(row.try_get("now").map_err(corrupt)?);
        Ok((now, Rows::Feed(lines), None))
    }

    async fn read_feed(&self, starts: &[StartRow], limit: usize) -> Result<Row> {
        let (caller, at_most) = (self.caller(), i64::try_from(limit).unwrap_or(i64::MAX));
        let kept = duration(FEED_KEPT_FOR);
        let asked = call!(reading feed(
            caller: &caller, starts: &starts, at_most: &at_most, kept_ms: &kept));
        self.connections.row(asked).await
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
        FeedStart::After(seen) => {
            let [a, b, c, d, e, f, g, h] = seen.minor.to_be_bytes();
            StartRow {
                what: "after",
                xid: Some(seen.major.cast_signed()),
                number: Some(i32::from_be_bytes([a, b, c, d])),
                generation: Some(i32::from_be_bytes([e, f, g, h])),
                ..row
            }
        }
    }
}

/// The transaction, then the number in it; the generation tells apart what no order does.
fn position(line: &LineRow) -> FeedPosition {
    let [a, b, c, d] = line.number.to_be_bytes();
    let [e, f, g, h] = line.generation.to_be_bytes();
    FeedPosition {
        major: line.xid.cast_unsigned(),
        minor: u64::from_be_bytes([a, b, c, d, e, f, g, h]),
    }
}

fn feed_line(row: &LineRow) -> Result<FeedLine> {
    let partition = partition(row.partition);
    let subject = match key::record_key(partition, &row.key)? {
        RecordKey::Execution(id) => HistorySubject::Execution(id),
        RecordKey::Flow(id) => HistorySubject::Flow(id),
        _ => return Err(corrupt(format!("a line about {:?}", row.key))),
    };
    let lane = row.lane.as_deref().map(LaneId::parse).transpose().map_err(corrupt)?;
    let about = AboutLines {
        subject,
        namespace: Cow::Owned(Namespace::parse(&row.namespace).map_err(corrupt)?),
        lane: lane.map(Cow::Owned),
        flow_id: row.flow_id.map(FlowId::from_uuid),
        kind: Cow::Borrowed(&row.kind),
    };
    Ok((partition, position(row), line::read(&row.line, &about)?))
}
