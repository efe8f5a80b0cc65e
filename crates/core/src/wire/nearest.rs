//! The name somebody probably meant.

/// The one of `known` that is most like `name`, if it is like it at all.
pub(super) fn nearest<'k>(name: &str, known: &[&'k str]) -> Option<&'k str> {
    let allowed = name.chars().count().div_ceil(3).max(1);
    let near = known.iter().map(|candidate| (distance(name, candidate), *candidate));
    let best = near.min_by_key(|(distance, _)| *distance)?;
    (best.0 <= allowed).then_some(best.1)
}

/// How many letters must be put in, taken out or exchanged to make one of the other.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, letter) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, other) in to.iter().enumerate() {
            let exchanged = diagonal + usize::from(letter != *other);
            diagonal = row[j + 1];
            row[j + 1] = exchanged.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_pen_finds_its_name() {
        let known = ["lane_id", "execution_kind", "priority"];
        assert_eq!(nearest("lnae_id", &known), Some("lane_id"));
        assert_eq!(nearest("lane", &known), None);
        assert_eq!(nearest("execution_kin", &known), Some("execution_kind"));
        assert_eq!(nearest("colour", &known), None);
    }
}
