//! Take: the first tier whose entries all fit, whole.

use std::collections::BTreeMap;

use ff_core::ledger::{
    AccountKey, Bound, Entry, Floor, Hold, LedgerAnswer, Meter, Number, Numbers, PlaceEntry, Seen, Take, TakeKind,
    Took, sum,
};
use ff_core::time::Timestamp;

use super::books::Books;
use super::look::{LOOK_WITHIN, mark, obstacle, places};

pub(super) fn take<B: Books>(books: &mut B, take: &Take) -> Result<LedgerAnswer, B::Error> {
    let Some((first, _)) = take.path.first() else {
        return Ok(LedgerAnswer::Taken { tier: 0, again: false });
    };
    if let Some(hold) = books.hold(*first, take.grant)? {
        return Ok(LedgerAnswer::Taken {
            tier: hold.tier,
            again: true,
        });
    }
    if books.is_refused(*first, take.grant)? {
        return Ok(LedgerAnswer::Late);
    }
    if let Some(obstacle) = obstacle(books, &take.path)? {
        return Ok(obstacle);
    }
    let replaced = match take.instead_of {
        Some(grant) => books.hold(*first, grant)?,
        None => None,
    };
    let mut last = Vec::new();
    for (tier, entries) in take.tiers.iter().enumerate() {
        let mut sheet = Sheet::new(take, replaced.as_ref());
        last = sheet.fill(books, entries)?;
        if last.iter().all(|seen| seen.fits) {
            sheet.write(books, *first, (take, tier), replaced.as_ref())?;
            return Ok(LedgerAnswer::Taken { tier, again: false });
        }
    }
    full(books, take, last)
}

/// Nothing fits; the account that refused is told where the work waits.
fn full<B: Books>(books: &mut B, take: &Take, seen: Vec<Seen>) -> Result<LedgerAnswer, B::Error> {
    let entries = take.tiers.last().into_iter().flatten();
    let refusing = entries.zip(&seen).find(|(_, seen)| !seen.fits);
    let account = refusing.map_or(take.path[0].0, |(entry, _)| take.path[entry.at()].0);
    let generation = books.head(account)?.map_or(0, |head| head.generation);
    if let Some(waits) = take.mark {
        let look_at = refusing.and_then(|(_, seen)| seen.fits_at);
        let look_at = look_at.unwrap_or_else(|| books.now() + LOOK_WITHIN);
        mark(books, account, (&Meter::Mark(waits.partition), generation), look_at)?;
        if waits.placeless {
            let meter = Meter::PlacelessMark(waits.partition);
            mark(books, account, (&meter, generation), look_at)?;
        }
    }
    Ok(LedgerAnswer::Full {
        account,
        seen,
        generation,
    })
}

/// What a tier would leave.
struct Sheet<'t> {
    take: &'t Take,
    /// Numbers that are known by now, and what they come to.
    numbers: BTreeMap<(AccountKey, Meter), Numbers>,
    /// What the hold that is used up gives back.
    returned: BTreeMap<(AccountKey, Meter), i64>,
    took: Vec<Took>,
    places: Vec<(AccountKey, String)>,
}

impl<'t> Sheet<'t> {
    fn new(take: &'t Take, replaced: Option<&Hold>) -> Self {
        let mut returned: BTreeMap<(AccountKey, Meter), i64> = BTreeMap::new();
        for took in replaced.into_iter().flat_map(|hold| &hold.took) {
            *returned.entry((took.account, took.meter.clone())).or_default() += took.held;
        }
        Self {
            take,
            numbers: BTreeMap::new(),
            returned,
            took: Vec::new(),
            places: Vec::new(),
        }
    }

    /// Takes every entry on paper; what each showed before.
    fn fill<B: Books>(&mut self, books: &mut B, entries: &[Entry]) -> Result<Vec<Seen>, B::Error> {
        let fill = |entry: &Entry| match entry {
            Entry::Number(number) => self.number(books, number),
            Entry::Place(place) => self.place(books, place),
        };
        entries.iter().map(fill).collect()
    }

