//! Tasks and inputs that are wrong, as the compiler tells of them.

use crate::compiler::{refuses, said_about};

#[test]
fn a_program_that_is_right_is_not_refused() {
    let program = "#[derive(Serialize, Deserialize, Task)] #[task(kind = \"a\")] pub struct A {}
        #[derive(FromInputs)] pub struct B { pub b: Vec<String> }
        pub async fn submit(ff: Client) { ff.submit(A {}).await.unwrap(); }";
    assert!(!said_about(program).contains("error"), "{}", said_about(program));
}

#[test]
fn what_is_no_task_is_not_submitted() {
    let program = "pub fn submit(ff: &Client) {\n    let _ = ff.submit(\"text\");\n}";
    refuses(program, 2, "`&str` is not a task");
    let program = "pub struct Plain;\npub fn add(flow: &mut ff_sdk::Flow) {\n    flow.add(Plain);\n}";
    refuses(program, 3, "`Plain` is not a task");
}

#[test]
fn a_wrong_value_is_refused_where_it_stands() {
    let program =
        "#[derive(Serialize, Deserialize, Task)]\n#[task(kind = \"a\", attempt_timeout = \"90\")]\npub struct A {}";
    refuses(program, 2, "\"90\" is no length of time: say a number and a unit");
    let program = "#[derive(Serialize, Deserialize, Task)]\npub struct Nameless {}";
    refuses(program, 2, "a task needs a kind, which workers know it by");
}

#[test]
fn a_wrong_field_is_refused_where_it_stands() {
    let program = "#[derive(FromInputs)]\npub struct I {\n    a: u32,\n    #[input(name = \"a\")]\n    b: u32,\n}";
    refuses(program, 5, "`a` reads the input \"a\" already");
    let program = "pub struct Plain;\n#[derive(FromInputs)]\npub struct I {\n    a: Plain,\n}";
    refuses(program, 4, "the trait bound `Plain: serde");
}

#[test]
fn what_says_nothing_of_inputs_is_none() {
    let program = "#[derive(Serialize, Deserialize, Task)]\n#[task(kind = \"a\", inputs = String)]\npub struct A {}";
    refuses(
        program,
        2,
        "`String` does not say what it reads from the results of upstreams",
    );
}
