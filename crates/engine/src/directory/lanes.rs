//! Lanes: created on first use, paused, drained and disabled.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ff_backend::settings::{Expected, Setting, SettingsOp, SettingsReply};
use ff_backend::tries::Tries;
use ff_core::command::lane::SetLaneState;
use ff_core::command::operator::Changed;
use ff_core::command::submit::LaneState;
use ff_core::fabric::Result;
use ff_core::limits::{LANES_MAX, NAMESPACES_MAX};
use ff_core::machine::lane;
use ff_core::name::{LaneId, Namespace};
use ff_core::record::Lane;
use ff_core::record::stored;

use super::{BELIEVED_FOR, names};
use crate::engine::Engine;
use crate::fault::internal;

/// How long a list of namespaces is shown before it is read again: it takes a call for each of them.
const NAMESPACES_SHOWN_FOR: Duration = Duration::from_secs(10);

/// Lanes as they were last read, by the name of their setting.
#[derive(Default)]
pub(crate) struct Lanes {
    known: Mutex<HashMap<String, (LaneState, Duration)>>,
    /// One reads, the others wait for it.
    namespaces: tokio::sync::Mutex<Option<(Arc<[Namespace]>, Duration)>>,
}

impl Lanes {
    /// Forgets the lane a setting holds.
    pub(crate) fn forget(&self, key: &str) {
        self.known().remove(key);
    }

    /// Forgets every lane.
    pub(crate) fn forget_all(&self) {
        self.known().clear();
    }

