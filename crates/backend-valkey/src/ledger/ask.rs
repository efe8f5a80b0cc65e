//! Steps as the library takes them: see `lua/ledger.lua`.

use std::collections::{BTreeMap, BTreeSet};

use ff_core::ledger::{
    AccountKey, Bound, Draw, Entry, Floor, Give, LedgerCall, Meter, NUMBER_MAX, Number, PlaceEntry, Take, TakeKind,
    Watch,
};
use ff_core::partition::Partition;
use ff_core::time::Duration;

use crate::keys::prefix;
use crate::pack::{Pack, count};

/// What the library reads with the numbers when somebody asks what an account is.
const TEXTS: [&str; 3] = ["body", "last", "listed"];
/// From so many fields on all are read at once: an account has few more, and Lua hands on only so many.
const FIELDS_MAX: usize = 1_000;

/// Fields of an account that the steps of a call look at; `None`: all of them.
type Looks = Option<BTreeSet<String>>;

/// Steps that are packed, and what they look at.
#[derive(Default)]
pub(super) struct Steps {
    accounts: BTreeMap<AccountKey, (Partition, Looks)>,
    pub(super) pack: Pack,
}

impl Steps {
    /// Packs steps, each with the partition of its accounts.
    pub(super) fn new(calls: &[(Partition, LedgerCall)]) -> Self {
        let mut steps = Self::default();
        steps.pack.list(calls.len());
        for (partition, call) in calls {
            for account in call.accounts() {
                let nothing = (*partition, Some(BTreeSet::new()));
                steps.accounts.entry(account).or_insert(nothing);
            }
            match call {
                LedgerCall::Take(take) => steps.take(take),
                LedgerCall::Draw(draw) => steps.draw(draw),
                LedgerCall::Give(give) => steps.give(give),
                LedgerCall::Amend(amend) => steps.amend(amend),
                LedgerCall::Read(read) => steps.read(read),
                LedgerCall::Holds(ask) => steps.holds(ask),
            }
        }
        steps
    }

    /// Adds the accounts with what is looked at, and the steps.
    pub(super) fn write(self, ask: &mut Pack) {
        ask.each(self.accounts.into_iter(), |ask, (account, (partition, looks))| {
            ask.list(3).text(account.to_string()).text(prefix(partition));
            match looks {
                Some(names) if names.len() <= FIELDS_MAX => ask.texts(names.into_iter()),
                _ => ask.flag(true),
            };
        });
        ask.append(self.pack);
    }

    fn look(&mut self, account: AccountKey, name: String) {
        if let Some((_, Some(names))) = self.accounts.get_mut(&account) {
            names.insert(name);
        }
    }

    pub(super) fn look_at_texts(&mut self, account: AccountKey) {
        for field in TEXTS {
            self.look(account, field.to_owned());
        }
    }

    pub(super) fn look_at_all(&mut self, account: AccountKey) {
        if let Some((_, looks)) = self.accounts.get_mut(&account) {
            *looks = None;
        }
    }

    /// Adds a number of an account that the step looks at.
    pub(super) fn meter(&mut self, account: AccountKey, meter: &Meter) -> &mut Pack {
        self.look(account, meter.to_string());
        self.pack.text(meter.to_string())
    }

    fn path(&mut self, path: &[(AccountKey, u64)]) {
        self.pack.row(2, path.iter(), |pack, (account, revision)| {
            pack.text(account.to_string()).number(count(*revision));
        });
    }

    fn take(&mut self, take: &Take) {
        self.pack.list(7 + take.tiers.len()).text("take");
        self.path(&take.path);
        let placeless = take.mark.filter(|mark| mark.placeless);
        self.pack
            .text(take.grant.to_string())
            .text(take.holder.to_string())
            .optional(take.instead_of.map(|grant| grant.to_string()))
            .optional(take.mark.map(|mark| Meter::Mark(mark.partition).to_string()))
            .optional(placeless.map(|mark| Meter::PlacelessMark(mark.partition).to_string()));
        for tier in &take.tiers {
            self.pack.list(7 * tier.len());
            for entry in tier {
                self.pack.number(at(entry.at()));
                match entry {
                    Entry::Number(number) => self.number(take.path[number.at].0, number),
                    Entry::Place(place) => self.place(place),
                }
            }
        }
    }

    fn number(&mut self, account: AccountKey, number: &Number) {
        self.pack.text(match number.kind {
            TakeKind::Held => "held",
            TakeKind::Used => "used",
        });
        let pack = self.meter(account, &number.meter);
        match number.floor {
            Floor::None => pack.nothing(),
            Floor::At(floor) => pack.number(scaled(floor)),
            Floor::Now => pack.flag(true),
        };
        pack.number(number.delta);
        match number.bound {
            Bound::Free => pack.nothing().nothing(),
            Bound::At(bound) => pack.number(scaled(bound)).flag(false),
            Bound::AfterNow(after) => pack.number(scaled(after)).flag(true),
        };
    }

    fn place(&mut self, place: &PlaceEntry) {
        let pack = self.pack.text("place").text(&place.name);
        pack.number(millis(place.window)).number(count(place.at_most));
        pack.nothing().nothing();
    }

    fn draw(&mut self, draw: &Draw) {
        self.pack.list(6 + draw.watches.len()).text("draw");
        self.path(&draw.path);
        self.pack
            .optional(draw.grant.map(|grant| grant.to_string()))
            .optional(draw.bearer.map(|bearer| bearer.to_string()))
            .row(2, draw.identities.iter(), |pack, name| {
                pack.text(name.identity.to_string()).number(millis(name.remembered));
            })
            .list(4 * draw.uses.len());
        for spent in &draw.uses {
            self.pack.number(at(spent.at));
            let pack = self.meter(draw.path[spent.at].0, &spent.meter);
            pack.number(spent.amount).flag(spent.always);
        }
        for watch in &draw.watches {
            self.watch(draw.path[watch.at].0, watch);
        }
    }

    fn watch(&mut self, account: AccountKey, watch: &Watch) {
        self.pack.list(2 + 2 * watch.over.len()).number(at(watch.at));
        self.meter(account, &watch.count);
        for (meter, limit) in &watch.over {
            self.meter(account, meter).number(scaled(*limit));
        }
    }

    fn give(&mut self, give: &Give) {
        self.pack
            .list(5)
            .text("give")
            .text(give.path[0].to_string())
            .text(give.grant.to_string())
            .flag(give.undo)
            .list(3 * give.back.len());
        for (at, meter, correction) in &give.back {
            self.pack.text(give.path[*at].to_string());
            self.meter(give.path[*at], meter).number(*correction);
        }
    }
}

/// Where Lua finds an account of a path, in which accounts and revisions take turns.
fn at(at: usize) -> i64 {
    1 + 2 * count(at)
}

/// Compared with or added to a number, everything so far beyond the scale comes to the same, and Lua still tells it exactly.
pub(super) fn scaled(number: i64) -> i64 {
    number.clamp(-2 * NUMBER_MAX, 2 * NUMBER_MAX)
}

pub(super) fn millis(duration: Duration) -> i64 {
    count(duration.as_millis())
}
