//! Names of settings.

use ff_core::name::{Identity, LaneId, Namespace, ViewName, WorkerInstanceId};

/// The setting of the signing keys.
pub(crate) const KEYS: &str = "keys/waitpoints";

/// The prefix of the keys of callers.
pub(crate) const ACCESS_KEYS: &str = "access-key/";

pub(crate) fn access_key(name: &Identity) -> String {
    format!("{ACCESS_KEYS}{}", escaped(name.as_str()))
}

/// The setting whose time says when a key was last used. It changes often, and what is believed of the key does not hang on it.
pub(crate) fn access_key_use(name: &Identity) -> String {
    format!("access-key-use/{}", escaped(name.as_str()))
}

/// The prefix of all lanes.
pub(crate) const LANES: &str = "lane/";

/// The prefix of the lanes of a namespace.
pub(crate) fn lanes(namespace: &Namespace) -> String {
    format!("{LANES}{}/", escaped(namespace.as_str()))
}

pub(crate) fn lane(namespace: &Namespace, lane: &LaneId) -> String {
    format!("{}{}", lanes(namespace), escaped(lane.as_str()))
}

/// The prefix of the lanes of a namespace whose names begin like this.
pub(crate) fn lanes_beginning_with(namespace: &Namespace, prefix: &str) -> String {
    format!("{}{}", lanes(namespace), escaped(prefix))
}

/// The prefix of the workers of a namespace.
pub(crate) fn workers(namespace: &Namespace) -> String {
    format!("worker/{}/", escaped(namespace.as_str()))
}

/// One process slot of a worker.
pub(crate) fn worker(namespace: &Namespace, instance: &WorkerInstanceId) -> String {
    format!("{}{}", workers(namespace), escaped(instance.as_str()))
}

/// The prefix of the views of a namespace.
pub(crate) fn views(namespace: &Namespace) -> String {
    format!("view/{}/", escaped(namespace.as_str()))
}

/// A view.
pub(crate) fn view(namespace: &Namespace, name: &ViewName) -> String {
    format!("{}{}", views(namespace), escaped(name.as_str()))
}

/// A name in which `/` stands for nothing but itself.
fn escaped(name: &str) -> String {
    name.replace('%', "%25").replace('/', "%2F")
}
