//! `docs/reference/rest.md` is printed from the table.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use ff_core::caller::Role;
use ff_core::error::Code;
use ff_core::fabric::{Access, OPERATIONS};

const HEAD: &str = "\
# REST

Every operation, as the table in `crates/core/src/fabric/table.rs` has it; this page is printed from it
(`UPDATE_DOCS=1 cargo test -p ff-core --test interface`). Paths stand below `/v1`. Fields named in a path stand there; the
others are the query of a GET or DELETE, and the JSON body of everything else.

Bytes of a field `input` are given as `input` (any JSON value) or as `input_base64`, and `input_type` says what they are; in
answers too. Lengths of time end in `_ms`; moments are Unix milliseconds. A field nobody knows is refused with the nearest
name there is. What was refused answers with a problem document (RFC 9457) whose `code` is one of those at the end.

Roles contain each other: reader, submitter, operator, admin; an operator may also do what a *worker* does. *holder* is a
worker that shows the lease of an execution it runs, in the header `X-Fence: <execution id> <lease id> <epoch> <attempt id>`:
for that execution, for the flow it is a member of, and for results of what it depends on. *anyone* needs what the call itself
asks for, as a signal its token.

`Idempotency-Key` makes any call one: a submission takes it as its key (a batch `<key>/<index>`), others as their `request_id`,
told apart by caller, operation and what it is about; a repetition is answered with `Idempotency-Replayed: true`. `wait_ms` may
stand in the query of any call that waits. An execution may be named `fp:N:<uuid>`. Pages link to the next one (`Link`).

Beside the operations: `GET /v1` (what the server is and takes) · `POST /submit/{kind}` (the body is the input, options are the
query, as `?lane=web&tag.x=y&wait_ms=5000`) · `POST /executions?wait_ms=` (answers the result if it ends in time) ·
`GET /executions/{id}/stream` (frames of every attempt as server-sent events) · `POST /callbacks/{sealed}` (the `callback_path` of a
waitpoint). [Write a worker in any language](../how-to/worker-in-any-language.md) says how a worker works.
";

#[test]
fn the_page_of_routes_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/rest.md");
    let page = page();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &page).expect("the page can be written");
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == page,
        "docs/reference/rest.md is out of date: UPDATE_DOCS=1 cargo test -p ff-core --test interface"
    );
}

fn page() -> String {
    let mut page = HEAD.to_owned();
    let mut noun = "";
    for operation in OPERATIONS {
        if operation.noun != noun {
            noun = operation.noun;
            write!(
                page,
                "\n## {noun}\n\n| operation | route | who | |\n|---|---|---|---|\n"
            )
            .expect("text grows");
        }
        let who = match operation.access {
            Access::Anyone => "anyone".to_owned(),
            Access::AnyRole => "any role".to_owned(),
            Access::Role(role) => role.as_str().to_owned(),
            Access::RoleOrHolder(role) => format!("{}, holder", role.as_str()),
        };
        let (name, method, route) = (operation.name, operation.method.as_str(), operation.path);
        let summary = operation.summary.split("\n\n").next().unwrap_or_default();
        let summary = summary.split_whitespace().collect::<Vec<_>>().join(" ");
        writeln!(page, "| {name} | `{method} {route}` | {who} | {summary} |").expect("text grows");
    }
    page.push_str("\n## Codes\n\n| status | codes |\n|---|---|\n");
    let mut statuses: Vec<u16> = Code::ALL.iter().map(|code| code.status()).collect();
    statuses.dedup();
    for status in statuses {
        let codes = Code::ALL.iter().filter(|code| code.status() == status);
        let codes: Vec<_> = codes.map(|code| format!("`{code}`")).collect();
        writeln!(page, "| {status} | {} |", codes.join(" ")).expect("text grows");
    }
    page
}

#[test]
fn every_role_is_explained() {
    for role in Role::ALL {
        assert!(HEAD.contains(role.as_str()), "{role:?}");
    }
}
