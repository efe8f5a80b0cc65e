//! What is printed, beside what a page says is printed.

/// Stands for anything within a line; a line of its own says that others may follow.
const ANYTHING: char = '…';

/// The first expected line that is not there.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Missing {
    /// Which of the block's lines, from 1.
    pub(crate) line: usize,
    pub(crate) text: String,
}

/// Whether each line of `expected` is a whole line of `printed`, in their order; other lines may stand between them. Gives where the
/// last of them ends.
pub(crate) fn follow(expected: &str, printed: &str) -> Result<usize, Missing> {
    let mut end = 0;
    for (line, number) in expected.lines().zip(1..) {
        if line.trim().chars().all(|char| char == ANYTHING) {
            continue;
        }
        let found = ends_of_lines(&printed[end..]).find(|(printed, _)| is_like(line.trim_end(), printed.trim_end()));
        let Some((_, after)) = found else {
            let text = line.to_owned();
            return Err(Missing { line: number, text });
        };
        end += after;
    }
    Ok(end)
}

/// Every line, and where it ends.
fn ends_of_lines(text: &str) -> impl Iterator<Item = (&str, usize)> {
    let mut end = 0;
    text.split_inclusive('\n').map(move |line| {
        end += line.len();
        (line, end)
    })
}

/// Whether a line is as expected.
fn is_like(expected: &str, line: &str) -> bool {
    let mut parts = expected.split(ANYTHING);
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = line.strip_prefix(first) else {
        return false;
    };
    let Some(last) = parts.next_back() else {
        return rest.is_empty();
    };
    for part in parts {
        let Some((_, after)) = rest.split_once(part) else {
            return false;
        };
        rest = after;
    }
    rest.ends_with(last)
}

#[test]
fn a_line_is_like_another_where_anything_may_stand() {
    for (expected, line) in [
        ("a", "a"),
        ("a…", "a"),
        ("…a…", "bab"),
        ("x … y … z", "x 1 y 2 z"),
        ("…", ""),
        ("\"hello …\"", "\"hello Ana\""),
        ("a…a", "aa"),
    ] {
        assert!(is_like(expected, line), "{expected} is like {line}");
    }
    for (expected, line) in [
        ("a", "ab"),
        ("a", "ba"),
        ("a…b", "a"),
        ("a…a", "a"),
        ("…a…b", "b a"),
        ("x…y…x", "x y"),
    ] {
        assert!(!is_like(expected, line), "{expected} is not like {line}");
    }
}

#[test]
fn lines_follow_each_other_with_others_between_them() {
    let printed = "zero\none\ntwo  \nthree\n";
    assert_eq!(follow("one\n…\nthree\n", printed), Ok(printed.len()));
    assert_eq!(follow("zero\n\ntwo\n", printed), Ok("zero\none\ntwo  \n".len()));
}

#[test]
fn the_first_line_that_is_missing_is_named() {
    let missing = |line, text: &str| {
        let text = text.to_owned();
        Err(Missing { line, text })
    };
    assert_eq!(follow("one\nfour\nfive\n", "one\ntwo\n"), missing(2, "four"));
    assert_eq!(follow("two\none\n", "one\ntwo\n"), missing(2, "one"));
    assert_eq!(follow("one\none\n", "one\ntwo\n"), missing(2, "one"));
    assert_eq!(follow("on\n", "one\n"), missing(1, "on"));
}
