//! Views: questions that people keep under names.

use ff_backend::settings::{Expected, Setting, SettingsOp, SettingsReply};
use ff_backend::tries::Tries;
use ff_core::fabric::Result;
use ff_core::limits::VIEWS_MAX;
use ff_core::name::{Namespace, ViewName};
use ff_core::record::{SavedView, stored};

use super::names;
use crate::engine::Engine;
use crate::fault::internal;

/// Every view of a namespace, by name.
pub(crate) async fn all(engine: &Engine, namespace: &Namespace) -> Result<Vec<SavedView>> {
    let list = SettingsOp::List {
        prefix: names::views(namespace),
        after: None,
        // Two that came at the same time may be one more than there should be.
        limit: 2 * VIEWS_MAX,
    };
    match engine.store().setting(list).await? {
        SettingsReply::Page(views) => views.iter().map(parse).collect(),
        _ => Err(internal("a list of settings was answered with something else")),
    }
}

/// Decides what a view is from now on, `None`: it is gone; again if somebody else was faster. What was there comes with how many
/// others there are.
pub(crate) async fn change(
    engine: &Engine,
    namespace: &Namespace,
    name: &ViewName,
    rule: impl Fn(Option<&SavedView>, usize) -> Result<Option<SavedView>> + Send,
) -> Result<Option<SavedView>> {
    let key = names::view(namespace, name);
    let mut tries = Tries::default();
    loop {
        let views = all(engine, namespace).await?;
        let others = views.iter().filter(|view| view.name != *name).count();
        let found = match engine.store().setting(SettingsOp::Get { key: key.clone() }).await? {
            SettingsReply::Found(setting) => Some((parse(&setting)?, setting.revision)),
            _ => None,
        };
        let after = rule(found.as_ref().map(|(view, _)| view), others)?;
        if found.is_none() && after.is_none() {
            return Ok(None);
        }
        let value = after.as_ref().map(stored::write_value).transpose();
        let put = SettingsOp::Put {
            key: key.clone(),
            value: value.map_err(|error| internal(&error.to_string()))?,
            expected: found.map_or(Expected::Absent, |(_, revision)| Expected::Revision(revision)),
            ttl: None,
        };
        match engine.store().setting(put).await? {
            SettingsReply::Found(_) | SettingsReply::Absent => return Ok(after),
            SettingsReply::Conflict(_) | SettingsReply::Page(_) => tries.again(engine.store()).await?,
        }
    }
}

fn parse(setting: &Setting) -> Result<SavedView> {
    stored::read_value(setting.value.clone()).map_err(|error| internal(&format!("{}: {error}", setting.key)))
}
