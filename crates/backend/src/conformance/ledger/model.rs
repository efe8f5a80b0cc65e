//! The simplest ledger there is. What is held is the sum of what grants hold, and a tier is tried on a copy of everything.

use std::collections::BTreeMap;

use ff_core::id::{EffectId, GrantId};
use ff_core::ledger::{
    AccountKey, AccountView, Amend, Bound, Draw, Due, Entry, Expected, Floor, Give, Head, Hold, LastWatch,
    LedgerAnswer, LedgerCall, Mark, Meter, Move, Number, Numbers, PlaceEntry, PlacesSeen, Read, ReadHolds, ReadMeters,
    Seen, Take, TakeKind, Took, sum,
};
use ff_core::limits::GRANT_TTL_MAX;
use ff_core::name::Namespace;
use ff_core::record::{DIMENSIONS_MAX, UsageIdentity};
use ff_core::time::{Duration, Timestamp};

/// Accounts, as of the last call.
#[derive(Clone, Default)]
pub(super) struct Model {
    accounts: BTreeMap<AccountKey, Account>,
    now: Timestamp,
}

#[derive(Clone, Default)]
struct Account {
    version: u64,
    revision: u64,
    body: String,
    stale_at: Option<Timestamp>,
    due: Due,
    generation: i64,
    last: Option<LastWatch>,
    listed_in: Option<Namespace>,
    used: BTreeMap<Meter, i64>,
    holds: BTreeMap<GrantId, Hold>,
    refused: BTreeMap<GrantId, Timestamp>,
    remembered: BTreeMap<UsageIdentity, (Option<EffectId>, Timestamp)>,
    places: BTreeMap<String, Timestamp>,
}

impl Model {
    pub(super) fn answer(&mut self, call: &LedgerCall, now: Timestamp) -> LedgerAnswer {
        self.now = now;
        match call {
            LedgerCall::Take(take) => self.take(take),
            LedgerCall::Draw(draw) => self.draw(draw),
            LedgerCall::Give(give) => self.give(give),
            LedgerCall::Amend(amend) => self.amend(amend),
            LedgerCall::Read(read) => self.read(read),
            LedgerCall::Holds(ask) => self.holds(ask),
        }
    }

    /// Revision, version and stamp of an account, for who asks.
    pub(super) fn known(&self, account: AccountKey) -> (u64, u64, u64) {
        let known = self.accounts.get(&account);
        known.map_or((0, 0, 0), |known| (known.revision, known.version, known.due.stamp))
    }

    /// When an account is looked at.
    pub(super) fn due_at(&self, account: AccountKey) -> Option<Timestamp> {
        self.accounts.get(&account).and_then(|account| account.due.at)
    }

    /// The generation of an account.
    pub(super) fn generation(&self, account: AccountKey) -> i64 {
        self.accounts.get(&account).map_or(0, |account| account.generation)
    }

    fn take(&mut self, take: &Take) -> LedgerAnswer {
        let first = take.path[0].0;
        let known = self.accounts.get(&first);
        if let Some(hold) = known.and_then(|account| account.holds.get(&take.grant)) {
            let tier = hold.tier;
            return LedgerAnswer::Taken { tier, again: true };
        }
        let refused = known.and_then(|account| account.refused.get(&take.grant));
        if refused.is_some_and(|until| !until.has_come(self.now)) {
            return LedgerAnswer::Late;
        }
        if let Some(obstacle) = self.obstacle(&take.path) {
            return obstacle;
        }
        let mut last = Vec::new();
        for (tier, entries) in take.tiers.iter().enumerate() {
            let mut tried = self.clone();
            if let Some(grant) = take.instead_of {
                tried.account(first).holds.remove(&grant);
            }
            let mut hold = Hold {
                grant: take.grant,
                holder: take.holder,
                taken_at: self.now,
                tier,
                took: Vec::new(),
                places: Vec::new(),
            };
            last = entries
                .iter()
                .map(|entry| tried.try_entry(self, take, entry, &mut hold))
                .collect();
            if last.iter().all(|seen| seen.fits) {
                *self = tried;
                let account = self.account(first);
                account.holds.remove(&take.grant);
                hold.took.retain(|took| took.held != 0 || took.used != 0);
                if !hold.took.is_empty() || !hold.places.is_empty() {
                    account.holds.insert(take.grant, hold);
                }
                self.forget_old_places(take, entries);
                return LedgerAnswer::Taken { tier, again: false };
            }
        }
        self.full(take, last)
    }

