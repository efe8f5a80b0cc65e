//! What is printed from the code for programs and people: the document that describes the interface, and the pages about policies
//! and limits.

#![expect(clippy::unwrap_used, reason = "a test that cannot read its page has failed")]

mod limits;
mod openapi;
mod policy;

/// Compares a page of `docs/reference` with what is made for it, or writes it.
fn up_to_date(page: &str, made: &str) {
    let path = format!("{}/../../docs/reference/{page}", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, made).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == made,
        "docs/reference/{page} is out of date: UPDATE_DOCS=1 cargo test -p ff-server --test reference"
    );
}
