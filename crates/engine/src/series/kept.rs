//! What was counted, kept in the store: a setting per process and hour, written at most once a minute and only when something was
//! counted. It outlives the process, and `others` reads it; a crash loses a minute of a chart.

use std::collections::HashMap;
use std::pin::pin;
use std::time::Duration;

use ff_backend::query::{Listing, Page};
use ff_backend::settings::{Expected, SettingsOp};
use ff_core::fabric::Result;
use ff_core::limits::SERIES_KEPT_FOR;
use ff_core::name::Namespace;
use ff_core::time::{Duration as Millis, Timestamp};
use futures::future::select;
use serde::{Deserialize, Serialize};

use super::track::{Track, TrackName};
use super::tracks::Tracks;
use super::{MINUTES_KEPT, Minutes, minute_of};
use crate::engine::Engine;
use crate::fault::internal;
use crate::mint;

/// How often it is written at most, and how often that of others is read.
pub(super) const EVERY: Duration = Duration::from_secs(60);
/// How long a record stays, beyond the time that is asked for.
const SPARE: Millis = Millis::from_hours(1);
/// Bytes of one record; what does not fit is added up.
const RECORD_BYTES_MAX: usize = 64 * 1024;
/// Namespaces whose lanes are looked at in a minute in which something happened.
const LOOKED_AT_MAX: usize = 20;
/// What the names of the settings begin with.
const PREFIX: &str = "stats/";

/// One process's record of an hour.
#[derive(Serialize, Deserialize)]
pub(super) struct Hour {
    tracks: Vec<Kept>,
}

impl From<Hour> for Tracks {
    fn from(hour: Hour) -> Self {
        let mut tracks = Tracks::default();
        for Kept { namespace, of, at } in hour.tracks {
            let name = of.clone();
            tracks.entry(&namespace, of).merge(&at, 0, &name);
        }
        tracks
    }
}

#[derive(Serialize, Deserialize)]
struct Kept {
    namespace: Namespace,
    of: TrackName,
    at: Track,
}

/// What the records of an hour are called.
pub(super) fn prefix(hour: u64) -> String {
    format!("{PREFIX}{hour}/")
}

/// Of which hour a record is, and whose.
pub(super) fn hour_and_name(key: &str) -> Option<(u64, &str)> {
    let (hour, name) = key.strip_prefix(PREFIX)?.split_once('/')?;
    Some((hour.parse().ok()?, name))
}

/// Keeps what is counted until the engine stops.
pub(crate) async fn keep(engine: &Engine) {
    let minutes = &engine.shared.minutes;
    while !engine.is_stopping() {
        select(pin!(engine.stopped()), pin!(minutes.counted.notified())).await;
        if engine.is_stopping() && minutes.state().unkept.is_empty() {
            return;
        }
        select(pin!(engine.stopped()), engine.host().sleep(EVERY)).await;
        if let Err(refusal) = keep_now(engine).await {
            tracing::debug!(%refusal, "what was counted could not be kept; it is tried again in a minute");
        }
    }
}

async fn keep_now(engine: &Engine) -> Result<()> {
    if engine.shared.minutes.state().unkept.is_empty() {
        return Ok(());
    }
    let now = engine.store_time().await?;
    if !engine.is_stopping() {
        look_at_lanes(engine, now).await?;
    }
    let hours = std::mem::take(&mut engine.shared.minutes.state().unkept);
    for hour in hours.iter().rev().take(2) {
        let written = write(engine, *hour).await;
        if written.is_err() {
            engine.shared.minutes.state().unkept.extend(hours);
            return written;
        }
    }
    engine
        .shared
        .minutes
        .state()
        .forget_before(minute_of(now).saturating_sub(MINUTES_KEPT));
    Ok(())
}

/// Notes what stands in the lanes of namespaces in which something happened.
async fn look_at_lanes(engine: &Engine, now: Timestamp) -> Result<()> {
    let minutes = &engine.shared.minutes;
    let since = minute_of(now).saturating_sub(1);
    let mut busy: Vec<Namespace> = {
        let state = minutes.state();
        let lately = state.own.all().filter(|(_, name, track)| {
            matches!(name, TrackName::Lane(_)) && track.last().is_some_and(|minute| minute >= since)
        });
        lately.map(|(namespace, _, _)| namespace.clone()).collect()
    };
    busy.sort_unstable();
    busy.dedup();
    for namespace in busy.iter().take(LOOKED_AT_MAX) {
        let lanes = engine
            .store()
            .list_all(Listing::Lanes(namespace.clone()), Page::lanes)
            .await?;
        minutes.saw(namespace, &lanes, now);
    }
    Ok(())
}

