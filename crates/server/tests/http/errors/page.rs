//! `docs/reference/errors.md` and what `/docs/errors` shows: what is said of each code beside it, and its example.

use ff_core::error::{Code, Help};

use super::book::Book;
use super::examples;

const HEAD: &str = "\
# Errors

Every refusal is a problem document (RFC 9457) with one of these codes. A code keeps its meaning and its status. A request that was refused
changed nothing. What is *retryable* may succeed when the same request is sent again later; everything else needs a change first.

Under each code: why it comes, what to do, and a request that is answered with it. Every document also has `type`, `title`, `status`,
`retryable`, `request_id` (the name of the request in the log) and `help` (a link to its code); they are left out below, and `…` stands for what is
long or secret. A fence in a request is `lease_id`, `lease_epoch` and `attempt_id`, as the task carried them. This page is printed by a test that
sends these requests (`just pages`); a server shows it at `/docs/errors`.
";

const HEAD_OF_EXAMPLES: &str = "<!-- Printed by a test that sends these requests: `just pages`. Do not edit. -->\n";

#[tokio::test(start_paused = true)]
async fn every_code_has_an_example_and_the_pages_show_it() {
    let book = examples().await;
    up_to_date("../../docs/reference/errors.md", &page(&book));
    up_to_date("src/docs/examples.md", &of_the_server(&book));
}

fn up_to_date(path: &str, made: &str) {
    let path = format!("{}/{path}", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, made).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == made,
        "{path} is out of date: UPDATE_DOCS=1 cargo test -p ff-server --test http errors"
    );
}

fn page(book: &Book) -> String {
    let mut page = HEAD.to_owned();
    for code in Code::ALL {
        let Help { cause, remedy } = code.help();
        let again = if code.retryable() { ", retryable" } else { "" };
        let (status, example) = (code.status(), book.example(*code));
        page += &format!("\n## {code}\n\nHTTP {status}{again}. {cause}\n\n{remedy}\n\n{example}\n");
    }
    page
}

fn of_the_server(book: &Book) -> String {
    let examples = Code::ALL
        .iter()
        .map(|code| format!("\n## {code}\n\n{}\n", book.example(*code)));
    HEAD_OF_EXAMPLES.to_owned() + &examples.collect::<String>()
}
