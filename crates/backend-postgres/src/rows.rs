//! What calls are made of, field by field as `library/types.sql` has it. Values are signed there: a tag is the same bits.

use uuid::Uuid;

/// Declares rows that are sent.
macro_rules! sent {
    ($($(#[$doc:meta])* $type:ident as $name:literal { $($field:ident: $kind:ty),* $(,)? })+) => {
        $(
            #[derive(Debug, postgres_types::ToSql)]
            #[postgres(name = $name)]
            $(#[$doc])*
            pub(crate) struct $type { $(pub(crate) $field: $kind),* }
        )+
    };
}

/// Declares rows that are answered.
macro_rules! answered {
    ($($(#[$doc:meta])* $type:ident as $name:literal { $($field:ident: $kind:ty),* $(,)? })+) => {
        $(
            #[derive(Debug, postgres_types::FromSql)]
            #[postgres(name = $name)]
            $(#[$doc])*
            pub(crate) struct $type { $(pub(crate) $field: $kind),* }
        )+
    };
}

/// Declares rows whose fields are columns of an answer.
macro_rules! columns {
    ($($(#[$doc:meta])* $type:ident { $($field:ident: $kind:ty),* $(,)? })+) => {
        $(
            $(#[$doc])*
            pub(crate) struct $type { $(pub(crate) $field: $kind),* }

            impl $type {
                pub(crate) fn read(answer: &$crate::call::Answer) -> ff_backend::Result<Self> {
                    Ok(Self { $($field: answer.get(stringify!($field))?),* })
                }
            }
        )+
    };
}

pub(crate) use {answered, columns, sent};

sent! {
    /// Who asks.
    Caller as "caller" { clock_offset: i64, seen: i64, system_identifier: i64, reached: i64 }
    /// A transaction.
    Wanted as "wanted" { generation: Option<i64>, not_after: Option<i64> }
    /// An execution as a transaction was decided from it.
    ExpectedExecution as "expected_execution" {
        tx: i32, nth: Option<i32>, partition: i16, uuid: Uuid, version: Option<i64>, tag: Option<i64>,
    }
    /// Any other record as a transaction was decided from it.
    ExpectedRecord as "expected_record" {
        tx: i32, nth: i32, partition: i16, key: String, version: Option<i64>, tag: Option<i64>,
    }
    /// An execution to write.
    ExecutionPut as "execution_put" {
        at: Option<i32>, partition: i16, uuid: Uuid, namespace: String, lane: String, kind: String, created_at: i64,
        version: i64, tag: i64, state: &'static str, blocking_reason: &'static str, blocking_detail: Option<String>,
        priority: i16, updated_at: i64, flow_id: Option<Uuid>, due_at: Option<i64>, queue_id: Option<i64>,
        score: Option<i64>, attempt_index: Option<i32>, attempt_id: Option<Uuid>, is_free: bool,
        due_cap: Option<i64>, worker: Option<String>, lease_epoch: i64, lease_id: Option<Uuid>,
        lease_expires_at: Option<i64>, is_attempt_over: bool, input_bytes: i64, lines: String, line_count: i32, body: String,
    }
    /// Any other record to write.
    RecordPut as "record_put" {
        at: Option<i32>, partition: i16, key: String, version: i64, tag: i64, due_at: Option<i64>,
        ttl_ms: Option<i64>, seq: Option<i64>, body: String,
    }
    /// An execution that goes, or whose remains do.
    ExecutionGone as "execution_gone" { at: Option<i32>, partition: i16, uuid: Uuid }
    /// Any other record that goes.
    RecordGone as "record_gone" { at: Option<i32>, partition: i16, key: String }
    /// A list that is left.
    EntryGone as "entry_gone" { name: String, sort: String }
    /// A list that is entered.
    EntryPut as "entry_put" { name: String, sort: String, partition: i16, key: String }
    /// A counter that is moved.
    Increment as "increment" { tx: i32, partition: i16, owner: String, name: String, by: i64 }
    /// A record to be looked at.
    NudgePut as "nudge_put" {
        tx: i32, partition: i16, key: String, stamp: i64, zero_owner: Option<String>, zero_name: Option<String>,
    }
    /// A nudge that was answered.
    NudgeSeen as "nudge_seen" { partition: i16, key: String, stamp: i64 }
    /// Bytes to keep.
    PayloadPut as "payload_put" { partition: i16, uuid: Uuid, name: String, content_type: String, bytes: Vec<u8> }
    /// A line of a history.
    LinePut as "line_put" { partition: i16, key: String, line: String }
    /// A line of a feed.
    Told as "told" {
        partition: i16, key: String, namespace: String, lane: Option<String>, kind: String, flow_id: Option<Uuid>,
        line: String,
    }
    /// The end of a stream.
    StreamEnded as "stream_end" { partition: i16, uuid: Uuid, attempt_index: i32, at: i64, reason: String }
    /// A record that is asked for.
    AskedRecord as "asked_record" { partition: i16, key: String }
    /// An execution that is asked for.
    AskedExecution as "asked_execution" { partition: i16, uuid: Uuid, with_gate: bool }
    /// A counter that is asked for.
    AskedCounter as "asked_counter" { partition: i16, owner: String, name: String }
    /// Bytes that are asked for.
    AskedPayload as "asked_payload" { partition: i16, uuid: Uuid, name: String }
    /// Steps that are asked for.
    AskedSteps as "asked_steps" { partition: i16, uuid: Uuid, from_seq: i64, at_most: i64, output_bytes: i64 }
    /// A frame to append.
    FramePut as "frame_put" {
        partition: i16, uuid: Uuid, attempt_index: i32, lease_epoch: i64, lease_id: Uuid, attempt_id: Uuid,
        frame_type: String, correlation_id: Option<Vec<u8>>, content_type: String, bytes: Vec<u8>,
        key: Option<String>, ttl_ms: Option<i64>, summary: Option<Vec<u8>>, summary_revision: Option<i64>,
        keep_frames: i64, keep_for_ms: Option<i64>,
    }
}

answered! {
    /// Why a transaction does not land.
    Verdict as "verdict" { tx: i32, why: String, nth: Option<i32>, version: Option<i64>, tag: Option<i64> }
    /// A record, and the nudge it has.
    FoundRecord as "found_record" {
        nth: i32, version: Option<i64>, tag: Option<i64>, body: Option<String>, claim: Option<String>,
        stamp: Option<i64>,
    }
    /// The gate of a flow.
    FoundGate as "found_gate" { nth: i32, flow_id: Uuid, version: i64, tag: i64, body: String }
    /// Bytes.
    FoundPayload as "found_payload" { nth: i32, content_type: String, bytes: Vec<u8> }
    /// A step with what it left.
    FoundStep as "found_step" {
        nth: i32, key: String, version: i64, tag: i64, body: String, content_type: Option<String>,
        bytes: Option<Vec<u8>>,
    }
    /// What became of a frame.
    FrameOutcome as "frame_outcome" {
        what: String, millis: Option<i64>, sequence: Option<i64>, frames: Option<i64>, revision: Option<i64>,
    }
}

/// Rows to send; none are no rows at all, which costs the store nothing to look at.
pub(crate) fn some<T>(rows: &[T]) -> Option<&[T]> {
    Some(rows).filter(|rows| !rows.is_empty())
}

/// One column of rows to send.
pub(crate) fn column<T, C>(rows: &[T], read: impl Fn(&T) -> C) -> Vec<C> {
    rows.iter().map(read).collect()
}