    fn try_entry(&mut self, before: &Model, take: &Take, entry: &Entry, hold: &mut Hold) -> Seen {
        let account = take.path[entry.at()].0;
        let seen = match entry {
            Entry::Number(number) => self.try_number(account, number, hold),
            Entry::Place(place) => self.try_place(before, account, place, hold),
        };
        // What it takes counts for the entries after it.
        let first = take.path[0].0;
        self.account(first).holds.insert(take.grant, hold.clone());
        seen
    }

    fn try_number(&mut self, account: AccountKey, entry: &Number, hold: &mut Hold) -> Seen {
        let now = i64::try_from(self.now.as_millis()).expect("a moment") * 1_000;
        let (used, held) = (self.used(account, &entry.meter), self.held(account, &entry.meter));
        let counted = match entry.floor {
            Floor::None => used + held,
            Floor::At(floor) => floor.max(used + held),
            Floor::Now => now.max(used + held),
        };
        let wanted = counted + entry.delta;
        let (fits, fits_at) = match entry.bound {
            Bound::Free => (true, None),
            Bound::At(bound) => (wanted <= bound, None),
            Bound::AfterNow(after) => (wanted <= now + after, Some(wanted - after)),
        };
        let mut took = Took {
            account,
            meter: entry.meter.clone(),
            held: 0,
            used: 0,
        };
        match entry.kind {
            TakeKind::Held => took.held = entry.delta,
            TakeKind::Used => took.used = wanted - held - used,
        }
        self.account(account).used.insert(entry.meter.clone(), used + took.used);
        hold.took.push(took);
        let fits_at = fits_at.filter(|at| !fits && *at >= 0);
        Seen {
            value: counted,
            fits,
            fits_at: fits_at.map(|at| Timestamp::from_millis((at as u64).div_ceil(1_000))),
        }
    }

    fn try_place(&mut self, before: &Model, key: AccountKey, entry: &PlaceEntry, hold: &mut Hold) -> Seen {
        let now = self.now;
        let account = self.account(key);
        let count = account.places_within(entry.window, now);
        let stands = account.places.get(&entry.name);
        let stands = stands.is_some_and(|at| !(*at + entry.window).has_come(now));
        let fits = stands || count < entry.at_most;
        if !stands {
            account.places.insert(entry.name.clone(), now);
            hold.places.push((key, entry.name.clone()));
        }
        let falls_at = before.accounts[&key].falls_at(entry.window, entry.at_most.saturating_sub(1));
        Seen {
            value: count.cast_signed(),
            fits,
            fits_at: falls_at.filter(|_| !fits && entry.at_most > 0),
        }
    }

    fn forget_old_places(&mut self, take: &Take, entries: &[Entry]) {
        let now = self.now;
        for entry in entries {
            if let Entry::Place(place) = entry {
                let account = self.account(take.path[place.at].0);
                account.places.retain(|_, at| !(*at + place.window).has_come(now));
            }
        }
    }

    fn full(&mut self, take: &Take, seen: Vec<Seen>) -> LedgerAnswer {
        let tier = take.tiers.last().expect("a tier");
        let (entry, refusal) = tier.iter().zip(&seen).find(|(_, seen)| !seen.fits).expect("a refusal");
        let account = take.path[entry.at()].0;
        let generation = self.account(account).generation;
        if let Some(Mark { partition, placeless }) = take.mark {
            let look_at = refusal.fits_at.unwrap_or(self.now + Duration::from_secs(1));
            self.mark(account, Meter::Mark(partition), generation, look_at);
            if placeless {
                self.mark(account, Meter::PlacelessMark(partition), generation, look_at);
            }
        }
        LedgerAnswer::Full {
            account,
            seen,
            generation,
        }
    }

