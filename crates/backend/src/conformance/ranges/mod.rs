//! Ranges over lists: every record stands exactly in the lists its facts say, in their order.

mod world;

use std::collections::BTreeSet;

use ff_core::machine::index::{Index, Order};
use ff_core::partition::Partition;
use ff_core::record::Record;

use self::world::World;
use super::build::Store;
use crate::query::{Cursor, Head, HeadsOf, Listing, Page, Range};
use crate::transaction::{Delete, Version};

const SEEDS: u64 = 3;
const STEPS: u64 = 150;

/// How the names of all lists begin.
const KINDS: [&str; 20] = [
    "age",
    "attempts",
    "blocked",
    "buffered",
    "edges_from",
    "edges_into",
    "flow_tag",
    "flows",
    "held",
    "leased_under",
    "members",
    "open_members",
    "person",
    "queue",
    "running",
    "signals",
    "state",
    "tag",
    "unresolved_from",
    "waitpoints",
];

pub(super) async fn every_list_holds_what_the_facts_say_in_its_order(store: &Store<'_>) {
    let mut kinds = BTreeSet::new();
    for seed in 0..SEEDS {
        let mut world = World::new(store, seed).await;
        for _ in 0..STEPS {
            world.step().await;
        }
        for index in world.lists.clone() {
            let some = world.some_partitions();
            for partitions in [world.partitions.clone(), some] {
                let wanted: Vec<_> = world.places(&index, &partitions).into_values().map(row).collect();
                let limit = 1 + world.place(7);
                let found = records(store, Range::of(index.clone(), partitions), limit).await;
                assert_eq!(found, wanted, "seed {seed}, {index}");
            }
        }
        // The records of the next seed are others, and nobody else's are looked at.
        for partition in &world.partitions {
            store.audited(*partition).await;
        }
        clear(store, &world).await;
        let names = world.lists.iter().map(ToString::to_string);
        kinds.extend(names.map(|name| name.split(':').next().unwrap_or_default().to_owned()));
    }
    assert!(kinds.iter().eq(&KINDS), "every kind of list was tried: {kinds:?}");
}

pub(super) async fn a_range_begins_and_ends_where_it_is_asked_to(store: &Store<'_>) {
    let mut world = World::new(store, 7).await;
    for _ in 0..STEPS {
        world.step().await;
    }
    for index in world.lists.clone() {
        let places = world.places(&index, &world.partitions);
        let orders: Vec<Order> = places.keys().cloned().collect();
        let bound = |place: usize| {
            let text = orders[place].as_str();
            // A bound may be cut anywhere.
            Order::parse(&text[..text.len() - place % 5 * 4 % text.len()])
        };
        if orders.is_empty() {
            continue;
        }
        for _ in 0..4 {
            let [from, until] = [(); 2].map(|()| bound(world.place(orders.len())));
            let within = |order: &Order| from.as_ref().is_none_or(|from| order >= from);
            let before = |order: &Order| until.as_ref().is_none_or(|until| order < until);
            let wanted = places.iter().filter(|(order, _)| within(order) && before(order));
            let wanted: Vec<_> = wanted.map(|(_, place)| row(place.clone())).collect();
            let range = Range {
                from: from.clone(),
                until: until.clone(),
                ..Range::of(index.clone(), world.partitions.clone())
            };
            assert_eq!(records(store, range, 3).await, wanted, "{index}");
        }
    }
}

/// A cursor is the place of the last row in every store, so that whoever has a record can go on after it.
pub(super) async fn a_range_goes_on_after_any_place(store: &Store<'_>) {
    let mut world = World::new(store, 17).await;
    for _ in 0..STEPS {
        world.step().await;
    }
    for index in world.lists.clone() {
        let places = world.places(&index, &world.partitions);
        let of = Listing::Range(Range::of(index.clone(), world.partitions.clone()));
        for (n, order) in places.keys().enumerate().step_by(3) {
            let after = Cursor(format!("range:\"{}\"", order.as_str()));
            let found = store.follow_after(Some(after), &of, 4, Page::records).await;
            let wanted = places.values().skip(n + 1).cloned().map(row);
            assert_eq!(found, wanted.collect::<Vec<_>>(), "{index}");
        }
    }
}

pub(super) async fn a_record_of_several_lists_comes_once(store: &Store<'_>) {
    let mut world = World::new(store, 11).await;
    for _ in 0..STEPS {
        world.step().await;
    }
    type OfKind = fn(&Index) -> bool;
    let kinds: [OfKind; 6] = [
        |index| matches!(index, Index::Tag(..)),
        |index| matches!(index, Index::State(..)),
        |index| matches!(index, Index::EdgesFrom(_)),
        |index| matches!(index, Index::Age(_)),
        |index| matches!(index, Index::Queue(_)),
        |index| matches!(index, Index::Members(_) | Index::OpenMembers(_)),
    ];
    for is_of_kind in kinds {
        let of: Vec<Index> = world.lists.iter().filter(|index| is_of_kind(index)).cloned().collect();
        assert!(of.len() > 1, "{of:?}");
        let mut wanted = world::Places::new();
        for index in &of {
            wanted.extend(world.places(index, &world.partitions));
        }
        let range = Range {
            of: of.clone(),
            ..Range::of(of[0].clone(), world.partitions.clone())
        };
        let wanted: Vec<_> = wanted.into_values().map(row).collect();
        assert_eq!(records(store, range, 4).await, wanted, "{of:?}");
    }
}

