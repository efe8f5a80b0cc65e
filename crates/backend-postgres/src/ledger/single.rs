//! Calls about a single account: changes of its definition, and readings.

use ff_core::id::GrantId;
use ff_core::ledger::{AccountKey, Amend, Expected, Meter, Move, Moved, Read, ReadHolds, ReadMeters, ReadPlaces};
use ff_core::limits::PAGE_MAX;

use super::ask::{Asked, scaled, signed};
use super::rows::{AmendAsk, HoldsAsk, MoveRow, ReadAsk, ReadPlacesRow};
use crate::shared::{duration, millis};

impl Asked {
    pub(super) fn amend(&mut self, amend: &Amend) -> AmendAsk {
        let account = amend.account;
        let (expected, version) = match amend.expected {
            Expected::Absent => ("absent", None),
            Expected::Any => ("any", None),
            Expected::Version(version) => ("version", Some(signed(version))),
        };
        let moves = amend.moves.iter();
        let moves = moves.map(|moved| self.moved(account, moved)).collect();
        let (due_stamp, due_at) = amend.due.unzip();
        let listed_in = amend.listed.clone().flatten();
        AmendAsk {
            account: self.account(account),
            partition: account.partition(&self.counts).to_string(),
            expected,
            version,
            tag: signed(amend.tag),
            body: amend.body.clone(),
            lists: amend.listed.is_some(),
            listed_in: listed_in.map(|namespace| namespace.to_string()),
            redefines: amend.redefines,
            restart: amend.restart,
            moves,
            forget_ms: amend.forget_places.map(duration),
            sets_stale: amend.stale_at.is_some(),
            stale_at: amend.stale_at.flatten().map(millis),
            due_stamp: due_stamp.map(signed),
            due_at: due_at.flatten().map(millis),
        }
    }

    fn moved(&mut self, account: AccountKey, moved: &Moved) -> MoveRow {
        let (how, amount, other) = match &moved.by {
            Move::Add(amount) => ("add", Some(*amount), None),
            Move::AtLeast(least) => ("at_least", Some(*least), None),
            Move::ClearBelow(least) => ("clear_below", Some(*least), None),
            Move::Reach(other) => ("reach", None, self.besides_generation(account, other)),
        };
        MoveRow {
            number: self.besides_generation(account, &moved.meter),
            is_mark: moved.meter.is_mark(),
            how,
            amount: amount.map(scaled),
            other,
        }
    }

    /// The place of a number; the generation has none, it stands in the head.
    fn besides_generation(&mut self, account: AccountKey, meter: &Meter) -> Option<i32> {
        (*meter != Meter::Generation).then(|| self.number(account, meter))
    }

    pub(super) fn read(&self, read: &Read) -> ReadAsk {
        let meters = match &read.meters {
            ReadMeters::All => None,
            ReadMeters::Only(meters) => Some(meters.iter().map(Meter::to_string).collect()),
        };
        let places = |ask: &ReadPlaces| ReadPlacesRow {
            window_ms: duration(ask.window),
            at_most: signed(ask.at_most),
            beside: ask.beside.as_ref().map(Meter::to_string),
        };
        ReadAsk {
            account: self.account(read.account),
            meters,
            places: read.places.iter().map(places).collect(),
        }
    }

    pub(super) fn read_holds(&self, ask: &ReadHolds) -> HoldsAsk {
        HoldsAsk {
            account: self.account(ask.account),
            older_ms: duration(ask.older_than),
            after: ask.after.map(GrantId::uuid),
            at_most: signed(ask.limit.clamp(1, PAGE_MAX) as u64),
        }
    }
}
