//! Calls and answers, field by field as `library/ledger.sql` has them. An account and a number are known by their places in the batch,
//! from 1 on.

use postgres_types::{FromSql, ToSql};
use uuid::Uuid;

/// A number that calls are about.
#[derive(Debug, ToSql)]
#[postgres(name = "ledger_number")]
pub(super) struct NumberRow {
    pub(super) account: i32,
    pub(super) meter: String,
}

/// Which kind of call comes next, and which one of that kind.
#[derive(Debug, ToSql)]
#[postgres(name = "ledger_turn")]
pub(super) struct Turn {
    pub(super) what: &'static str,
    pub(super) nth: i32,
}

#[derive(Debug, ToSql)]
#[postgres(name = "take_ask")]
pub(super) struct TakeAsk {
    pub(super) path: Vec<i32>,
    pub(super) revisions: Vec<i64>,
    pub(super) grant_id: Uuid,
    pub(super) holder: String,
    pub(super) instead_of: Option<Uuid>,
    pub(super) tiers: Vec<TierRow>,
    pub(super) marks: Vec<String>,
}

#[derive(Debug, ToSql)]
#[postgres(name = "take_tier")]
pub(super) struct TierRow {
    pub(super) entries: Vec<EntryRow>,
}

#[derive(Debug, Default, ToSql)]
#[postgres(name = "take_entry")]
pub(super) struct EntryRow {
    pub(super) what: &'static str,
    pub(super) account: i32,
    pub(super) number: Option<i32>,
    pub(super) floor: Option<i64>,
    pub(super) floor_is_now: bool,
    pub(super) delta: i64,
    pub(super) bound: Option<i64>,
    pub(super) counts_from_now: bool,
    pub(super) name: Option<String>,
    pub(super) window_ms: Option<i64>,
    pub(super) at_most: Option<i64>,
}

#[derive(Debug, ToSql)]
#[postgres(name = "draw_ask")]
pub(super) struct DrawAsk {
    pub(super) path: Vec<i32>,
    pub(super) revisions: Vec<i64>,
    pub(super) grant_id: Option<Uuid>,
    pub(super) names: Option<Vec<String>>,
    pub(super) remembered_ms: Vec<i64>,
    pub(super) bearer: Option<String>,
    pub(super) uses: Vec<UseRow>,
    pub(super) watches: Vec<WatchRow>,
}

#[derive(Debug, ToSql)]
#[postgres(name = "draw_use")]
pub(super) struct UseRow {
    pub(super) number: i32,
    pub(super) amount: i64,
    pub(super) is_counted: bool,
}

#[derive(Debug, ToSql)]
#[postgres(name = "draw_watch")]
pub(super) struct WatchRow {
    pub(super) account: i32,
    pub(super) count: i32,
    pub(super) numbers: Vec<i32>,
    pub(super) limits: Vec<i64>,
}

#[derive(Debug, ToSql)]
#[postgres(name = "give_ask")]
pub(super) struct GiveAsk {
    pub(super) account: i32,
    pub(super) grant_id: Uuid,
    pub(super) undo: bool,
    pub(super) back: Vec<BackRow>,
}

#[derive(Debug, ToSql)]
#[postgres(name = "give_back")]
pub(super) struct BackRow {
    pub(super) account: i32,
    pub(super) number: i32,
    pub(super) correction: i64,
}

#[derive(Debug, ToSql)]
#[postgres(name = "amend_ask")]
pub(super) struct AmendAsk {
    pub(super) account: i32,
    pub(super) partition: String,
    pub(super) expected: &'static str,
    pub(super) version: Option<i64>,
    pub(super) tag: i64,
    pub(super) body: Option<String>,
    pub(super) lists: bool,
    pub(super) listed_in: Option<String>,
    pub(super) redefines: bool,
    pub(super) restart: bool,
    pub(super) moves: Vec<MoveRow>,
    pub(super) forget_ms: Option<i64>,
    pub(super) sets_stale: bool,
    pub(super) stale_at: Option<i64>,
    pub(super) due_stamp: Option<i64>,
    pub(super) due_at: Option<i64>,
}

#[derive(Debug, ToSql)]
#[postgres(name = "amend_move")]
pub(super) struct MoveRow {
    pub(super) number: Option<i32>,
    pub(super) is_mark: bool,
    pub(super) how: &'static str,
    pub(super) amount: Option<i64>,
    pub(super) other: Option<i32>,
}

#[derive(Debug, ToSql)]
#[postgres(name = "read_ask")]
pub(super) struct ReadAsk {
    pub(super) account: i32,
    pub(super) meters: Option<Vec<String>>,
    pub(super) places: Vec<ReadPlacesRow>,
}

#[derive(Debug, ToSql)]
#[postgres(name = "read_places")]
pub(super) struct ReadPlacesRow {
    pub(super) window_ms: i64,
    pub(super) at_most: i64,
    pub(super) beside: Option<String>,
}

#[derive(Debug, ToSql)]
#[postgres(name = "holds_ask")]
pub(super) struct HoldsAsk {
    pub(super) account: i32,
    pub(super) older_ms: i64,
    pub(super) after: Option<Uuid>,
    pub(super) at_most: i64,
}

/// What a call came to.
#[derive(Debug, FromSql)]
#[postgres(name = "ledger_answer")]
pub(super) struct AnswerRow {
    pub(super) what: String,
    pub(super) account: Option<String>,
    pub(super) tier: Option<i32>,
    pub(super) generation: Option<i64>,
    pub(super) numbers: Option<Vec<i64>>,
    pub(super) fits: Option<Vec<bool>>,
    pub(super) moments: Option<Vec<Option<i64>>>,
    pub(super) view: Option<ViewRow>,
    pub(super) meters: Option<Vec<MeterRow>>,
    pub(super) holds: Option<Vec<HoldRow>>,
}

/// An account without its numbers.
#[derive(Debug, FromSql)]
#[postgres(name = "ledger_view")]
pub(super) struct ViewRow {
    pub(super) version: i64,
    pub(super) revision: i64,
    pub(super) body: String,
    pub(super) stale_at: Option<i64>,
    pub(super) due_at: Option<i64>,
    pub(super) due_stamp: i64,
    pub(super) generation: i64,
    pub(super) marks: i64,
    pub(super) last: Option<String>,
    pub(super) listed_in: Option<String>,
}

#[derive(Debug, FromSql)]
#[postgres(name = "ledger_meter")]
pub(super) struct MeterRow {
    pub(super) meter: String,
    pub(super) used: i64,
    pub(super) held: i64,
}

/// What a grant has taken. No account means the one it stands on.
#[derive(Debug, FromSql)]
#[postgres(name = "ledger_hold")]
pub(super) struct HoldRow {
    pub(super) grant_id: Uuid,
    pub(super) holder: String,
    pub(super) taken_at: i64,
    pub(super) tier: i32,
    pub(super) accounts: Vec<Option<String>>,
    pub(super) meters: Vec<String>,
    pub(super) held: Vec<i64>,
    pub(super) used: Vec<i64>,
    pub(super) place_accounts: Vec<Option<String>>,
    pub(super) places: Vec<String>,
}

/// An account that somebody must hear of.
#[derive(Debug, FromSql)]
#[postgres(name = "ledger_news")]
pub(super) struct NewsRow {
    pub(super) account: i32,
    /// Its generation moved.
    pub(super) is_open: Option<bool>,
    /// It is due earlier than before.
    pub(super) due_at: Option<i64>,
}
