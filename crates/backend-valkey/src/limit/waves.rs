//! In which order calls are asked, so that many share a call of the library and those about one limit keep theirs.

use std::collections::BTreeMap;

/// What a call does to the limit it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Only looks.
    Read,
    /// Is worked out by the library, in one step.
    Use,
    /// Is worked out by the rules from what was read, and written if nothing was written meanwhile.
    Change,
    /// Is worked out like a change, and needs more to be read than other calls leave true.
    Alone,
}

impl Kind {
    /// Whether the library alone answers it.
    pub(crate) const fn is_direct(self) -> bool {
        matches!(self, Kind::Read | Kind::Use)
    }

    /// What calls of both kinds are when one is asked right after the other; `None`: they are not asked together.
    const fn joined(self, next: Kind) -> Option<Kind> {
        match (self, next) {
            (Kind::Read, Kind::Read) => Some(Kind::Read),
            (Kind::Read | Kind::Use, Kind::Use) | (Kind::Use, Kind::Read) => Some(Kind::Use),
            (Kind::Read | Kind::Change, Kind::Change) | (Kind::Change, Kind::Read) => Some(Kind::Change),
            (Kind::Alone, _) | (_, Kind::Alone) | (Kind::Use, Kind::Change) | (Kind::Change, Kind::Use) => None,
        }
    }
}

/// Calls about one limit, to be answered in order; each with its number in the whole batch.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Chain<I, C> {
    /// Which limit; `None`: all of them.
    pub(crate) about: Option<I>,
    pub(crate) kind: Kind,
    pub(crate) calls: Vec<(usize, C)>,
}

/// Sorts calls into waves that are asked one after the other. Within a wave every limit has one chain.
pub(crate) fn waves<I: Copy + Ord, C>(calls: Vec<C>, about: impl Fn(&C) -> (Option<I>, Kind)) -> Vec<Vec<Chain<I, C>>> {
    let mut waves: Vec<Vec<Chain<I, C>>> = Vec::new();
    let mut last_chains: BTreeMap<I, (usize, usize)> = BTreeMap::new();
    let mut first_wave = 0;
    for (number, call) in calls.into_iter().enumerate() {
        let (about, kind) = about(&call);
        let last = about.and_then(|id| last_chains.get(&id).copied());
        if let Some((wave, chain)) = last {
            let chain = &mut waves[wave][chain];
            if let Some(joined) = chain.kind.joined(kind) {
                chain.kind = joined;
                chain.calls.push((number, call));
                continue;
            }
        }
        let wave = match about {
            Some(_) => last.map_or(first_wave, |(wave, _)| wave + 1),
            None => waves.len(),
        };
        waves.resize_with(waves.len().max(wave + 1), Vec::new);
        match about {
            Some(id) => {
                last_chains.insert(id, (wave, waves[wave].len()));
            }
            // What is about all limits sees every call before it and none after it.
            None => {
                last_chains.clear();
                first_wave = wave + 1;
            }
        }
        waves[wave].push(Chain {
            about,
            kind,
            calls: vec![(number, call)],
        });
    }
    waves
}

#[cfg(test)]
mod tests {
    use super::Kind::{Alone, Change, Read, Use};
    use super::*;

    type Call = (Option<u8>, Kind);

    /// The numbers of the calls, by wave and chain.
    fn sorted(calls: &[Call]) -> Vec<Vec<Vec<usize>>> {
        let numbers = |chain: Chain<u8, Call>| chain.calls.into_iter().map(|(number, _)| number).collect();
        let chains = |wave: Vec<Chain<u8, Call>>| wave.into_iter().map(numbers).collect();
        waves(calls.to_vec(), |call| *call).into_iter().map(chains).collect()
    }

    #[test]
    fn readings_are_asked_with_whatever_stands_beside_them() {
        let calls = [Read, Use, Read, Use].map(|kind| (Some(1), kind));
        assert_eq!(sorted(&calls), [[[0, 1, 2, 3]]]);
        let calls = [Read, Change, Read, Change].map(|kind| (Some(1), kind));
        assert_eq!(sorted(&calls), [[[0, 1, 2, 3]]]);
    }

    #[test]
    fn what_must_be_asked_by_itself_is() {
        let calls = [Read, Alone, Read, Alone, Alone].map(|kind| (Some(1), kind));
        assert_eq!(sorted(&calls), [[[0]], [[1]], [[2]], [[3]], [[4]]]);
    }

    #[test]
    fn calls_about_other_limits_do_not_wait() {
        let calls = [(Some(1), Alone), (Some(1), Use), (Some(2), Use), (Some(1), Use)];
        assert_eq!(sorted(&calls), [vec![vec![0], vec![2]], vec![vec![1, 3]]]);
    }

    #[test]
    fn a_call_about_all_limits_sees_what_came_before_it_only() {
        let calls = [(Some(1), Use), (None, Alone), (Some(1), Use), (Some(2), Use)];
        assert_eq!(sorted(&calls), [vec![vec![0]], vec![vec![1]], vec![vec![2], vec![3]]]);
    }
}
