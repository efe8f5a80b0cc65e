//! names, and the kinds and categories that this process has seen: it remembers them, so that a menu costs no look at the store.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ff_core::fabric::Result;
use ff_core::limits::NAMES_MAX;
use ff_core::name::{Category, ExecutionKind, Namespace};
use ff_core::record::Execution;
use ff_core::view::{ListNames, Names, NamesOf, last_category};

use crate::directory::lanes;
use crate::engine::Engine;

/// Namespaces whose names are remembered.
const NAMESPACES_MAX: usize = 1_000;
/// Kinds, and categories, that are remembered of one namespace.
const REMEMBERED_MAX: usize = 500;

pub(crate) async fn names(engine: &Engine, request: ListNames) -> Result<Names> {
    let ListNames { namespace, of, prefix } = request;
    engine.check_namespace(&namespace)?;
    let items = match of {
        NamesOf::Lane => lanes::beginning_with(engine, &namespace, &prefix, NAMES_MAX).await?,
        NamesOf::Kind => engine.shared.names_seen.kinds(&namespace, &prefix, NAMES_MAX),
        NamesOf::Category => engine.shared.names_seen.categories(&namespace, &prefix, NAMES_MAX),
    };
    Ok(Names { items })
}

/// Names by tenant.
#[derive(Default)]
pub(crate) struct NamesSeen {
    by_namespace: Mutex<BTreeMap<Namespace, OfNamespace>>,
}

#[derive(Default)]
struct OfNamespace {
    kinds: BTreeSet<ExecutionKind>,
    categories: BTreeSet<Category>,
}

impl NamesSeen {
    /// Remembers the names of an execution.
    pub(crate) fn note(&self, execution: &Execution) {
        let definition = &execution.definition;
        let mut all = self.all();
        if !all.contains_key(&definition.namespace) {
            if all.len() >= NAMESPACES_MAX {
                return;
            }
            all.insert(definition.namespace.clone(), OfNamespace::default());
        }
        if let Some(seen) = all.get_mut(&definition.namespace) {
            remember(&mut seen.kinds, &definition.kind);
            if let Some(category) = last_category(execution) {
                remember(&mut seen.categories, category);
            }
        }
    }

    /// The kinds that begin like this, by name.
    pub(super) fn kinds(&self, namespace: &Namespace, prefix: &str, limit: usize) -> Vec<String> {
        let all = self.all();
        let kinds = all.get(namespace).map(|seen| seen.kinds.iter());
        beginning_with(kinds.into_iter().flatten().map(ExecutionKind::as_str), prefix, limit)
    }

    fn categories(&self, namespace: &Namespace, prefix: &str, limit: usize) -> Vec<String> {
        let all = self.all();
        let categories = all.get(namespace).map(|seen| seen.categories.iter());
        beginning_with(categories.into_iter().flatten().map(Category::as_str), prefix, limit)
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<Namespace, OfNamespace>> {
        self.by_namespace.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn remember<T: Clone + Ord>(names: &mut BTreeSet<T>, name: &T) {
    if names.len() < REMEMBERED_MAX && !names.contains(name) {
        names.insert(name.clone());
    }
}

fn beginning_with<'n>(names: impl Iterator<Item = &'n str>, prefix: &str, limit: usize) -> Vec<String> {
    let fitting = names.filter(|name| name.starts_with(prefix));
    fitting.take(limit).map(str::to_owned).collect()
}
