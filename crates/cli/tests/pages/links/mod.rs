//! Links within the tree lead somewhere, on a code host and in the book.
//!
//! | where | what |
//! |---|---|
//! | `tree` | which files there are |
//! | `markdown` | the links of a page, and the anchors of its headings |
//! | `book` | the table of contents |
//! | `check` | where a link leads |

mod book;
mod check;
mod markdown;
pub(crate) mod tree;

use std::fs;
use std::path::Path;

use self::check::Tree;
use crate::folder::ROOT;

fn the_tree() -> Tree {
    let pages = tree::pages().into_iter().map(|path| {
        let text = fs::read_to_string(Path::new(ROOT).join(&path)).unwrap();
        (path, text)
    });
    Tree::new(pages.collect(), tree::files())
}

#[test]
fn every_link_leads_somewhere() {
    let broken = the_tree().broken();
    assert!(
        broken.is_empty(),
        "{} links lead nowhere:\n{}",
        broken.len(),
        broken.join("\n")
    );
}

#[test]
fn every_page_of_the_docs_is_in_the_table_of_contents_once() {
    let wrong = book::wrong(&tree::read(book::SUMMARY), &tree::pages());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
