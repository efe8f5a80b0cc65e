//! Calls as the library takes them: see `library/ledger`.

use std::collections::{BTreeMap, BTreeSet};

use ff_core::ledger::{
    AccountKey, Bound, Draw, Entry, Floor, Give, LedgerCall, Meter, NUMBER_MAX, Number, PlaceEntry, Take, TakeKind,
    Watch,
};
use ff_core::partition::PartitionCounts;

use super::rows::{
    AmendAsk, BackRow, DrawAsk, EntryRow, GiveAsk, HoldsAsk, NumberRow, ReadAsk, TakeAsk, TierRow, Turn, UseRow,
    WatchRow,
};
use crate::shared::duration;

/// Calls that are packed, each kind by itself, and what they are about.
#[derive(Default)]
pub(super) struct Asked {
    pub(super) counts: PartitionCounts,
    /// In the order they are locked in.
    pub(super) keys: Vec<AccountKey>,
    pub(super) accounts: Vec<String>,
    /// Of each account the window that is asked about first.
    pub(super) windows: Vec<Option<i64>>,
    pub(super) numbers: Vec<NumberRow>,
    pub(super) turns: Vec<Turn>,
    pub(super) takes: Vec<TakeAsk>,
    pub(super) draws: Vec<DrawAsk>,
    pub(super) gives: Vec<GiveAsk>,
    pub(super) amends: Vec<AmendAsk>,
    pub(super) reads: Vec<ReadAsk>,
    pub(super) holds: Vec<HoldsAsk>,
    places: BTreeMap<AccountKey, i32>,
    number_places: BTreeMap<(i32, String), i32>,
}

impl Asked {
    /// Packs calls; some accounts beside theirs are locked with them.
    pub(super) fn new(calls: &[&LedgerCall], beside: &[AccountKey], counts: PartitionCounts) -> Self {
        let named = calls.iter().flat_map(|call| call.accounts());
        let sorted: BTreeSet<AccountKey> = named.chain(beside.iter().copied()).collect();
        let mut asked = Self {
            counts,
            accounts: sorted.iter().map(AccountKey::to_string).collect(),
            windows: vec![None; sorted.len()],
            places: sorted.iter().copied().zip(1..).collect(),
            keys: sorted.into_iter().collect(),
            ..Self::default()
        };
        for call in calls {
            asked.add(call);
        }
        asked
    }

    fn add(&mut self, call: &LedgerCall) {
        /// The call as a row, among those of its kind.
        macro_rules! row {
            ($kind:literal in $rows:ident: $row:expr) => {{
                let row = $row;
                ($kind, added(&mut self.$rows, row))
            }};
        }
        let (what, nth) = match call {
            LedgerCall::Take(take) => row!("take" in takes: self.take(take)),
            LedgerCall::Draw(draw) => row!("draw" in draws: self.draw(draw)),
            LedgerCall::Give(give) => row!("give" in gives: self.give(give)),
            LedgerCall::Amend(amend) => row!("amend" in amends: self.amend(amend)),
            LedgerCall::Read(read) => row!("read" in reads: self.read(read)),
            LedgerCall::Holds(holds) => row!("holds" in holds: self.read_holds(holds)),
        };
        self.turns.push(Turn { what, nth });
    }

    /// The place of an account.
    pub(super) fn account(&self, account: AccountKey) -> i32 {
        self.places[&account]
    }

    /// The place of a number.
    pub(super) fn number(&mut self, account: AccountKey, meter: &Meter) -> i32 {
        let (account, meter) = (self.account(account), meter.to_string());
        let numbers = &mut self.numbers;
        *self
            .number_places
            .entry((account, meter.clone()))
            .or_insert_with(|| added(numbers, NumberRow { account, meter }))
    }

    fn path(&self, path: &[(AccountKey, u64)]) -> (Vec<i32>, Vec<i64>) {
        path.iter()
            .map(|(account, revision)| (self.account(*account), signed(*revision)))
            .unzip()
    }

    fn take(&mut self, take: &Take) -> TakeAsk {
        let (path, revisions) = self.path(&take.path);
        let mark = take.mark.map(|mark| Meter::Mark(mark.partition));
        let placeless = take.mark.filter(|mark| mark.placeless);
        let placeless = placeless.map(|mark| Meter::PlacelessMark(mark.partition));
        let tiers = take.tiers.iter();
        TakeAsk {
            path,
            revisions,
            grant_id: take.grant.uuid(),
            holder: take.holder.to_string(),
            instead_of: take.instead_of.map(ff_core::id::GrantId::uuid),
            tiers: tiers.map(|entries| self.tier(take, entries)).collect(),
            marks: mark
                .into_iter()
                .chain(placeless)
                .map(|meter| meter.to_string())
                .collect(),
        }
    }

