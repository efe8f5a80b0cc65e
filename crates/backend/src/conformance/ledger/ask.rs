//! Random calls that meet each other: few accounts, few numbers, few grants.

use ff_core::id::{BudgetId, EffectId, ExecutionId, GrantId};
use ff_core::ledger::{
    AccountKey, Amend, Bound, Draw, Entry, Expected, Floor, Give, Identity, LedgerCall, Mark, Meter, Move, Moved,
    Number, PlaceEntry, Take, TakeKind, Use, Watch,
};
use ff_core::name::{Dimension, IdempotencyKey, Namespace};
use ff_core::partition::{Partition, PartitionCounts};
use ff_core::record::UsageIdentity;
use ff_core::time::{Duration, Timestamp};
use uuid::Uuid;

use super::super::build::Random;
use super::model::Model;

/// How long a place counts.
pub(super) const WINDOW: Duration = Duration::from_secs(3);
/// A number that is taken from.
pub(super) const PROMISED: Meter = Meter::own("promised");

/// Asks about two accounts.
pub(super) struct Asker {
    random: Random,
    accounts: [AccountKey; 2],
}

impl Asker {
    /// Two accounts of one partition.
    pub(super) fn new(seed: u64, counts: &PartitionCounts) -> Self {
        let mut random = Random::new(seed << 40);
        let mut account = || {
            let number = (u128::from(random.next()) << 64) | u128::from(random.next());
            AccountKey::Budget(BudgetId::from_uuid(Uuid::from_u128(number)))
        };
        let first = account();
        let mut others = std::iter::repeat_with(account);
        let is_beside = |other: &AccountKey| other.partition(counts) == first.partition(counts);
        let second = others.find(is_beside).expect("one of many lies there");
        Self {
            random: Random::new(seed << 40),
            accounts: [first, second],
        }
    }

    pub(super) const fn accounts(&self) -> [AccountKey; 2] {
        self.accounts
    }

    /// How much time passes.
    pub(super) fn pause(&mut self) -> Duration {
        Duration::from_millis(*self.random.pick(&[0, 0, 0, 1, 400, 1_500, 20_000]))
    }

    /// The next calls, mostly one.
    pub(super) fn calls(&mut self, model: &Model) -> Vec<LedgerCall> {
        let count = *self.random.pick(&[1, 1, 1, 4, 8]);
        (0..count).map(|_| self.call(model)).collect()
    }

    /// A call, mostly one that the accounts as they are let through.
    fn call(&mut self, model: &Model) -> LedgerCall {
        match self.random.below(10) {
            0..=3 => LedgerCall::Take(self.take(model)),
            4 | 5 => LedgerCall::Draw(self.draw(model)),
            6 | 7 => LedgerCall::Give(self.give()),
            _ => LedgerCall::Amend(self.amend(model)),
        }
    }

    fn chance(&mut self, of: u64) -> bool {
        self.random.below(of) == 0
    }

    fn small(&mut self) -> i64 {
        self.random.below(7).cast_signed()
    }

    fn path(&mut self, model: &Model) -> Vec<(AccountKey, u64)> {
        let both = self.accounts.map(|account| (account, model.known(account).0));
        let mut path = match self.random.below(3) {
            0 => vec![both[0]],
            1 => vec![both[1]],
            _ => both.to_vec(),
        };
        if self.chance(12) {
            path[0].1 += 1;
        }
        path
    }

    fn grant(&mut self) -> GrantId {
        GrantId::from_uuid(Uuid::from_u128(u128::from(self.random.below(12))))
    }

    fn partition(&mut self) -> Partition {
        Partition::flow(u16::try_from(self.random.below(2)).unwrap_or(0))
    }

    fn spent(&mut self) -> Meter {
        let name = *self.random.pick(&["tokens", "cents"]);
        Meter::Spent(Dimension::parse(name).expect("a dimension"))
    }

    fn take(&mut self, model: &Model) -> Take {
        let path = self.path(model);
        let mut tiers = vec![self.tier(path.len())];
        if self.chance(3) {
            tiers.push(self.tier(path.len()));
        }
        let instead_of = self.chance(4).then(|| self.grant());
        let mark = self.chance(2).then(|| Mark {
            partition: self.partition(),
            placeless: self.chance(2),
        });
        Take {
            grant: self.grant(),
            holder: ExecutionId::new(3, Uuid::from_u128(u128::from(self.random.below(4)))),
            instead_of,
            tiers,
            mark,
            path,
        }
    }

    fn tier(&mut self, accounts: usize) -> Vec<Entry> {
        let count = 1 + self.random.below(3);
        (0..count).map(|_| self.entry(accounts)).collect()
    }

