//! What others have counted, as they have kept it: read for somebody who looks at a chart, at most once a minute.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use ff_backend::settings::{Setting, SettingsOp, SettingsReply};
use ff_core::error::Rejection;
use ff_core::fabric::Result;
use ff_core::time::Timestamp;

use super::kept::{EVERY, Hour, hour_and_name, prefix};
use super::tracks::Tracks;
use super::{MINUTES_KEPT, minute_of};
use crate::engine::Engine;
use crate::fault::internal;

/// Records of others that are remembered; the newest are.
const RECORDS_MAX: usize = 240;
/// Hours that are read with one call.
const HOURS_AT_ONCE: usize = 5;
/// How many minutes after its end the last of an hour may be written: a minute is waited for, and a write that failed is tried again.
const LATE: u64 = 5;

/// What others, and this server before it was started again, have counted.
#[derive(Default)]
pub(super) struct Others {
    /// By hour, and by who counted.
    records: BTreeMap<(u64, String), Arc<Tracks>>,
    /// When they were last read, and what time it was then.
    read: Option<(Duration, Timestamp)>,
    /// How often that was tried.
    tries: u64,
    /// What went wrong at the last try.
    refusal: Option<Rejection>,
}

impl Others {
    /// What may know of a minute or of later ones.
    pub(super) fn since(&self, minute: u64) -> Vec<Arc<Tracks>> {
        let records = self.records.range((minute / 60, String::new())..);
        records.map(|(_, tracks)| Arc::clone(tracks)).collect()
    }

    /// Up to when they are in, if they need not be read again yet.
    fn fresh(&self, elapsed: Duration) -> Option<Timestamp> {
        let (at, as_of) = self.read?;
        (elapsed.saturating_sub(at) < EVERY).then_some(as_of)
    }

    /// The first hour that may hold something new, at a minute.
    fn first_new(&self, minute: u64) -> u64 {
        let oldest = minute.saturating_sub(MINUTES_KEPT) / 60;
        let read = self.read.map(|(_, as_of)| minute_of(as_of).saturating_sub(LATE) / 60);
        read.map_or(oldest, |read| read.max(oldest))
    }

    /// Remembers a record, unless it is this process's own; whether it did.
    fn take(&mut self, record: Setting, own_name: Option<&str>) -> bool {
        let Some((hour, name)) = hour_and_name(&record.key) else {
            return false;
        };
        if own_name == Some(name) {
            return false;
        }
        match serde_json::from_value::<Hour>(record.value) {
            Ok(kept) => _ = self.records.insert((hour, name.to_owned()), Arc::new(kept.into())),
            Err(error) => tracing::debug!(setting = record.key, %error, "what another server counted cannot be read"),
        }
        true
    }

    /// Forgets what is no longer asked for, and the oldest of too much.
    fn forget_before(&mut self, hour: u64) {
        self.records = self.records.split_off(&(hour, String::new()));
        while self.records.len() > RECORDS_MAX {
            self.records.pop_first();
        }
    }
}

/// Reads what others have counted, unless that was done less than a minute ago. Up to when they are in.
///
/// One reads at a time. Whoever comes meanwhile is told what came of it: that they are in, or why they could not be read. Then
/// whoever asks next tries it again.
pub(crate) async fn learn_of_others(engine: &Engine) -> Result<Timestamp> {
    let minutes = &engine.shared.minutes;
    let tries = {
        let others = minutes.others();
        if let Some(as_of) = others.fresh(engine.host().elapsed()) {
            return Ok(as_of);
        }
        others.tries
    };
    let _reading = minutes.reading.lock().await;
    let at = engine.host().elapsed();
    {
        let others = minutes.others();
        if let Some(as_of) = others.fresh(at) {
            return Ok(as_of);
        }
        if let Some(refusal) = others.refusal.as_ref().filter(|_| others.tries != tries) {
            return Err(refusal.clone());
        }
    }
    let outcome = read(engine).await;
    let mut others = minutes.others();
    others.tries += 1;
    others.refusal = outcome.as_ref().err().cloned();
    if let Ok(as_of) = outcome {
        others.read = Some((at, as_of));
    }
    outcome
}

