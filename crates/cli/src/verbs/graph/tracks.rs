//! Where links run between two layers. Links with the same ends on the right run together, as one net: out of their sources to a
//! vertical track, along it, and from there to their targets.

use std::collections::{BTreeMap, BTreeSet};

/// Links that run together.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Net {
    /// Rows it comes from.
    pub(super) sources: BTreeSet<usize>,
    /// Rows it goes to.
    pub(super) targets: BTreeSet<usize>,
    /// Its track; none if it goes straight on.
    pub(super) track: Option<usize>,
}

impl Net {
    fn is_straight(&self) -> bool {
        self.sources == self.targets && self.sources.len() == 1
    }

    /// Whether it turns at this row.
    pub(super) fn turns_at(&self, row: usize) -> bool {
        self.sources.contains(&row) || self.targets.contains(&row)
    }

    /// Its first and last row.
    pub(super) fn span(&self) -> (usize, usize) {
        let rows = || self.sources.iter().chain(&self.targets).copied();
        (rows().min().unwrap_or(0), rows().max().unwrap_or(0))
    }

    fn overlaps(&self, other: &Self) -> bool {
        let ((first, last), (other_first, other_last)) = (self.span(), other.span());
        first <= other_last && other_first <= last
    }

    /// Whether its track must be left of the other's: a line out of one of its sources would otherwise run into the line to a
    /// target that is not its own.
    fn is_left_of(&self, other: &Self) -> bool {
        self.sources
            .iter()
            .any(|row| other.targets.contains(row) && !self.targets.contains(row))
    }
}

/// The nets between two layers whose items are linked from row to row, and how many tracks they need.
pub(super) fn assign(links: &[(usize, usize)]) -> (Vec<Net>, usize) {
    let mut targets: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for (from, to) in links {
        targets.entry(*from).or_default().insert(*to);
    }
    let mut sources: BTreeMap<BTreeSet<usize>, BTreeSet<usize>> = BTreeMap::new();
    for (from, to) in targets {
        sources.entry(to).or_default().insert(from);
    }
    let nets = sources.into_iter().map(|(targets, sources)| Net {
        sources,
        targets,
        track: None,
    });
    let mut waiting: Vec<Net> = nets.collect();
    let mut placed: Vec<Net> = Vec::new();
    let mut tracks = 0;
    while !waiting.is_empty() {
        // Where nets must be left of each other, one of them has to give way.
        let is_free = |net: &Net| !waiting.iter().any(|other| other != net && other.is_left_of(net));
        let next = waiting.iter().position(is_free).unwrap_or(0);
        let mut net = waiting.swap_remove(next);
        if !net.is_straight() {
            let track = first_free(&net, &placed);
            tracks = tracks.max(track + 1);
            net.track = Some(track);
        }
        placed.push(net);
    }
    (placed, tracks)
}

fn first_free(net: &Net, placed: &[Net]) -> usize {
    let left = placed
        .iter()
        .filter(|other| other.is_left_of(net))
        .filter_map(|other| other.track);
    let mut track = left.max().map_or(0, |track| track + 1);
    while placed
        .iter()
        .any(|other| other.track == Some(track) && other.overlaps(net))
    {
        track += 1;
    }
    track
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_to_the_same_place_runs_together() {
        let (nets, tracks) = assign(&[(0, 1), (1, 1), (2, 1)]);
        assert_eq!((nets.len(), tracks), (1, 1));
        let (nets, tracks) = assign(&[(0, 0), (1, 1)]);
        assert!(tracks == 0 && nets.iter().all(|net| net.track.is_none()));
    }

    #[test]
    fn lines_that_must_not_touch_have_tracks_of_their_own() {
        // Row 0 goes down to 1, and row 1 up to 0.
        let (nets, tracks) = assign(&[(0, 1), (1, 0)]);
        assert_eq!((nets.len(), tracks), (2, 2));
        // Apart from each other they share one.
        assert_eq!(assign(&[(0, 1), (3, 4)]).1, 1);
    }
}