    fn draw(&mut self, draw: &Draw) -> LedgerAnswer {
        if let Some(obstacle) = self.obstacle(&draw.path) {
            return obstacle;
        }
        let (first, now) = (draw.path[0].0, self.now);
        let remembered = |model: &Model, identity: &UsageIdentity| {
            let (bearer, until) = model.accounts[&first].remembered.get(identity).copied()?;
            (!until.has_come(now)).then_some(bearer)
        };
        let names = draw.identities.iter().map(|name| &name.identity);
        let bearers: Vec<_> = names.filter_map(|name| remembered(self, name)).collect();
        if !bearers.is_empty() {
            return LedgerAnswer::Repeated {
                same: draw.bearer.is_some_and(|bearer| bearers.contains(&Some(bearer))),
                values: self.values(draw),
            };
        }
        for spent in &draw.uses {
            let account = draw.path[spent.at].0;
            let is_there = self.account(account).used.contains_key(&spent.meter);
            let names = self.account(account).used.keys();
            let room = names.filter(|meter| matches!(meter, Meter::Spent(_))).count() < DIMENSIONS_MAX;
            if spent.always || is_there || room || !matches!(spent.meter, Meter::Spent(_)) {
                let used = sum(self.used(account, &spent.meter), spent.amount);
                self.account(account).used.insert(spent.meter.clone(), used);
                self.draw_down(draw, (account, &spent.meter), spent.amount);
            }
        }
        for at in 0..draw.path.len() {
            self.count(draw, at);
        }
        for name in &draw.identities {
            let until = now + name.remembered;
            let remembered = &mut self.account(first).remembered;
            remembered.insert(name.identity.clone(), (draw.bearer, until));
        }
        LedgerAnswer::Drawn(self.values(draw))
    }

    fn draw_down(&mut self, draw: &Draw, (account, meter): (AccountKey, &Meter), mut amount: i64) {
        let Some(grant) = draw.grant else { return };
        let Some(hold) = self.account(draw.path[0].0).holds.get_mut(&grant) else {
            return;
        };
        for took in &mut hold.took {
            if took.account == account && took.meter == *meter && took.held > 0 {
                let part = amount.min(took.held);
                took.held -= part;
                amount -= part;
            }
        }
    }

    fn count(&mut self, draw: &Draw, at: usize) {
        let account = draw.path[at].0;
        let now = self.now;
        for watch in draw.watches.iter().filter(|watch| watch.at == at) {
            for (meter, limit) in &watch.over {
                let value = self.used(account, meter);
                if value > *limit {
                    let count = self.used(account, &watch.count) + 1;
                    let account = self.account(account);
                    account.used.insert(watch.count.clone(), count);
                    account.due.bring_forward(now);
                    account.last = Some(LastWatch {
                        count: watch.count.clone(),
                        meter: meter.clone(),
                        value,
                        limit: *limit,
                        at: now,
                    });
                    return;
                }
            }
        }
    }

    fn values(&self, draw: &Draw) -> Vec<i64> {
        let value = |spent: &ff_core::ledger::Use| self.used(draw.path[spent.at].0, &spent.meter);
        draw.uses.iter().map(value).collect()
    }

