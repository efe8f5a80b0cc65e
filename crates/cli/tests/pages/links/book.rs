//! The table of contents of the book.

use std::collections::BTreeSet;

use super::markdown::links;

pub(crate) const SUMMARY: &str = "docs/SUMMARY.md";
const FOLDER: &str = "docs/";

/// The pages that it lists, from the root of the repository.
pub(crate) fn pages(summary: &str) -> Vec<String> {
    links(summary)
        .into_iter()
        .map(|link| format!("{FOLDER}{}", link.to))
        .collect()
}

/// What is wrong with it: every page stands in it once.
pub(crate) fn wrong(summary: &str, tree: &BTreeSet<String>) -> Vec<String> {
    let mut listed = BTreeSet::new();
    let mut wrong = Vec::new();
    for page in pages(summary) {
        if !tree.contains(&page) {
            wrong.push(format!("{SUMMARY} lists {page}, which is not there"));
        }
        if !listed.insert(page.clone()) {
            wrong.push(format!("{SUMMARY} lists {page} twice"));
        }
    }
    let pages = tree.iter().filter(|page| page.starts_with(FOLDER) && *page != SUMMARY);
    let missing = pages.filter(|page| !listed.contains(*page));
    wrong.extend(missing.map(|page| format!("{SUMMARY} does not list {page}")));
    wrong
}

#[test]
fn a_page_that_is_missing_gone_or_listed_twice_is_noticed() {
    let tree = ["README.md", SUMMARY, "docs/a.md", "docs/b.md"]
        .map(str::to_owned)
        .into();
    assert_eq!(wrong("- [A](a.md)\n- [B](b.md)\n", &tree), Vec::<String>::new());
    let expected = [
        "docs/SUMMARY.md lists docs/c.md, which is not there",
        "docs/SUMMARY.md lists docs/a.md twice",
        "docs/SUMMARY.md does not list docs/b.md",
    ];
    assert_eq!(wrong("- [A](a.md)\n- [C](c.md)\n- [A](a.md)\n", &tree), expected);
}
