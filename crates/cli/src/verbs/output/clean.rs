//! Text of other people, for a terminal.

/// The text on one line and without what a terminal would obey.
pub(crate) fn clean(text: &str) -> String {
    let shown = |c: char| match c {
        '\n' | '\t' | '\r' => ' ',
        c if c.is_control() => '\u{fffd}',
        c => c,
    };
    text.chars().map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_worker_says_cannot_move_the_cursor() {
        assert_eq!(clean("a\u{1b}[2Jb\nc\u{9b}"), "a\u{fffd}[2Jb c\u{fffd}");
    }
}
