//! Random transactions on a store and on the simplest store there is give the same answers.

use std::collections::BTreeMap;

use ff_core::record::{CounterKey, Execution, GroupCounter, Record, RecordKey};

use super::build::{Random, Store};
use crate::load::Load;
use crate::transaction::{CommitError, Delete, Put, Transaction, Version};

const SEEDS: u64 = 4;
const TRANSACTIONS: u64 = 120;
const RECORDS: usize = 6;

/// Records with their versions, and counters: all a transaction is about.
#[derive(Default)]
struct Model {
    records: BTreeMap<RecordKey, (Record, Version)>,
    counters: BTreeMap<CounterKey, i64>,
}

/// The counters that moved, or the record that had changed.
type Answer = Result<Vec<(CounterKey, i64)>, (RecordKey, Option<Version>)>;

impl Model {
    fn version(&self, key: &RecordKey) -> Option<Version> {
        self.records.get(key).map(|(_, version)| *version)
    }

    fn commit(&mut self, transaction: &Transaction) -> Answer {
        let guards = transaction.guards.iter().cloned();
        let puts = transaction.puts.iter().map(|put| (put.record.key(), put.expected));
        let deletes = transaction
            .deletes
            .iter()
            .map(|delete| (delete.key.clone(), Some(delete.expected)));
        for (key, expected) in guards.chain(puts).chain(deletes) {
            let found = self.version(&key);
            if found != expected {
                return Err((key, found));
            }
        }
        for put in &transaction.puts {
            let version = put
                .expected
                .map_or(Version::first(transaction.tag), |version| version.next(transaction.tag));
            self.records.insert(put.record.key(), (put.record.clone(), version));
        }
        for delete in &transaction.deletes {
            self.records.remove(&delete.key);
        }
        for (key, by) in &transaction.increments {
            *self.counters.entry(*key).or_default() += by;
        }
        Ok(transaction
            .increments
            .iter()
            .map(|(key, _)| (*key, self.counters[key]))
            .collect())
    }
}

pub(super) async fn random_transactions_do_what_the_simplest_store_does(store: &Store<'_>) {
    for seed in 0..SEEDS {
        let mut random = Random::new(seed << 32);
        let mut model = Model::default();
        let pool: Vec<Execution> = pool(store).await;
        for n in 0..TRANSACTIONS {
            let transaction = random_transaction(store, &model, &pool, &mut random);
            let wanted = model.commit(&transaction);
            let found = match store.try_commit(transaction).await {
                Ok(committed) => Ok(committed.counters),
                Err(CommitError::Conflict { key, found }) => Err((key, found)),
                Err(other) => panic!("seed {seed}, transaction {n}: {other}"),
            };
            assert_eq!(sorted(found), sorted(wanted), "seed {seed}, transaction {n}");
            same(store, &model, &pool).await;
        }
    }
}

async fn pool(store: &Store<'_>) -> Vec<Execution> {
    let template = store.submit(store.command()).await;
    (0..RECORDS)
        .map(|_| Execution {
            id: store.id(),
            ..template.clone()
        })
        .collect()
}

/// A few guards, puts and deletes of different records, most from the versions they have, some from stale ones.
fn random_transaction(store: &Store<'_>, model: &Model, pool: &[Execution], random: &mut Random) -> Transaction {
    let mut transaction = store.transaction(store.home());
    for execution in pool {
        let key = RecordKey::Execution(execution.id);
        let expected = expected(store, model, &key, random);
        match random.below(8) {
            0 => transaction.guards.push((key, expected)),
            1 => transaction
                .deletes
                .extend(expected.map(|version| Delete::unlisted(key, version))),
            2 | 3 => {
                let priority = u16::try_from(random.below(100)).unwrap_or(0);
                let record = Record::from(Execution {
                    priority,
                    ..execution.clone()
                });
                transaction.puts.push(Put::unlisted(record, expected));
            }
            _ => {}
        }
    }
    if !transaction.puts.is_empty() && random.below(2) == 0 {
        let counter = *random.pick(&GroupCounter::ALL);
        let by = i64::from(u32::try_from(random.below(9)).unwrap_or(0)) - 4;
        transaction
            .increments
            .push((CounterKey::Group(pool[0].id, counter), by));
    }
    transaction
}

fn expected(store: &Store<'_>, model: &Model, key: &RecordKey, random: &mut Random) -> Option<Version> {
    let version = model.version(key);
    match random.below(12) {
        0 => Some(Version {
            counter: 1,
            tag: store.tag(),
        }),
        1 => version.map(|version| version.next(version.tag)),
        _ => version,
    }
}

async fn same(store: &Store<'_>, model: &Model, pool: &[Execution]) {
    let keys: Vec<RecordKey> = pool
        .iter()
        .map(|execution| RecordKey::Execution(execution.id))
        .collect();
    let counters = GroupCounter::ALL.map(|counter| CounterKey::Group(pool[0].id, counter));
    let snapshot = store
        .load(Load::records(store.home(), keys).with_counters(counters))
        .await;
    assert_eq!(snapshot.records, model.records);
    for counter in counters {
        assert_eq!(
            snapshot.counter(counter),
            model.counters.get(&counter).copied().unwrap_or(0),
            "{counter:?}"
        );
    }
}

fn sorted(answer: Answer) -> Answer {
    answer.map(|mut counters| {
        counters.sort_unstable();
        counters
    })
}
