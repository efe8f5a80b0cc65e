//! Many tracks, found by their namespace and by what they are of.

use std::collections::{BTreeMap, HashMap};

use ff_core::id::BudgetId;
use ff_core::name::Namespace;

use super::track::{Track, TrackName};

/// Tracks that are asked for together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Group {
    /// What happened in lanes.
    Lanes,
    /// What stood in lanes.
    Gauges,
    /// What happened to executions, by kind.
    Kinds,
    /// What a budget was charged.
    Spent(BudgetId),
}

/// Which tracks of a namespace are asked for.
#[derive(Clone, Debug)]
pub(crate) enum Wanted {
    All(Group),
    One(TrackName),
}

/// Tracks by namespace.
#[derive(Default)]
pub(super) struct Tracks(HashMap<Namespace, HashMap<Group, BTreeMap<TrackName, Track>>>);

impl Tracks {
    pub(super) fn get(&self, namespace: &Namespace, name: &TrackName) -> Option<&Track> {
        self.0.get(namespace)?.get(&name.group())?.get(name)
    }

    /// The track of that name, which is made if there is none.
    pub(super) fn entry(&mut self, namespace: &Namespace, name: TrackName) -> &mut Track {
        let groups = self.0.entry(namespace.clone()).or_default();
        groups.entry(name.group()).or_default().entry(name).or_default()
    }

    /// What is asked for, by name.
    pub(super) fn find(&self, namespace: &Namespace, wanted: &Wanted) -> impl Iterator<Item = (&TrackName, &Track)> {
        let (group, one) = match wanted {
            Wanted::All(group) => (*group, None),
            Wanted::One(name) => (name.group(), Some(name)),
        };
        let group = self.0.get(namespace).and_then(|groups| groups.get(&group));
        let all = group.filter(|_| one.is_none()).into_iter().flatten();
        let one = group.zip(one).and_then(|(group, name)| group.get_key_value(name));
        all.chain(one)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = (&Namespace, &TrackName, &Track)> {
        self.0.iter().flat_map(|(namespace, groups)| {
            let tracks = groups.values().flatten();
            tracks.map(move |(name, track)| (namespace, name, track))
        })
    }

    pub(super) fn forget_before(&mut self, minute: u64) {
        self.0.retain(|_, groups| {
            groups.retain(|_, tracks| {
                tracks.retain(|_, track| {
                    track.forget_before(minute);
                    !track.is_empty()
                });
                !tracks.is_empty()
            });
            !groups.is_empty()
        });
    }
}

#[cfg(test)]
mod tests {
    use ff_core::name::{Dimension, ExecutionKind, LaneId};
    use uuid::Uuid;

    use super::*;

    #[test]
    fn only_what_is_asked_for_is_found() {
        let (own, other) = (Namespace::default_namespace(), Namespace::parse("other").unwrap());
        let lane = |name: &str| LaneId::parse(name).unwrap();
        let spent = |budget: u128, kind: &str| TrackName::Spent {
            budget: BudgetId::from_uuid(Uuid::from_u128(budget)),
            dimension: Dimension::parse("tokens").unwrap(),
            kind: Some(ExecutionKind::parse(kind).unwrap()),
        };
        let mut tracks = Tracks::default();
        for name in [
            TrackName::Lane(lane("b")),
            TrackName::Lane(lane("a")),
            TrackName::Gauge(lane("a")),
            TrackName::Kind(ExecutionKind::parse("a").unwrap()),
            spent(1, "a"),
            spent(1, "b"),
            spent(2, "a"),
        ] {
            tracks.entry(&own, name).add(7, 1, &[(0, 1)]);
        }
        tracks.entry(&other, TrackName::Lane(lane("a"))).add(9, 1, &[(0, 1)]);
        let found = |namespace: &Namespace, wanted: Wanted| -> Vec<TrackName> {
            let found = tracks.find(namespace, &wanted);
            found.map(|(name, _)| name.clone()).collect()
        };
        assert_eq!(
            found(&own, Wanted::All(Group::Lanes)),
            [TrackName::Lane(lane("a")), TrackName::Lane(lane("b"))]
        );
        assert_eq!(found(&other, Wanted::All(Group::Lanes)), [TrackName::Lane(lane("a"))]);
        let one = TrackName::Gauge(lane("a"));
        assert_eq!(found(&own, Wanted::One(one.clone())), std::slice::from_ref(&one));
        assert!(found(&other, Wanted::One(one)).is_empty());
        let budget = BudgetId::from_uuid(Uuid::from_u128(1));
        assert_eq!(
            found(&own, Wanted::All(Group::Spent(budget))),
            [spent(1, "a"), spent(1, "b")]
        );
        assert_eq!(found(&own, Wanted::All(Group::Kinds)).len(), 1);
        tracks.forget_before(8);
        assert_eq!(tracks.all().count(), 1);
        assert!(tracks.get(&other, &TrackName::Lane(lane("a"))).is_some());
    }
}
