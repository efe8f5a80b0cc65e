//! Usage on its way to a budget.

use std::collections::BTreeMap;

use crate::id::EffectId;
use crate::limits::DEDUP_WINDOW_DEFAULT;
use crate::name::Dimension;
use crate::record::UsageIdentity;
use crate::time::Duration;

/// Usage that arrives at a budget.
#[derive(Clone, Debug, PartialEq)]
pub struct UsageReport {
    /// How much, by dimension.
    pub deltas: BTreeMap<Dimension, u64>,
    /// Tells repetitions; absent: every call counts.
    pub identity: Option<UsageIdentity>,
    /// How long a repetition is recognised, from the first use.
    pub dedup_window: Duration,
    /// The effect that carries it, when it comes from an outbox: sent again, it is no repetition but the same report.
    pub effect_id: Option<EffectId>,
}

impl UsageReport {
    /// A report that no repetition can be told of.
    pub fn new(deltas: BTreeMap<Dimension, u64>) -> Self {
        Self {
            deltas,
            identity: None,
            dedup_window: DEDUP_WINDOW_DEFAULT,
            effect_id: None,
        }
    }

    /// Everything it may be recognised by, and for how long. An effect is remembered for a day, because it may be sent
    /// again; where its identity is remembered as long, that is enough to know the effect by.
    pub fn names(&self) -> impl Iterator<Item = (UsageIdentity, Duration)> {
        let identity = self.identity.clone().map(|identity| (identity, self.dedup_window));
        let is_enough = identity.is_some() && self.dedup_window >= DEDUP_WINDOW_DEFAULT;
        let effect = self.effect_id.filter(|_| !is_enough);
        let effect = effect.map(|id| (UsageIdentity::Effect(id), DEDUP_WINDOW_DEFAULT));
        identity.into_iter().chain(effect)
    }

    /// The same report with something that tells repetitions.
    #[must_use]
    pub fn identified_by(self, identity: UsageIdentity) -> Self {
        let identity = Some(identity);
        Self { identity, ..self }
    }
}
