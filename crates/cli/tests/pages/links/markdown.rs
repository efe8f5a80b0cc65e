//! What links to and from a page.

use std::collections::{BTreeSet, HashMap};

use crate::fences;

/// A link as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    pub(crate) line: usize,
    pub(crate) to: String,
}

/// The lines of a page that are not code, each with its number.
fn prose(page: &str) -> impl Iterator<Item = (usize, &str)> {
    let blocks = fences::blocks(page);
    let lines = (1..).zip(page.lines());
    lines.filter(move |(number, _)| !blocks.iter().any(|block| (block.line..=block.last).contains(number)))
}

/// Every link of a page: `[text](to)`, `![text](to)`, `[name]: to`, `<to>`, `href="to"`, `src="to"`.
pub(crate) fn links(page: &str) -> Vec<Link> {
    let mut links = Vec::new();
    for (line, text) in prose(page) {
        let text = without_code(text);
        let found = behind(&text, "](", ')')
            .chain(defined(&text))
            .chain(behind(&text, "<", '>').filter(|to| to.contains("://")))
            .chain(behind(&text, "href=\"", '"'))
            .chain(behind(&text, "src=\"", '"'));
        links.extend(found.map(|to| Link {
            line,
            to: to.trim_matches(['<', '>']).to_owned(),
        }));
    }
    links
}

/// Whatever stands between these, up to a space: a title may follow.
fn behind<'text>(text: &'text str, begin: &'static str, end: char) -> impl Iterator<Item = &'text str> {
    let parts = text.split(begin).skip(1);
    parts.filter_map(move |part| Some(part.split_once(end)?.0.split_whitespace().next().unwrap_or("")))
}

/// `[name]: to`
fn defined(text: &str) -> Option<&str> {
    let (name, to) = text.strip_prefix('[')?.split_once("]: ")?;
    let is_link = !name.contains(['[', ']']) && !name.starts_with('^');
    to.split_whitespace().next().filter(|_| is_link)
}

/// A line with spaces where it has code.
fn without_code(line: &str) -> String {
    let mut text = String::new();
    let mut rest = line;
    while let Some(start) = rest.find('`') {
        let (before, code) = rest.split_at(start);
        let ticks = &code[..code.len() - code.trim_start_matches('`').len()];
        let inner = &code[ticks.len()..];
        text += before;
        match inner.find(ticks) {
            Some(end) => {
                text.push(' ');
                rest = &inner[end + ticks.len()..];
            }
            None => {
                text += ticks;
                rest = inner;
            }
        }
    }
    text + rest
}

/// What can stand behind `#` in a link to a page: its headings as code hosts and the book name them, and what is named by hand.
pub(crate) fn anchors(page: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    let mut seen: HashMap<String, usize> = HashMap::new();
    for (_, line) in prose(page) {
        if let Some(heading) = heading(line) {
            let slug = slug(heading);
            let times = seen.entry(slug.clone()).or_default();
            anchors.insert(if *times == 0 { slug } else { format!("{slug}-{times}") });
            *times += 1;
        }
        let text = without_code(line);
        let named = behind(&text, "id=\"", '"').chain(behind(&text, "name=\"", '"'));
        anchors.extend(named.map(str::to_owned));
    }
    anchors
}

fn heading(line: &str) -> Option<&str> {
    let text = line.trim_start_matches('#');
    let depth = line.len() - text.len();
    let text = text.strip_prefix(' ').filter(|_| (1..=6).contains(&depth))?;
    Some(text.trim().trim_end_matches('#').trim_end())
}

/// A heading as an anchor: its letters and digits in lower case, `_` and `-`, and `-` for each space.
fn slug(heading: &str) -> String {
    let shown = without_targets(heading);
    let kept = shown.chars().filter_map(|char| match char {
        ' ' | '-' => Some('-'),
        '_' => Some('_'),
        _ => char.is_alphanumeric().then_some(char),
    });
    kept.flat_map(char::to_lowercase).collect()
}

/// `[text](to)` shows its text.
fn without_targets(heading: &str) -> String {
    let mut parts = heading.split("](");
    let mut shown = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        shown += part.split_once(')').map_or(part, |(_, rest)| rest);
    }
    shown
}

#[test]
fn links_are_found_where_they_are_shown() {
    let page = "# T\n[a](b.md) and [`c`](d.md#e \"title\"), ![i](i.png)\n\n[f]: g.md\n`[no](code.md)` ``[n`o](code.md)`` [y](y.md)\n```sh\n[no](block.md)\n```\n\
                <https://example.org> <b>\n<a href=\"h.md\">h</a> <img src=\"i.png\">\n[e]()\n[un`closed](z.md)\n";
    let found: Vec<_> = links(page).into_iter().map(|link| (link.line, link.to)).collect();
    let link = |line, to: &str| (line, to.to_owned());
    let expected = [
        link(2, "b.md"),
        link(2, "d.md#e"),
        link(2, "i.png"),
        link(4, "g.md"),
        link(5, "y.md"),
        link(9, "https://example.org"),
        link(10, "h.md"),
        link(10, "i.png"),
        link(11, ""),
        link(12, "z.md"),
    ];
    assert_eq!(found, expected);
}

#[test]
fn headings_are_anchors() {
    let page = "# The Rust SDK\n## Tasks\n## Tasks\n### `ff serve`: what, and why?\n## A [link](to.md) in it\n## lease_expired ##\n## Über – uns\n\
                #no\n```\n# code\n```\n<a id=\"by-hand\"></a>\n`id=\"no\"`\n";
    let expected = [
        "the-rust-sdk",
        "tasks",
        "tasks-1",
        "ff-serve-what-and-why",
        "a-link-in-it",
        "lease_expired",
        "über--uns",
        "by-hand",
    ];
    assert_eq!(anchors(page), expected.map(str::to_owned).into());
}