    fn give(&mut self, give: &Give) -> LedgerAnswer {
        let (first, now) = (give.path[0], self.now);
        let Some(known) = self.accounts.get_mut(&first) else {
            return LedgerAnswer::Unknown;
        };
        let Some(hold) = known.holds.remove(&give.grant) else {
            known.refused.insert(give.grant, now + GRANT_TTL_MAX);
            return LedgerAnswer::Unknown;
        };
        let mut opened = Vec::new();
        for took in &hold.took {
            if took.held != 0 {
                opened.push(took.account);
            }
            if give.undo && took.used != 0 {
                let used = self.used(took.account, &took.meter) - took.used;
                self.account(took.account).used.insert(took.meter.clone(), used);
                opened.push(took.account);
            }
        }
        for (account, name) in hold.places.iter().filter(|_| give.undo) {
            self.account(*account).places.remove(name);
            opened.push(*account);
        }
        for (at, meter, correction) in &give.back {
            let account = give.path[*at];
            let used = self.used(account, meter) + correction;
            self.account(account).used.insert(meter.clone(), used);
            opened.push(account);
        }
        opened.sort_unstable();
        opened.dedup();
        for account in opened {
            let account = self.account(account);
            account.generation += 1;
            if account.used.keys().any(Meter::is_mark) {
                account.due.bring_forward(now);
            }
        }
        LedgerAnswer::Given
    }

    fn amend(&mut self, amend: &Amend) -> LedgerAnswer {
        let (key, now) = (amend.account, self.now);
        let found = self.accounts.get(&key);
        let is_expected = match amend.expected {
            Expected::Absent => found.is_none(),
            Expected::Version(version) => found.is_some_and(|found| found.version == version),
            Expected::Any => found.is_some(),
        };
        if !is_expected {
            return LedgerAnswer::Differs(found.map(|found| Box::new(found.view(key))));
        }
        let is_new = found.is_none();
        let account = self.accounts.entry(key).or_default();
        account.version = amend.tag;
        if is_new || amend.redefines {
            account.revision = amend.tag;
        }
        account.generation += i64::from(is_new || amend.redefines || amend.restart);
        account.body = amend.body.clone().unwrap_or(std::mem::take(&mut account.body));
        account.listed_in = amend.listed.clone().unwrap_or(account.listed_in.take());
        account.stale_at = amend.stale_at.unwrap_or(account.stale_at);
        if let Some((_, at)) = amend.due.filter(|(stamp, _)| *stamp == account.due.stamp) {
            account.due.at = at;
        }
        if amend.restart {
            account.used.retain(|meter, _| !matches!(meter, Meter::Spent(_)));
        }
        if let Some(age) = amend.forget_places {
            account.places.retain(|_, at| !(*at + age).has_come(now));
        }
        let (version, revision) = (account.version, account.revision);
        for moved in &amend.moves {
            self.move_meter(key, &moved.meter, &moved.by);
        }
        LedgerAnswer::Amended { version, revision }
    }

    fn move_meter(&mut self, key: AccountKey, meter: &Meter, by: &Move) {
        let used = self.used(key, meter);
        let is_there = self.account(key).used.contains_key(meter);
        let by = match by {
            Move::Reach(Meter::Generation) => Move::AtLeast(self.generation(key)),
            Move::Reach(other) => Move::AtLeast(self.used(key, other)),
            by => by.clone(),
        };
        match by {
            Move::Add(amount) if *meter == Meter::Generation => self.account(key).generation += amount,
            _ if *meter == Meter::Generation => {}
            Move::AtLeast(generation) if meter.is_mark() => {
                let look_at = self.now + Duration::from_secs(1);
                self.mark(key, meter.clone(), generation, look_at);
            }
            Move::Add(amount) => drop(self.account(key).used.insert(meter.clone(), used + amount)),
            Move::AtLeast(least) => drop(self.account(key).used.insert(meter.clone(), used.max(least))),
            Move::ClearBelow(least) if is_there && used < least => drop(self.account(key).used.remove(meter)),
            Move::ClearBelow(_) | Move::Reach(_) => {}
        }
    }

    fn mark(&mut self, key: AccountKey, meter: Meter, generation: i64, look_at: Timestamp) {
        let account = self.account(key);
        if account.used.get(&meter).is_none_or(|before| *before < generation) {
            account.used.insert(meter, generation);
            account.due.bring_forward(look_at);
        }
    }