    fn known(&self) -> MutexGuard<'_, HashMap<String, (LaneState, Duration)>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a lane accepts and hands out, at most two seconds old. One nobody has used is active.
pub(crate) async fn state_of(engine: &Engine, namespace: &Namespace, lane: &LaneId) -> Result<LaneState> {
    let key = names::lane(namespace, lane);
    if let Some(state) = known_state(engine, &key) {
        return Ok(state);
    }
    let state = match engine.store().setting(SettingsOp::Get { key: key.clone() }).await? {
        SettingsReply::Found(setting) => parse(&setting)?.state,
        _ => return Ok(LaneState::default()),
    };
    learn(engine, key, state);
    Ok(state)
}

/// The same for a submission, which creates the lane on first use.
pub(crate) async fn find_or_create(engine: &Engine, namespace: &Namespace, lane: &LaneId) -> Result<LaneState> {
    let key = names::lane(namespace, lane);
    match known_state(engine, &key) {
        Some(state) => Ok(state),
        None => Ok(stored_lane(engine, namespace, lane, key).await?.0.state),
    }
}

/// Says what a lane accepts and hands out.
pub(crate) async fn set_state(engine: &Engine, command: &SetLaneState) -> Result<Changed> {
    let key = names::lane(&command.namespace, &command.lane_id);
    let mut tries = Tries::default();
    loop {
        let (before, revision) = stored_lane(engine, &command.namespace, &command.lane_id, key.clone()).await?;
        let (after, changed) = lane::set_state(&before, command.state, &engine.context(engine.store_time().await?));
        if changed == Changed::Already {
            return Ok(changed);
        }
        let put = put(key.clone(), &after, Expected::Revision(revision))?;
        if let SettingsReply::Found(_) = engine.store().setting(put).await? {
            learn(engine, key, after.state);
            return Ok(changed);
        }
        tries.again(engine.store()).await?;
    }
}

/// Every lane of a namespace that was ever used, with its state.
pub(crate) async fn all(engine: &Engine, namespace: &Namespace) -> Result<Vec<Lane>> {
    settings_of_lanes(engine, namespace).await?.iter().map(parse).collect()
}

/// The namespaces that have lanes, by name, as they were a few seconds ago.
pub(crate) async fn recent_namespaces(engine: &Engine) -> Result<Arc<[Namespace]>> {
    let mut recent = engine.shared.directory.lanes.namespaces.lock().await;
    let now = engine.host().elapsed();
    let is_recent = |at: Duration| now.saturating_sub(at) < NAMESPACES_SHOWN_FOR;
    if let Some((namespaces, _)) = recent.as_ref().filter(|(_, at)| is_recent(*at)) {
        return Ok(Arc::clone(namespaces));
    }
    let read: Arc<[Namespace]> = namespaces(engine, NAMESPACES_MAX).await?.into();
    *recent = Some((Arc::clone(&read), now));
    Ok(read)
}

/// The names of a namespace's lanes that begin like this, in order, at most `limit`.
pub(crate) async fn beginning_with(
    engine: &Engine,
    namespace: &Namespace,
    prefix: &str,
    limit: usize,
) -> Result<Vec<String>> {
    let list = SettingsOp::List {
        prefix: names::lanes_beginning_with(namespace, prefix),
        after: None,
        limit,
    };
    match engine.store().setting(list).await? {
        SettingsReply::Page(found) => found.iter().map(|lane| Ok(parse(lane)?.lane.to_string())).collect(),
        _ => Err(internal("a list of settings was answered with something else")),
    }
}

/// The namespaces that have lanes, by name, at most `limit`. Each is found by looking behind the lanes of the one before it.
pub(crate) async fn namespaces(engine: &Engine, limit: usize) -> Result<Vec<Namespace>> {
    let mut namespaces: Vec<Namespace> = Vec::new();
    while namespaces.len() < limit {
        let behind = namespaces
            .last()
            .map(|last| format!("{}{}", names::lanes(last), char::MAX));
        let list = SettingsOp::List {
            prefix: names::LANES.to_owned(),
            after: behind,
            limit: 1,
        };
        match engine.store().setting(list).await? {
            SettingsReply::Page(page) => match page.first() {
                Some(first) => namespaces.push(parse(first)?.namespace),
                None => break,
            },
            _ => return Err(internal("a list of settings was answered with something else")),
        }
    }
    Ok(namespaces)
}

/// The lane and its revision in the store, created if nobody has used it.
async fn stored_lane(engine: &Engine, namespace: &Namespace, name: &LaneId, key: String) -> Result<(Lane, u64)> {
    let mut tries = Tries::default();
    loop {
        if let SettingsReply::Found(setting) = engine.store().setting(SettingsOp::Get { key: key.clone() }).await? {
            let lane = parse(&setting)?;
            learn(engine, key, lane.state);
            return Ok((lane, setting.revision));
        }
        let others = settings_of_lanes(engine, namespace).await?.len();
        let lane = lane::create(namespace, name, others, &engine.context(engine.store_time().await?))?;
        let put = put(key.clone(), &lane, Expected::Absent)?;
        if let SettingsReply::Found(setting) = engine.store().setting(put).await? {
            learn(engine, key, lane.state);
            return Ok((lane, setting.revision));
        }
        tries.again(engine.store()).await?;
    }
}

fn known_state(engine: &Engine, key: &str) -> Option<LaneState> {
    let now = engine.host().elapsed();
    let (state, at) = engine.shared.directory.lanes.known().get(key).copied()?;
    (now.saturating_sub(at) < BELIEVED_FOR).then_some(state)
}

fn learn(engine: &Engine, key: String, state: LaneState) {
    let now = engine.host().elapsed();
    engine.shared.directory.lanes.known().insert(key, (state, now));
}

async fn settings_of_lanes(engine: &Engine, namespace: &Namespace) -> Result<Vec<Setting>> {
    let list = SettingsOp::List {
        prefix: names::lanes(namespace),
        after: None,
        limit: LANES_MAX,
    };
    match engine.store().setting(list).await? {
        SettingsReply::Page(lanes) => Ok(lanes),
        _ => Err(internal("a list of settings was answered with something else")),
    }
}

fn parse(setting: &Setting) -> Result<Lane> {
    stored::read_value(setting.value.clone()).map_err(|error| internal(&format!("{}: {error}", setting.key)))
}

fn put(key: String, lane: &Lane, expected: Expected) -> Result<SettingsOp> {
    let value = stored::write_value(lane).map_err(|error| internal(&error.to_string()))?;
    Ok(SettingsOp::Put {
        key,
        value: Some(value),
        expected,
        ttl: None,
    })
}
