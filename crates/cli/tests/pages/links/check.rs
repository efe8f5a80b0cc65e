//! Where links lead.

use std::collections::{BTreeMap, BTreeSet};

use super::book;
use super::markdown::{Link, anchors, links};

/// The folder that the book is made of.
const BOOK: &str = "docs/";
/// What stands beside the book, for its links: these files are copied.
const BESIDE: &str = "examples/";

/// Pages, and what they can link to.
pub(crate) struct Tree {
    pages: BTreeMap<String, String>,
    files: BTreeSet<String>,
}

impl Tree {
    pub(crate) const fn new(pages: BTreeMap<String, String>, files: BTreeSet<String>) -> Self {
        Self { pages, files }
    }

    /// Every link that leads nowhere, with its place and why.
    pub(crate) fn broken(&self) -> Vec<String> {
        let in_book = self.pages.get(book::SUMMARY).map(|summary| book::pages(summary));
        let in_book: BTreeSet<String> = in_book.into_iter().flatten().collect();
        let mut broken = Vec::new();
        for (path, text) in &self.pages {
            for Link { line, to } in links(text) {
                if let Err(why) = self.follow(path, &to, &in_book) {
                    broken.push(format!("{path}:{line}: {to} {why}"));
                }
            }
        }
        broken
    }

    fn follow(&self, page: &str, to: &str, in_book: &BTreeSet<String>) -> Result<(), String> {
        if is_elsewhere(to) {
            return Ok(());
        }
        let (path, anchor) = to
            .split_once('#')
            .map_or((to, None), |(path, anchor)| (path, Some(anchor)));
        if path.is_empty() && anchor.is_none() {
            return Err("is empty".to_owned());
        }
        let target = match path {
            "" => page.to_owned(),
            path => resolved(page, path)?,
        };
        if !self.files.contains(&target) {
            return Err(format!("leads to {target}, which is not there"));
        }
        if page.starts_with(BOOK) && target != page {
            self.is_in_book(&target, in_book)?;
        }
        let Some(anchor) = anchor else { return Ok(()) };
        let Some(text) = self.pages.get(&target) else {
            return Err(format!("names a place in {target}, which has no headings"));
        };
        match anchors(text).contains(anchor) {
            true => Ok(()),
            false => Err(format!("names a place that {target} does not have")),
        }
    }

    /// Whether a link of the book leads somewhere in it.
    fn is_in_book(&self, target: &str, in_book: &BTreeSet<String>) -> Result<(), String> {
        let is_page = self.pages.contains_key(target);
        let is_folder = self
            .files
            .range(format!("{target}/")..)
            .next()
            .is_some_and(|file| file.starts_with(&format!("{target}/")));
        match target {
            _ if is_folder => Err("leads to a folder, which the book cannot show: link to a file".to_owned()),
            _ if is_page && target.starts_with(BOOK) => match in_book.contains(target) {
                true => Ok(()),
                false => Err(format!("leads to a page that is not in {}", book::SUMMARY)),
            },
            _ if target.starts_with(BOOK) || (target.starts_with(BESIDE) && !is_page) => Ok(()),
            _ => Err(format!("leads out of the book: name it as `{target}`, without a link")),
        }
    }
}

/// Whether a link leads out of the repository, by a scheme.
fn is_elsewhere(to: &str) -> bool {
    ["https://", "http://", "mailto:"]
        .iter()
        .any(|scheme| to.starts_with(scheme))
}

/// A path from the root of the repository.
fn resolved(page: &str, path: &str) -> Result<String, String> {
    if path.starts_with('/') || path.contains("://") {
        return Err("is no relative link".to_owned());
    }
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in path.trim_end_matches('/').split('/') {
        match part {
            "." => {}
            ".." => drop(parts.pop().ok_or("leads out of the repository")?),
            part => parts.push(part),
        }
    }
    Ok(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUMMARY: &str = "# Summary\n\n[Start](README.md)\n\n- [A](how-to/a.md)\n- [B](reference/b.md)\n";

    /// What is broken in a tree with one more page.
    fn broken(path: &str, text: &str) -> Vec<String> {
        let pages = [
            ("README.md", "# Top\n## Sub\n"),
            (book::SUMMARY, SUMMARY),
            ("docs/README.md", ""),
            ("docs/how-to/a.md", "# A\n"),
            ("docs/how-to/hidden.md", "# H\n"),
            ("docs/reference/b.md", "# B\n## One thing\n"),
            ("examples/README.md", ""),
            (path, text),
        ];
        let pages: BTreeMap<String, String> = pages.map(|(path, text)| (path.to_owned(), text.to_owned())).into();
        let others = [
            "examples/hello.rs",
            "docs/how-to/dash.json",
            "examples",
            "docs",
            "docs/how-to",
        ]
        .map(str::to_owned);
        let files = pages.keys().cloned().chain(others).collect();
        Tree::new(pages, files).broken()
    }

    fn is_broken(path: &str, to: &str, why: &str) {
        let broken = broken(path, &format!("text\n[a]({to})\n"));
        assert_eq!(broken.len(), 1, "{to}: {broken:?}");
        assert!(
            broken[0].starts_with(&format!("{path}:2: {to} ")) && broken[0].contains(why),
            "{broken:?}"
        );
    }

    #[test]
    fn links_that_lead_somewhere() {
        let text = "[a](b.md) [a](../how-to/a.md) [a](b.md#one-thing) [a](#here) [a](../how-to/dash.json)\n[a](../../examples/hello.rs) [a](https://example.org/x)\n# Here\n";
        assert_eq!(broken("docs/reference/c.md", text), Vec::<String>::new());
        let text = "[a](README.md#sub) [a](./docs/how-to/hidden.md) [a](examples/) [a](docs)\n";
        assert_eq!(broken("CONTRIBUTING.md", text), Vec::<String>::new());
    }

    #[test]
    fn a_file_that_is_not_there() {
        is_broken(
            "docs/how-to/c.md",
            "b.md",
            "leads to docs/how-to/b.md, which is not there",
        );
        is_broken("CHANGELOG.md", "docs/nothing/", "not there");
        is_broken("CHANGELOG.md", "", "is empty");
    }

    #[test]
    fn an_anchor_that_is_not_there() {
        is_broken(
            "CHANGELOG.md",
            "README.md#sup",
            "names a place that README.md does not have",
        );
        is_broken("CHANGELOG.md", "#top", "names a place that CHANGELOG.md does not have");
        is_broken("CHANGELOG.md", "examples/hello.rs#L3", "has no headings");
    }

    #[test]
    fn a_path_that_is_not_of_the_tree() {
        is_broken("CHANGELOG.md", "/docs/README.md", "is no relative link");
        is_broken("CHANGELOG.md", "file:///etc/passwd", "is no relative link");
        is_broken("docs/how-to/c.md", "../../../README.md", "leads out of the repository");
    }

    #[test]
    fn a_link_of_the_book_that_the_book_cannot_follow() {
        is_broken("docs/how-to/c.md", "hidden.md", "is not in docs/SUMMARY.md");
        is_broken("docs/how-to/c.md", "../../README.md", "leads out of the book");
        is_broken("docs/how-to/c.md", "../../examples/README.md", "leads out of the book");
        is_broken("docs/how-to/c.md", "../how-to/", "leads to a folder");
    }
}