    fn read(&self, read: &Read) -> LedgerAnswer {
        let Some(account) = self.accounts.get(&read.account) else {
            return LedgerAnswer::Absent(read.account);
        };
        let mut view = account.view(read.account);
        let held = self.accounts.values().flat_map(|account| account.holds.values());
        let held = held
            .flat_map(|hold| &hold.took)
            .filter(|took| took.account == read.account);
        let meters = match &read.meters {
            ReadMeters::All => account.used.keys().chain(held.map(|took| &took.meter)).collect(),
            ReadMeters::Only(meters) => meters.iter().collect::<Vec<_>>(),
        };
        for meter in meters {
            let numbers = Numbers {
                used: self.used(read.account, meter),
                held: self.held(read.account, meter),
            };
            view.meters.insert(meter.clone(), numbers);
        }
        let places = read.places.iter().map(|ask| {
            let shows = |meter| self.used(read.account, meter) + self.held(read.account, meter);
            let fewer = ask.beside.as_ref().map_or(0, shows);
            let at_most = u64::try_from(ask.at_most.cast_signed() - fewer.max(0)).unwrap_or(0);
            PlacesSeen {
                count: account.places_within(ask.window, self.now),
                falls_at: account.falls_at(ask.window, at_most),
            }
        });
        view.places = places.collect();
        LedgerAnswer::Account(Box::new(view))
    }

    fn holds(&self, ask: &ReadHolds) -> LedgerAnswer {
        let holds = self
            .accounts
            .get(&ask.account)
            .into_iter()
            .flat_map(|account| account.holds.values());
        let is_old = |hold: &&Hold| (hold.taken_at + ask.older_than).has_come(self.now);
        let is_after = |hold: &&Hold| ask.after.is_none_or(|after| hold.grant > after);
        LedgerAnswer::Holds(holds.filter(is_old).filter(is_after).take(ask.limit).cloned().collect())
    }

    fn obstacle(&self, path: &[(AccountKey, u64)]) -> Option<LedgerAnswer> {
        path.iter().find_map(|(key, revision)| {
            let Some(account) = self.accounts.get(key) else {
                return Some(LedgerAnswer::Absent(*key));
            };
            if account.revision != *revision {
                return Some(LedgerAnswer::OtherRevision(Box::new(account.view(*key))));
            }
            let is_stale = account.stale_at.is_some_and(|at| at.has_come(self.now));
            is_stale.then_some(LedgerAnswer::Stale(*key))
        })
    }

    fn account(&mut self, key: AccountKey) -> &mut Account {
        self.accounts.get_mut(&key).expect("an account that is there")
    }

    fn used(&self, account: AccountKey, meter: &Meter) -> i64 {
        self.accounts[&account].used.get(meter).copied().unwrap_or(0)
    }

    fn held(&self, account: AccountKey, meter: &Meter) -> i64 {
        let holds = self.accounts.values().flat_map(|account| account.holds.values());
        let took = holds.flat_map(|hold| &hold.took);
        let own = took.filter(|took| took.account == account && took.meter == *meter);
        own.map(|took| took.held).sum()
    }
}

impl Account {
    fn places_within(&self, window: Duration, now: Timestamp) -> u64 {
        self.places.values().filter(|at| !(**at + window).has_come(now)).count() as u64
    }

    fn falls_at(&self, window: Duration, at_most: u64) -> Option<Timestamp> {
        let mut taken: Vec<Timestamp> = self.places.values().copied().collect();
        taken.sort_unstable();
        let last_to_go = taken
            .len()
            .checked_sub(usize::try_from(at_most).expect("few"))?
            .checked_sub(1)?;
        Some(taken[last_to_go] + window)
    }

    fn view(&self, account: AccountKey) -> AccountView {
        let head = Head {
            version: self.version,
            revision: self.revision,
            body: self.body.clone(),
            stale_at: self.stale_at,
            due: self.due,
            generation: self.generation,
            marks: self.used.keys().filter(|meter| meter.is_mark()).count() as u64,
            last: self.last.clone(),
            listed_in: self.listed_in.clone(),
        };
        AccountView::bare(account, head)
    }
}