pub(super) async fn heads_are_the_first_of_the_lists_that_have_anything(store: &Store<'_>) {
    let mut world = World::new(store, 5).await;
    for step in 0..STEPS {
        world.step().await;
        if step % 50 < 49 {
            continue;
        }
        let some = world.some_partitions();
        for (partitions, count) in [(world.partitions.clone(), 1_000), (some, world.place(3) as u64)] {
            for of in [HeadsOf::Queues, HeadsOf::Blocked] {
                let listing = Listing::Heads {
                    of,
                    partitions: partitions.clone(),
                    count,
                };
                let found = store.follow(&listing, 2, Page::heads).await;
                assert_eq!(
                    found,
                    heads(&world, (of, count), &partitions),
                    "{of:?}, {count} counted"
                );
            }
        }
    }
}

pub(super) async fn rows_that_stay_are_seen_once_while_others_move(store: &Store<'_>) {
    let mut world = World::new(store, 13).await;
    for _ in 0..STEPS {
        world.step().await;
    }
    for index in world.lists.clone() {
        let before = world.places(&index, &world.partitions);
        let of = Listing::Range(Range::of(index.clone(), world.partitions.clone()));
        let (mut seen, mut after) = (Vec::new(), None);
        loop {
            let page = store.page(of.clone(), after, 2).await;
            after = page.next.clone();
            seen.extend(page.records().into_iter().map(|(record, _)| record.key()));
            if after.is_none() {
                break;
            }
            world.step().await;
        }
        let distinct: BTreeSet<_> = seen.iter().collect();
        assert!(distinct.len() == seen.len() || moves(&index), "{index}: {seen:?}");
        let places = world.places(&index, &world.partitions);
        let stayed = before.iter().filter(|(order, place)| {
            let now = places.get(order);
            now.is_some_and(|now| now.1.key() == place.1.key())
        });
        for (_, (_, record, _)) in stayed {
            // It may have left and come back while nobody looked.
            let written = world.records[&record.key()].2 != before_version(&before, record);
            assert!(seen.contains(&record.key()) || written, "{index}: {:?}", record.key());
        }
    }
}

/// Whether a record may change its place in a list while it is in it.
const fn moves(index: &Index) -> bool {
    matches!(index, Index::Queue(_) | Index::Blocked(_) | Index::Person(_))
}

fn before_version(before: &world::Places, record: &Record) -> Version {
    let mut places = before.values();
    let place = places.find(|place| place.1.key() == record.key());
    place.expect("it was there").2
}

fn heads(world: &World<'_>, (of, count): (HeadsOf, u64), partitions: &[Partition]) -> Vec<Head> {
    let wanted = world.lists.iter().filter(|index| match of {
        HeadsOf::Queues => matches!(index, Index::Queue(_)),
        HeadsOf::Blocked => matches!(index, Index::Blocked(_)),
    });
    let mut heads = Vec::new();
    let partitions: BTreeSet<&Partition> = partitions.iter().collect();
    for index in wanted {
        for partition in &partitions {
            let places = world.places(index, &[**partition]);
            let length = count.min(places.len() as u64);
            heads.extend(places.into_keys().next().map(|first| Head {
                partition: **partition,
                index: index.clone(),
                first,
                length,
            }));
        }
    }
    heads.sort_by_key(|head| (head.partition, head.index.to_string()));
    heads
}

async fn records(store: &Store<'_>, range: Range, limit: usize) -> Vec<(Record, Version)> {
    store.follow(&Listing::Range(range), limit, Page::records).await
}

fn row((_, record, version): (Partition, Record, Version)) -> (Record, Version) {
    (record, version)
}

/// Deletes everything, and nothing is listed any more.
async fn clear(store: &Store<'_>, world: &World<'_>) {
    for (partition, record, version) in world.records.values() {
        let mut transaction = store.transaction(*partition);
        transaction.deletes.push(Delete::of((record, *version)));
        store.commit(transaction).await;
    }
    for index in &world.lists {
        let range = Range::of(index.clone(), world.partitions.clone());
        assert_eq!(records(store, range, 10).await, [], "{index}");
    }
    for of in [HeadsOf::Queues, HeadsOf::Blocked] {
        assert_eq!(store.follow(&store.heads(of), 10, Page::heads).await, []);
    }
}
