//! `docs/reference/errors.md` is printed from the codes.

use ff_core::error::{Code, Help};

fn page() -> String {
    let mut page = String::from(
        "# Errors\n\n\
         Every refusal is a problem document (RFC 9457) with one of these codes. A code keeps its meaning and its status. A request\n\
         that was refused changed nothing. What is *retryable* may succeed when the same request is sent again later; everything\n\
         else needs a change first. This page is printed from the code (`just pages`); a server shows it at `/docs/errors`.\n",
    );
    for code in Code::ALL {
        let Help { cause, remedy } = code.help();
        let again = if code.retryable() { ", retryable" } else { "" };
        page += &format!("\n## {code}\n\nHTTP {}{again}. {cause}\n\n{remedy}\n", code.status());
    }
    page
}

#[test]
fn the_page_of_errors_says_what_each_code_means() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/errors.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, page()).unwrap();
    }
    let written = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        written == page(),
        "docs/reference/errors.md is out of date: UPDATE_DOCS=1 cargo test -p ff-core --test interface"
    );
}

#[test]
fn every_code_says_why_it_came_and_what_to_do_in_sentences() {
    for code in Code::ALL {
        let Help { cause, remedy } = code.help();
        for text in [cause, remedy] {
            assert!(
                text.ends_with('.') && text.starts_with(char::is_uppercase),
                "{code}: {text}"
            );
        }
    }
}