async fn write(engine: &Engine, hour: u64) -> Result<()> {
    let minutes = &engine.shared.minutes;
    let own_name = minutes
        .own_name
        .get_or_init(|| mint::secret(engine.host()).simple().to_string());
    let put = SettingsOp::Put {
        key: format!("{}{own_name}", prefix(hour)),
        value: Some(fitting(of_hour(minutes, hour))?),
        expected: Expected::Anything,
        ttl: Some(SERIES_KEPT_FOR + SPARE),
    };
    engine.store().setting(put).await?;
    Ok(())
}

fn of_hour(minutes: &Minutes, hour: u64) -> Vec<Kept> {
    let names: Vec<(Namespace, TrackName)> = {
        let state = minutes.state();
        let all = state.own.all();
        all.map(|(namespace, name, _)| (namespace.clone(), name.clone()))
            .collect()
    };
    let kept = names.into_iter().filter_map(|(namespace, of)| {
        let at = minutes.state().own.get(&namespace, &of)?.of_hour(hour);
        Some(Kept { namespace, of, at })
    });
    kept.filter(|kept| !kept.at.is_empty()).collect()
}

/// A record of what fits; the smallest of the rest is added up by class.
fn fitting(kept: Vec<Kept>) -> Result<serde_json::Value> {
    let size = |kept: &Kept| serde_json::to_string(kept).map_or(usize::MAX, |text| text.len() + 1);
    let mut sized: Vec<(usize, Kept)> = kept.into_iter().map(|kept| (size(&kept), kept)).collect();
    sized.sort_by_key(|(size, _)| std::cmp::Reverse(*size));
    let (mut left, mut tracks) = (RECORD_BYTES_MAX * 3 / 4, Vec::new());
    let mut others: HashMap<(Namespace, TrackName), Track> = HashMap::new();
    for (size, kept) in sized {
        if size <= left {
            left -= size;
            tracks.push(kept);
        } else {
            let of = kept.of.other();
            let other = others.entry((kept.namespace, of.clone())).or_default();
            other.merge(&kept.at, 0, &of);
        }
    }
    let mut left = RECORD_BYTES_MAX / 4 - "{\"tracks\":[]}".len();
    for ((namespace, of), at) in others {
        let other = Kept { namespace, of, at };
        if let Some(less) = left.checked_sub(size(&other)) {
            left = less;
            tracks.push(other);
        }
    }
    serde_json::to_value(Hour { tracks }).map_err(|_| internal("what was counted has no JSON form"))
}

/// Only so much text is a record, whatever was counted.
#[cfg(test)]
mod tests {
    use ff_core::name::LaneId;

    use super::*;

    #[test]
    fn a_record_has_at_most_64_kib_and_loses_nothing_of_the_sum() {
        let lane = |number: usize| TrackName::Lane(LaneId::parse(format!("lane-{number:03}")).unwrap());
        let kept = (0..500).map(|number| {
            let mut at = Track::default();
            for minute in 0..60 {
                at.add(minute, 11, &[(0, 1), (10, 123_456)]);
            }
            Kept {
                namespace: Namespace::default_namespace(),
                of: lane(number),
                at,
            }
        });
        let value = fitting(kept.collect()).unwrap();
        assert!(value.to_string().len() <= RECORD_BYTES_MAX);
        let hour: Hour = serde_json::from_value(value).unwrap();
        let submitted = |kept: &Kept| (0..60).filter_map(|minute| kept.at.get(minute, 0)).sum::<u64>();
        assert_eq!(hour.tracks.iter().map(submitted).sum::<u64>(), 500 * 60);
        assert!(hour.tracks.len() > 5 && hour.tracks.iter().any(|kept| kept.of.is_other()));
        assert_eq!(hour_and_name("stats/495000/abc"), Some((495_000, "abc")));
        assert_eq!(hour_and_name("stats/abc/495000"), None);
    }
}