    fn number<B: Books>(&mut self, books: &mut B, entry: &Number) -> Result<Seen, B::Error> {
        let key = (self.take.path[entry.at].0, entry.meter.clone());
        let before = match self.numbers.get(&key) {
            Some(numbers) => *numbers,
            None => {
                let stored = books.meter(key.0, &key.1)?.unwrap_or_default();
                let returned = self.returned.get(&key).copied().unwrap_or(0);
                Numbers {
                    held: sum(stored.held, -returned),
                    ..stored
                }
            }
        };
        let now = micros(books.now());
        let counted = match entry.floor {
            Floor::None => before.total(),
            Floor::At(floor) => before.total().max(floor),
            Floor::Now => before.total().max(now),
        };
        let wanted = sum(counted, entry.delta);
        let (fits, fits_at) = match entry.bound {
            Bound::Free => (true, None),
            Bound::At(bound) => (wanted <= bound, None),
            Bound::AfterNow(after) => (wanted <= sum(now, after), moment(sum(wanted, -after))),
        };
        let after = match entry.kind {
            TakeKind::Held => Numbers {
                held: sum(before.held, entry.delta),
                ..before
            },
            TakeKind::Used => Numbers {
                used: sum(wanted, -before.held),
                ..before
            },
        };
        self.took.push(Took {
            account: key.0,
            meter: key.1.clone(),
            held: sum(after.held, -before.held),
            used: sum(after.used, -before.used),
        });
        self.numbers.insert(key, after);
        Ok(Seen {
            value: counted,
            fits,
            fits_at: fits_at.filter(|_| !fits),
        })
    }

    fn place<B: Books>(&mut self, books: &mut B, entry: &PlaceEntry) -> Result<Seen, B::Error> {
        let account = self.take.path[entry.at].0;
        let now = books.now();
        let stands = books.place(account, &entry.name)?;
        let is_on_paper = self.places.contains(&(account, entry.name.clone()));
        let stands = is_on_paper || stands.is_some_and(|taken_at| !(taken_at + entry.window).has_come(now));
        let seen = places(books, account, entry.window, entry.at_most.saturating_sub(1))?;
        let on_paper = self.places.iter().filter(|(of, _)| *of == account).count() as u64;
        let count = seen.count + on_paper;
        let fits = stands || count < entry.at_most;
        if !stands {
            self.places.push((account, entry.name.clone()));
        }
        Ok(Seen {
            value: count.cast_signed(),
            fits,
            fits_at: seen.falls_at.filter(|_| !fits && entry.at_most > 0),
        })
    }

    /// Makes it true.
    fn write<B: Books>(
        self,
        books: &mut B,
        first: AccountKey,
        (take, tier): (&Take, usize),
        replaced: Option<&Hold>,
    ) -> Result<(), B::Error> {
        if let Some(hold) = replaced {
            for ((account, meter), returned) in &self.returned {
                if !self.numbers.contains_key(&(*account, meter.clone())) {
                    super::look::change_meter(books, *account, meter, |numbers| {
                        numbers.held = sum(numbers.held, -returned);
                    })?;
                }
            }
            books.drop_hold(first, hold.grant)?;
        }
        for ((account, meter), numbers) in &self.numbers {
            books.put_meter(*account, meter, Some(*numbers))?;
        }
        let now = books.now();
        for (account, name) in &self.places {
            books.put_place(*account, name, Some(now))?;
        }
        for entry in &take.tiers[tier] {
            if let Entry::Place(place) = entry {
                // A place that has stopped counting never counts again, however long the window becomes.
                books.drop_places(take.path[place.at].0, place.window)?;
            }
        }
        let took: Vec<Took> = self
            .took
            .into_iter()
            .filter(|took| took.held != 0 || took.used != 0)
            .collect();
        if took.is_empty() && self.places.is_empty() {
            return Ok(());
        }
        let hold = Hold {
            grant: take.grant,
            holder: take.holder,
            taken_at: now,
            tier,
            took,
            places: self.places,
        };
        books.put_hold(first, hold)
    }
}

/// A moment as meters count it.
fn micros(at: Timestamp) -> i64 {
    i64::try_from(at.as_millis()).unwrap_or(i64::MAX).saturating_mul(1_000)
}

/// The first millisecond that is not before this.
fn moment(micros: i64) -> Option<Timestamp> {
    let millis = u64::try_from(micros).ok()?.div_ceil(1_000);
    Some(Timestamp::from_millis(millis))
}
