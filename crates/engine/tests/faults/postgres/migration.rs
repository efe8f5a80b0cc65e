//! Another release arrives, and goes, while this one works.

use ff_backend_postgres::{library_name, migrate};
use futures::future::join_all;

use super::{Site, open, options};
use crate::often::usually_or_in_full;
use crate::scene::Scene;

const ROLLOUTS: (usize, usize) = (1, 20);
/// Servers that start at the same time.
const STARTS: usize = 3;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_release_arrives_and_goes_and_nobody_notices() {
    let site = Site::start().await;
    let mut scene = Scene::begin(|| open(site.url())).await;
    let options = options(site.url());
    for rollout in 0..usually_or_in_full(ROLLOUTS) {
        scene.random_moment(200..800).await;
        for applied in join_all((0..STARTS).map(|_| migrate(&options))).await {
            assert_eq!(applied.unwrap(), 0, "all migrations were applied before");
        }
        let other = format!("flowfabric_other{rollout}");
        expand(&site, rollout).await;
        install(&site, &other).await;
        // One more server of this release, while the other one is there too.
        drop(open(site.url()).await);
        scene.random_moment(200..800).await;
        site.ask(&format!("DROP SCHEMA {other} CASCADE")).await;
    }
    scene.random_moment(300..600).await;
    let tally = scene.end("PostgreSQL migrations").await;
    assert_eq!((tally.losses(), tally.retries), (0, 0));
}

/// What a migration does: it expands. Every table gets a column, one table at a time: whoever locks two waits for calls that
/// want both.
async fn expand(site: &Site, rollout: usize) {
    let tables = "SELECT oid::regclass FROM pg_class
        WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition ORDER BY relname";
    for table in site.ask(tables).await.lines() {
        let one_more = format!("ALTER TABLE {table} ADD COLUMN later{rollout} text NOT NULL DEFAULT ''");
        site.ask(&one_more).await;
    }
}

/// Installs a library under another name, as another release does: a copy of this one, in one transaction.
async fn install(site: &Site, other: &str) {
    let own = library_name();
    let types = format!(
        "SELECT format('CREATE TYPE {other}.%I AS (%s);', pg_type.typname, string_agg(
            format('%I %s', attname, replace(format_type(atttypid, atttypmod), '{own}', '{other}')), ', ' ORDER BY attnum))
        FROM pg_type JOIN pg_attribute ON attrelid = pg_type.typrelid AND attnum > 0
        WHERE typnamespace = '{own}'::regnamespace AND typtype = 'c' GROUP BY pg_type.oid, typname ORDER BY pg_type.oid"
    );
    let functions = format!(
        "SELECT replace(pg_get_functiondef(oid), '{own}', '{other}') || ';'
        FROM pg_proc WHERE pronamespace = '{own}'::regnamespace ORDER BY oid"
    );
    let (types, functions) = (site.ask(&types).await, site.ask(&functions).await);
    let text = format!("CREATE SCHEMA {other}; SET search_path = {other}, public; {types} {functions}");
    site.ask(&text).await;
}
