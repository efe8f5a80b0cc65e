//! Steps about a single account: changes of its definition, and readings.

use ff_backend::codec::key::escaped;
use ff_core::ledger::{Amend, Expected, Move, Read, ReadHolds, ReadMeters};
use ff_core::limits::PAGE_MAX;
use ff_core::time::Timestamp;

use super::ask::{Steps, millis, scaled};
use crate::pack::count;

impl Steps {
    pub(super) fn amend(&mut self, amend: &Amend) {
        let account = amend.account;
        self.look_at_texts(account);
        if amend.restart {
            self.look_at_all(account);
        }
        self.pack.list(12).text("amend").text(account.to_string());
        match amend.expected {
            Expected::Absent => self.pack.text("absent"),
            Expected::Any => self.pack.text("any"),
            Expected::Version(version) => self.pack.number(count(version)),
        };
        self.pack.flag(amend.restart).flag(amend.redefines);
        self.pack.maybe(amend.forget_places.map(millis));
        self.pack.list(3 * amend.moves.len());
        for moved in &amend.moves {
            let pack = self.meter(account, &moved.meter);
            match &moved.by {
                Move::Add(amount) => pack.text("add").number(scaled(*amount)),
                Move::AtLeast(least) => pack.text("at_least").number(scaled(*least)),
                Move::ClearBelow(least) => pack.text("clear_below").number(scaled(*least)),
                Move::Reach(other) => {
                    pack.text("reach");
                    self.meter(account, other)
                }
            };
        }
        let texts = [
            amend.body.as_ref().map(|body| ("body", Some(body.clone()))),
            amend
                .listed
                .as_ref()
                .map(|listed| ("listed", listed.as_ref().map(escaped))),
        ];
        let texts: Vec<_> = texts.into_iter().flatten().collect();
        self.pack.row(2, texts.into_iter(), |pack, (field, text)| {
            pack.text(field).optional(text);
        });
        let moment = |at: Timestamp| count(at.as_millis());
        match amend.stale_at {
            Some(at) => self.pack.maybe(at.map(moment)),
            None => self.pack.flag(true),
        };
        let (stamp, due_at) = amend.due.unzip();
        self.pack
            .maybe(stamp.map(count))
            .maybe(due_at.flatten().map(moment))
            .number(count(amend.tag));
    }

    pub(super) fn read(&mut self, read: &Read) {
        let account = read.account;
        self.look_at_texts(account);
        self.pack.list(4).text("read").text(account.to_string());
        match &read.meters {
            ReadMeters::All => {
                self.look_at_all(account);
                self.pack.flag(true);
            }
            ReadMeters::Only(meters) => {
                self.pack.list(meters.len());
                for meter in meters {
                    self.meter(account, meter);
                }
            }
        }
        self.pack.list(3 * read.places.len());
        for ask in &read.places {
            self.pack.number(millis(ask.window)).number(count(ask.at_most));
            match &ask.beside {
                Some(meter) => self.meter(account, meter),
                None => self.pack.nothing(),
            };
        }
    }

    pub(super) fn holds(&mut self, ask: &ReadHolds) {
        self.pack
            .list(5)
            .text("holds")
            .text(ask.account.to_string())
            .number(millis(ask.older_than))
            .optional(ask.after.map(|grant| grant.to_string()))
            .number(count(ask.limit.clamp(1, PAGE_MAX)));
    }
}