/// Reads hour by hour, the newest first: when there is too much, the oldest is missing. What was read before something goes wrong
/// stays.
async fn read(engine: &Engine) -> Result<Timestamp> {
    let minutes = &engine.shared.minutes;
    let now = engine.store_time().await?;
    let minute = minute_of(now);
    let first = minutes.others().first_new(minute);
    let hours: Vec<u64> = (first..=minute / 60).rev().collect();
    let mut left = RECORDS_MAX;
    for hours in hours.chunks(HOURS_AT_ONCE) {
        let list = |hour: &u64| SettingsOp::List {
            prefix: prefix(*hour),
            after: None,
            // One of them may be this process's own.
            limit: left + 1,
        };
        for reply in engine.store().settings(hours.iter().map(list).collect()).await? {
            let SettingsReply::Page(records) = reply else {
                return Err(internal("a list of settings was answered with something else"));
            };
            let own_name = minutes.own_name.get().map(String::as_str);
            let mut others = minutes.others();
            for record in records {
                if left == 0 {
                    break;
                }
                left -= usize::from(others.take(record, own_name));
            }
        }
        if left == 0 {
            break;
        }
    }
    let oldest = minute.saturating_sub(MINUTES_KEPT) / 60;
    minutes.others().forget_before(oldest);
    Ok(now)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use async_trait::async_trait;
    use ff_backend::layer::Layer;
    use ff_backend::memory::MemoryBackend;
    use ff_backend::settings::Expected;
    use ff_backend::{Backend, Error};
    use ff_core::error::Code;
    use ff_core::name::{LaneId, Namespace};
    use ff_core::partition::PartitionCounts;
    use ff_core::time::Duration as Millis;
    use futures::future::join_all;
    use serde_json::json;

    use super::*;
    use crate::series::{Group, LANE_COUNTS, TrackName, Wanted};
    use crate::{Config, VirtualHost};

    /// A full hour.
    const HOUR: u64 = 480_000;

    /// A store that counts how often settings are listed, takes its time for that, and fails when told to.
    struct Shelf {
        inner: MemoryBackend,
        lists: AtomicUsize,
        is_broken: AtomicBool,
    }

    #[async_trait]
    impl Layer for Shelf {
        fn inner(&self) -> &dyn Backend {
            &self.inner
        }

        async fn settings(&self, ops: Vec<SettingsOp>) -> ff_backend::Result<Vec<SettingsReply>> {
            let lists = ops.iter().filter(|op| matches!(op, SettingsOp::List { .. })).count();
            self.lists.fetch_add(lists, Ordering::Relaxed);
            for _ in 0..10 {
                tokio::task::yield_now().await;
            }
            if self.is_broken.load(Ordering::Relaxed) {
                return Err(Error::Unavailable("the shelf is broken".to_owned()));
            }
            self.inner.settings(ops).await
        }
    }

    struct Stage {
        shelf: Arc<Shelf>,
        host: Arc<VirtualHost>,
        engine: Engine,
    }

    impl Stage {
        /// So many minutes after the full hour.
        fn new(minute: u64) -> Self {
            let counts = PartitionCounts::new(2, 1, 1).unwrap();
            let start = Timestamp::from_millis((HOUR * 60 + minute) * 60_000);
            let shelf = Arc::new(Shelf {
                inner: MemoryBackend::new(start, counts),
                lists: AtomicUsize::new(0),
                is_broken: AtomicBool::new(false),
            });
            let host = Arc::new(VirtualHost::new(1));
            let engine = Engine::new(Arc::clone(&shelf) as _, Arc::clone(&host) as _, Config::new(counts));
            Self { shelf, host, engine }
        }

        /// Another server has submitted one execution in the last minute of an hour.
        async fn keep(&self, hour: u64, server: &str) {
            let minute = (hour * 60 + 59).to_string();
            let track = json!({ "namespace": "default", "of": { "lane": "default" }, "at": { minute: [1] } });
            let put = SettingsOp::Put {
                key: format!("{}{server}", prefix(hour)),
                value: Some(json!({ "tracks": [track] })),
                expected: Expected::Anything,
                ttl: None,
            };
            self.shelf.inner.settings(vec![put]).await.unwrap();
        }

        fn pass(&self, by: Millis) {
            self.shelf.inner.advance(by);
            self.host.advance(Duration::from_millis(by.as_millis()));
        }

        fn lists(&self) -> usize {
            self.shelf.lists.load(Ordering::Relaxed)
        }

        /// What others have submitted, by hour.
        fn submitted(&self) -> BTreeMap<u64, u64> {
            let minutes = &self.engine.shared.minutes;
            let lanes = minutes.of(&Namespace::default_namespace(), 0, &Wanted::All(Group::Lanes));
            assert!(
                lanes
                    .iter()
                    .all(|(name, _)| *name == TrackName::Lane(LaneId::default_lane()))
            );
            let mut all = BTreeMap::new();
            for (_, track) in lanes {
                for minute in track.minutes() {
                    *all.entry(minute / 60).or_default() += track.get(minute, LANE_COUNTS.submitted).unwrap();
                }
            }
            all
        }
    }

    #[tokio::test]
    async fn one_reads_what_others_counted_and_the_rest_wait_for_it() {
        let stage = Stage::new(30);
        stage.keep(HOUR - 1, "a").await;
        for told in join_all((0..20).map(|_| learn_of_others(&stage.engine))).await {
            told.unwrap();
        }
        assert_eq!(stage.lists(), 25, "a day, once");
        assert_eq!(stage.submitted(), [(HOUR - 1, 1)].into());
        stage.pass(Millis::from_secs(59));
        learn_of_others(&stage.engine).await.unwrap();
        assert_eq!(stage.lists(), 25, "not twice in a minute");
        stage.pass(Millis::from_secs(1));
        for told in join_all((0..20).map(|_| learn_of_others(&stage.engine))).await {
            told.unwrap();
        }
        assert_eq!(stage.lists(), 26, "only this hour has something new");
    }

    #[tokio::test]
    async fn a_reading_that_failed_is_told_to_who_waits_for_it_and_tried_again_by_the_next_one() {
        let stage = Stage::new(30);
        stage.keep(HOUR - 1, "a").await;
        stage.shelf.is_broken.store(true, Ordering::Relaxed);
        for told in join_all((0..20).map(|_| learn_of_others(&stage.engine))).await {
            assert_eq!(told.unwrap_err().code, Code::Unavailable);
        }
        assert_eq!(stage.lists(), HOURS_AT_ONCE, "nineteen wait for one");
        stage.shelf.is_broken.store(false, Ordering::Relaxed);
        learn_of_others(&stage.engine).await.unwrap();
        assert_eq!(stage.submitted(), [(HOUR - 1, 1)].into());
        // The same when they were read before.
        stage.pass(Millis::from_secs(61));
        stage.keep(HOUR, "a").await;
        stage.shelf.is_broken.store(true, Ordering::Relaxed);
        learn_of_others(&stage.engine).await.unwrap_err();
        stage.shelf.is_broken.store(false, Ordering::Relaxed);
        learn_of_others(&stage.engine).await.unwrap();
        assert_eq!(stage.submitted(), [(HOUR - 1, 1), (HOUR, 1)].into());
    }

    #[tokio::test]
    async fn somebody_who_gives_up_reading_leaves_it_to_the_next_one() {
        let stage = Stage::new(30);
        stage.keep(HOUR - 1, "a").await;
        let mut first = Box::pin(learn_of_others(&stage.engine));
        assert!(futures::poll!(&mut first).is_pending());
        let mut second = Box::pin(learn_of_others(&stage.engine));
        assert!(futures::poll!(&mut second).is_pending());
        drop(first);
        second.await.unwrap();
        assert_eq!(stage.submitted(), [(HOUR - 1, 1)].into());
    }

    #[tokio::test]
    async fn of_too_many_records_the_newest_are_read() {
        let stage = Stage::new(30);
        for hour in HOUR - 24..=HOUR {
            for server in 0..20 {
                stage.keep(hour, &format!("server-{server}")).await;
            }
        }
        learn_of_others(&stage.engine).await.unwrap();
        let of_twenty = |hours: std::ops::RangeInclusive<u64>| hours.map(|hour| (hour, 20)).collect::<BTreeMap<_, _>>();
        assert_eq!(stage.submitted(), of_twenty(HOUR - 11..=HOUR));
        // They stay the newest as time goes on.
        stage.pass(Millis::from_hours(1));
        for server in 0..20 {
            stage.keep(HOUR + 1, &format!("server-{server}")).await;
        }
        learn_of_others(&stage.engine).await.unwrap();
        assert_eq!(stage.submitted(), of_twenty(HOUR - 10..=HOUR + 1));
    }

    #[tokio::test]
    async fn the_last_minute_of_an_hour_may_be_written_after_it_was_read() {
        let stage = Stage::new(61);
        learn_of_others(&stage.engine).await.unwrap();
        stage.keep(HOUR, "a").await;
        stage.pass(Millis::from_secs(61));
        learn_of_others(&stage.engine).await.unwrap();
        assert_eq!(stage.submitted(), [(HOUR, 1)].into());
    }
}
