//! What the pages say is tried: README, tutorials and how-to are run block by block, and every link leads somewhere.
//!
//! | where | what |
//! |---|---|
//! | `fences`, `directive`, `page` | a page, read: which blocks it has and what is done with each |
//! | `session` | runs a page, in a `folder` of its own and as many `terminal`s as it names |
//! | `stores` | servers of stores, for pages that use one |
//! | `output`, `printed` | what a terminal prints, and whether it is what the page shows |
//! | `guard` | ends what a page has started, whatever happens |
//! | `mistakes` | pages with a mistake each, and what is said of them |
//! | `links` | links, anchors, and the book's table of contents |
//!
//! `README.md` says how a page is written so that it can be run.

#![expect(clippy::unwrap_used, reason = "a test that cannot set its scene has failed")]

mod directive;
mod fences;
mod folder;
mod guard;
mod links;
mod mistakes;
mod output;
mod page;
mod printed;
mod run;
mod session;
mod stores;
mod terminal;
