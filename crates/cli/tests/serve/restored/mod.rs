//! A store that is copied while everybody is at work, and some time later replaced by its copy, with the same clients before and
//! after: what they were told before the copy began is there, what they were told later is not or is, as of one moment, and
//! leases of before hold or are refused.
//!
//! Moments and choices come from a seed, which a failure names; set `FF_TEST_SEED` to it to see them again. `FF_TEST_KILLS`
//! says how often a store is restored.

mod copied;
mod holders;
mod keeper;
mod moment;
mod reader;
mod there;

use std::time::Instant;

use self::copied::Copied;
use self::holders::Holders;
use self::keeper::{Keeper, Target};
use self::reader::Reader;
use crate::killed::scene::Scene;
use crate::killed::signaller::send_again;
use crate::kills;

/// How often a store is restored, unless somebody has more time.
const RESTORES: usize = 1;

/// One store, its copy, and what comes after.
async fn copy_and_restore(mut keeper: Keeper) {
    let mut scene = Scene::begin(keeper.store()).await;
    let mut holders = Holders::new(scene.client(), &scene.ledger);
    holders.before_the_copy().await;
    scene.under_load().await;
    let early = Reader::of_everything(scene.client()).await;
    let began = Instant::now();
    keeper.copy(scene.place.folder.path());
    let ended = Instant::now();

    holders.after_the_copy().await;
    scene.under_load().await;
    let late = Reader::of_everything(scene.client()).await;
    scene.stop();
    let replaced = Instant::now();
    scene.ledger.note_restored();
    let store = keeper.restore(scene.place.folder.path()).await;
    scene.place.keep_in(store);
    scene.start_again();

    send_again(&scene.client(), &scene.ledger).await;
    if keeper.keeps_events() {
        early.goes_on().await;
    } else {
        early.begins_anew().await;
    }
    late.begins_anew().await;
    holders.restored().await;
    scene.under_load().await;
    let copied = Copied { began, ended, replaced };
    scene
        .end_with("restored", |told, found| copied.left(&told, found))
        .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sqlite_store_is_restored_as_it_was_at_one_moment_and_goes_on_from_there() {
    for _ in 0..kills(RESTORES) {
        copy_and_restore(Keeper::Sqlite).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_postgres_store_is_restored_as_it_was_at_one_moment_and_goes_on_from_there() {
    let targets = [Target::Fresh, Target::Elsewhere, Target::Itself];
    for target in targets.into_iter().cycle().take(kills(RESTORES)) {
        copy_and_restore(Keeper::postgres(target).await).await;
    }
}