    fn entry(&mut self, accounts: usize) -> Entry {
        let at = usize::try_from(self.random.below(accounts as u64)).unwrap_or(0);
        let number = |meter, kind, floor, delta, bound| {
            Entry::Number(Number {
                at,
                meter,
                kind,
                floor,
                delta,
                bound,
            })
        };
        match self.random.below(5) {
            0 => {
                let bound = *self.random.pick(&[Bound::At(2), Bound::At(3), Bound::Free]);
                number(Meter::own("slots"), TakeKind::Held, Floor::None, 1, bound)
            }
            1 => {
                let (meter, delta) = (self.spent(), self.small());
                number(meter, TakeKind::Held, Floor::None, delta, Bound::At(20))
            }
            // A bucket that is full again half a second after each unit.
            2 => {
                let delta = self.small() * 500_000;
                number(
                    Meter::own("bucket"),
                    TakeKind::Used,
                    Floor::Now,
                    delta,
                    Bound::AfterNow(2_000_000),
                )
            }
            3 => number(PROMISED, TakeKind::Used, Floor::At(1), -1, Bound::Free),
            _ => Entry::Place(PlaceEntry {
                at,
                name: format!("place-{}", self.random.below(6)),
                window: WINDOW,
                at_most: self.random.below(4),
            }),
        }
    }

    fn draw(&mut self, model: &Model) -> Draw {
        let path = self.path(model);
        let mut uses = Vec::new();
        for _ in 0..=self.random.below(2) {
            uses.push(Use {
                at: usize::try_from(self.random.below(path.len() as u64)).unwrap_or(0),
                meter: self.spent(),
                amount: self.small(),
                always: self.chance(2),
            });
        }
        let watch = |at, count, limit| Watch {
            at,
            count: Meter::own(count),
            over: ["tokens", "cents"]
                .map(|name| (Meter::Spent(Dimension::parse(name).expect("a dimension")), limit))
                .to_vec(),
        };
        let watches = (0..path.len()).flat_map(|at| [watch(at, "hard", 15), watch(at, "soft", 8)]);
        let named = self.chance(2);
        let identity = Identity {
            identity: UsageIdentity::Key(
                IdempotencyKey::parse(format!("draw-{}", self.random.below(8))).expect("a key"),
            ),
            remembered: Duration::from_secs(5),
        };
        let bearer = EffectId::from_uuid(Uuid::from_u128(u128::from(self.random.below(3))));
        Draw {
            grant: self.chance(2).then(|| self.grant()),
            identities: named.then_some(identity).into_iter().collect(),
            bearer: self.chance(2).then_some(bearer),
            uses,
            watches: watches.collect(),
            path,
        }
    }

    fn give(&mut self) -> Give {
        let mut path = self.accounts.to_vec();
        if self.chance(2) {
            path.swap(0, 1);
        }
        let back = self.chance(4).then(|| (0, self.spent(), self.small() - 3));
        Give {
            grant: self.grant(),
            undo: self.chance(3),
            // What is corrected is an account that is there.
            back: back.into_iter().collect(),
            path,
        }
    }

    fn amend(&mut self, model: &Model) -> Amend {
        let account = *self.random.pick(&self.accounts);
        let (_, version, stamp) = model.known(account);
        let expected = match (version, self.random.below(8)) {
            (0, 0) => Expected::Any,
            (0, _) => Expected::Absent,
            (_, 0) => Expected::Absent,
            (version, 1) => Expected::Version(version + 1),
            (_, 2) => Expected::Any,
            (version, _) => Expected::Version(version),
        };
        let mut moves = Vec::new();
        for _ in 0..self.random.below(3) {
            moves.push(self.moved(model.generation(account)));
        }
        let soon = Timestamp::from_millis(self.random.below(2_000_000));
        let stale_at = [None, None, None, Some(None), Some(Some(soon))];
        let due = [
            None,
            Some((stamp, None)),
            Some((stamp + 1, None)),
            Some((stamp, Some(soon))),
        ];
        let mine = Namespace::parse("mine").expect("a namespace");
        Amend {
            tag: (self.random.next() >> 11).max(1),
            listed: self.chance(9).then(|| self.chance(2).then_some(mine)),
            body: self.chance(2).then(|| format!("body {}", self.random.below(100))),
            redefines: self.chance(6),
            moves,
            restart: self.chance(6),
            forget_places: self.chance(8).then_some(WINDOW),
            stale_at: *self.random.pick(&stale_at),
            due: *self.random.pick(&due),
            ..Amend::new(account, expected)
        }
    }

    fn moved(&mut self, generation: i64) -> Moved {
        let partition = self.partition();
        let (meter, by) = match self.random.below(8) {
            0 => (Meter::Generation, Move::Add(1)),
            6 => (Meter::own("cured"), Move::Reach(Meter::own("hard"))),
            7 => (Meter::Mark(partition), Move::Reach(Meter::Generation)),
            1 => (Meter::Mark(partition), Move::AtLeast(generation)),
            2 => (Meter::Mark(partition), Move::ClearBelow(generation)),
            3 => (Meter::PlacelessMark(partition), Move::ClearBelow(generation + 1)),
            4 => (PROMISED, Move::Add(self.small())),
            _ => (Meter::own("shut"), Move::AtLeast(self.small())),
        };
        Moved { meter, by }
    }
}
