//! Handlers that are wrong, as the compiler tells of them.

use crate::compiler::{refuses, said_about};

/// A program that registers `handler`, which stands on its third line, on the last but one.
fn registered(handler: &str) -> String {
    format!(
        "#[derive(Serialize, Deserialize, Task)] #[task(kind = \"a\", output = String)] pub struct A {{}}
#[derive(Clone)] pub struct Db;
{handler}
pub fn worker(ff: Client) {{
    let _ = Worker::new(ff).task(handler);
}}"
    )
}

/// The line on which it is registered.
const REGISTERED: u32 = 5;

#[test]
fn handlers_that_are_right_are_not_refused() {
    for handler in [
        "pub async fn handler(_: Input<A>) -> String { String::new() }",
        "pub async fn handler(_: Input<A>, ctx: Ctx, _: Option<ff_sdk::State<Db>>) -> std::io::Result<String> { Ok(String::new()) }",
    ] {
        let said = said_about(&registered(handler));
        assert!(!said.contains("error"), "{said}");
    }
}

#[test]
fn arguments_that_no_task_gives_are_named() {
    let first = "the first argument of a handler is Input<T>, which says what task it runs, and not";
    let handler = "async fn handler(job: A) -> String { String::new() }";
    refuses(&registered(handler), REGISTERED, &format!("{first} `A`"));
    let handler = "async fn handler(db: ff_sdk::State<Db>, job: Input<A>) -> String { String::new() }";
    refuses(
        &registered(handler),
        REGISTERED,
        &format!("{first} `ff_sdk::State<Db>`"),
    );
    let handler = "async fn handler(job: Input<A>, db: Db) -> String { String::new() }";
    refuses(
        &registered(handler),
        REGISTERED,
        "`Db` cannot be an argument of a handler",
    );
    let handler = "async fn handler(job: Input<String>) -> String { String::new() }";
    refuses(&registered(handler), REGISTERED, "`String` is not a task");
}

#[test]
fn what_a_task_does_not_give_is_named() {
    let handler = "async fn handler(job: Input<A>) -> u32 { 1 }";
    let sentence = "a handler of a task whose output is `String` cannot return `u32`";
    refuses(&registered(handler), REGISTERED, sentence);
    let task = "pub struct Plain;
#[derive(Serialize, Deserialize, Task)] #[task(kind = \"b\", output = Plain)] pub struct B {}";
    refuses(task, 2, "the trait bound `Plain: serde::Deserialize");
}

#[test]
fn what_is_no_async_function_is_no_handler() {
    refuses(
        &registered("#[allow(non_upper_case_globals)] const handler: Db = Db;"),
        REGISTERED,
        "`Db` is not a handler of a task",
    );
    let handler = "fn handler(job: Input<A>) -> String { String::new() }";
    refuses(
        &registered(handler),
        REGISTERED,
        "a handler is an async function whose first argument is Input<T>",
    );
    let bytes = "pub async fn plain() -> String { String::new() }\npub fn worker(ff: Client) {\n    let _ = Worker::new(ff).on(\"kind\", plain);\n}";
    refuses(bytes, 3, "cannot return `String`");
}
