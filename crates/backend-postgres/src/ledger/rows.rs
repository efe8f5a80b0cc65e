//! Calls and answers, field by field as `library/ledger` has them. An account and a number are known by their places in the batch,
//! from 1 on.

use uuid::Uuid;

use crate::rows::{answered, sent};

sent! {
    /// A number that calls are about.
    NumberRow as "ledger_number" { account: i32, meter: String }
    /// Which kind of call comes next, and which one of that kind.
    Turn as "ledger_turn" { what: &'static str, nth: i32 }
    TakeAsk as "take_ask" {
        path: Vec<i32>, revisions: Vec<i64>, grant_id: Uuid, holder: String, instead_of: Option<Uuid>,
        tiers: Vec<TierRow>, marks: Vec<String>,
    }
    TierRow as "take_tier" { entries: Vec<EntryRow> }
    #[derive(Default)]
    EntryRow as "take_entry" {
        what: &'static str, account: i32, number: Option<i32>, floor: Option<i64>, floor_is_now: bool, delta: i64,
        bound: Option<i64>, counts_from_now: bool, name: Option<String>, window_ms: Option<i64>,
        at_most: Option<i64>,
    }
    DrawAsk as "draw_ask" {
        path: Vec<i32>, revisions: Vec<i64>, grant_id: Option<Uuid>, names: Option<Vec<String>>,
        remembered_ms: Vec<i64>, bearer: Option<String>, uses: Vec<UseRow>, watches: Vec<WatchRow>,
    }
    UseRow as "draw_use" { number: i32, amount: i64, is_counted: bool }
    WatchRow as "draw_watch" { account: i32, count: i32, numbers: Vec<i32>, limits: Vec<i64> }
    GiveAsk as "give_ask" { account: i32, grant_id: Uuid, undo: bool, back: Vec<BackRow> }
    BackRow as "give_back" { account: i32, number: i32, correction: i64 }
    AmendAsk as "amend_ask" {
        account: i32, partition: String, expected: &'static str, version: Option<i64>, tag: i64,
        body: Option<String>, lists: bool, listed_in: Option<String>, redefines: bool, restart: bool,
        moves: Vec<MoveRow>, forget_ms: Option<i64>, sets_stale: bool, stale_at: Option<i64>, due_stamp: Option<i64>,
        due_at: Option<i64>,
    }
    MoveRow as "amend_move" {
        number: Option<i32>, is_mark: bool, how: &'static str, amount: Option<i64>, other: Option<i32>,
    }
    ReadAsk as "read_ask" { account: i32, meters: Option<Vec<String>>, places: Vec<ReadPlacesRow> }
    ReadPlacesRow as "read_places" { window_ms: i64, at_most: i64, beside: Option<String> }
    HoldsAsk as "holds_ask" { account: i32, older_ms: i64, after: Option<Uuid>, at_most: i64 }
}

answered! {
    /// What a call came to.
    AnswerRow as "ledger_answer" {
        what: String, account: Option<String>, tier: Option<i32>, generation: Option<i64>, numbers: Option<Vec<i64>>,
        fits: Option<Vec<bool>>, moments: Option<Vec<Option<i64>>>, view: Option<ViewRow>,
        meters: Option<Vec<MeterRow>>, holds: Option<Vec<HoldRow>>,
    }
    /// An account without its numbers.
    ViewRow as "ledger_view" {
        version: i64, revision: i64, body: String, stale_at: Option<i64>, due_at: Option<i64>, due_stamp: i64,
        generation: i64, marks: i64, last: Option<String>, listed_in: Option<String>,
    }
    MeterRow as "ledger_meter" { meter: String, used: i64, held: i64 }
    /// What a grant has taken. No account means the one it stands on.
    HoldRow as "ledger_hold" {
        grant_id: Uuid, holder: String, taken_at: i64, tier: i32, accounts: Vec<Option<String>>, meters: Vec<String>,
        held: Vec<i64>, used: Vec<i64>, place_accounts: Vec<Option<String>>, places: Vec<String>,
    }
    /// An account that somebody must hear of: its generation moved, or it is due earlier than before.
    NewsRow as "ledger_news" { account: i32, is_open: Option<bool>, due_at: Option<i64> }
}