    fn tier(&mut self, take: &Take, entries: &[Entry]) -> TierRow {
        let entry = |entry: &Entry| {
            let account = take.path[entry.at()].0;
            match entry {
                Entry::Number(number) => self.number_entry(account, number),
                Entry::Place(place) => self.place_entry(account, place),
            }
        };
        TierRow {
            entries: entries.iter().map(entry).collect(),
        }
    }

    fn number_entry(&mut self, account: AccountKey, number: &Number) -> EntryRow {
        let (bound, counts_from_now) = match number.bound {
            Bound::Free => (None, false),
            Bound::At(bound) => (Some(scaled(bound)), false),
            Bound::AfterNow(after) => (Some(scaled(after)), true),
        };
        EntryRow {
            what: match number.kind {
                TakeKind::Held => "held",
                TakeKind::Used => "used",
            },
            account: self.account(account),
            number: Some(self.number(account, &number.meter)),
            floor: match number.floor {
                Floor::At(floor) => Some(scaled(floor)),
                Floor::None | Floor::Now => None,
            },
            floor_is_now: number.floor == Floor::Now,
            delta: number.delta,
            bound,
            counts_from_now,
            ..EntryRow::default()
        }
    }

    fn place_entry(&mut self, account: AccountKey, place: &PlaceEntry) -> EntryRow {
        let (account, window) = (self.account(account), duration(place.window));
        let first = usize::try_from(account - 1)
            .ok()
            .and_then(|at| self.windows.get_mut(at));
        if let Some(first) = first {
            first.get_or_insert(window);
        }
        EntryRow {
            what: "place",
            account,
            name: Some(place.name.clone()),
            window_ms: Some(window),
            at_most: Some(signed(place.at_most)),
            ..EntryRow::default()
        }
    }

    fn draw(&mut self, draw: &Draw) -> DrawAsk {
        let (path, revisions) = self.path(&draw.path);
        // The same name twice is one, remembered as it is said last.
        let names: BTreeMap<String, i64> = draw
            .identities
            .iter()
            .map(|name| (name.identity.to_string(), duration(name.remembered)))
            .collect();
        let (names, remembered_ms): (Vec<String>, Vec<i64>) = names.into_iter().unzip();
        let uses = draw.uses.iter().map(|spent| UseRow {
            number: self.number(draw.path[spent.at].0, &spent.meter),
            amount: spent.amount,
            is_counted: spent.always || !matches!(spent.meter, Meter::Spent(_)),
        });
        let uses = uses.collect();
        let watches = draw.watches.iter();
        DrawAsk {
            path,
            revisions,
            grant_id: draw.grant.map(ff_core::id::GrantId::uuid),
            names: Some(names).filter(|names| !names.is_empty()),
            remembered_ms,
            bearer: draw.bearer.map(|bearer| bearer.to_string()),
            uses,
            watches: watches.map(|watch| self.watch(draw.path[watch.at].0, watch)).collect(),
        }
    }

    fn watch(&mut self, account: AccountKey, watch: &Watch) -> WatchRow {
        let limits = watch
            .over
            .iter()
            .map(|(meter, limit)| (self.number(account, meter), scaled(*limit)));
        let (numbers, limits) = limits.unzip();
        WatchRow {
            account: self.account(account),
            count: self.number(account, &watch.count),
            numbers,
            limits,
        }
    }

    fn give(&mut self, give: &Give) -> GiveAsk {
        let back = give.back.iter().map(|(at, meter, correction)| BackRow {
            account: self.account(give.path[*at]),
            number: self.number(give.path[*at], meter),
            correction: *correction,
        });
        let back = back.collect();
        GiveAsk {
            account: self.account(give.path[0]),
            grant_id: give.grant.uuid(),
            undo: give.undo,
            back,
        }
    }
}

/// Adds a row; its place, from 1 on.
fn added<T>(rows: &mut Vec<T>, row: T) -> i32 {
    rows.push(row);
    i32::try_from(rows.len()).unwrap_or(i32::MAX)
}

/// What is compared with something on the scale: everything beyond it comes to the same.
pub(super) fn scaled(number: i64) -> i64 {
    number.clamp(-2 * NUMBER_MAX, 2 * NUMBER_MAX)
}

pub(super) fn signed(number: u64) -> i64 {
    scaled(i64::try_from(number).unwrap_or(i64::MAX))
}
