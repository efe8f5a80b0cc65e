//! What is derived, and what is said when it cannot be.

use std::collections::BTreeMap;

use ff_core::payload::Payload;
use ff_sdk::inputs::InputName;
use ff_sdk::{FromInputs, NamedInputs, Task, TaskOptions, mins, secs};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Task)]
#[task(kind = "everything", output = Vec<u8>, inputs = Everything, lane = "web", priority = 9_000)]
#[task(retries = 5, backoff = "1s..30s", retry_on = ["busy", "timeout"], attempt_timeout = "90s", deadline = "2h")]
#[task(retention = "7d", capabilities = ["gpu", "a100"])]
struct All {}

#[derive(Debug, PartialEq, FromInputs)]
struct Everything {
    text: String,
    pages: Vec<u32>,
    #[input(name = "maybe.one")]
    maybe: Option<u32>,
    #[input(single)]
    list: Vec<u32>,
    r#type: u32,
}

#[derive(Serialize, Deserialize, Task)]
#[task(kind = "generic", output = T)]
#[serde(bound = "")]
struct Generic<T: Serialize + serde::de::DeserializeOwned + Send + 'static> {
    value: T,
}

#[test]
fn every_attribute_is_an_option() {
    let by_hand = TaskOptions::new()
        .lane("web")
        .priority(9_000)
        .retries(5)
        .backoff(secs(1)..secs(30))
        .retry_on(["busy", "timeout"])
        .attempt_timeout(secs(90))
        .deadline(mins(120))
        .retention(ff_sdk::days(7))
        .capabilities(["gpu", "a100"]);
    assert_eq!(All::options(), by_hand);
    assert_eq!(All::KIND, "everything");
}

#[test]
fn a_task_may_be_generic() {
    assert_eq!(Generic::<u32>::KIND, "generic");
    assert_eq!(Generic::<String>::options(), TaskOptions::new());
}

#[test]
fn fields_say_what_they_read() {
    let names = [
        InputName::one("text"),
        InputName::many("pages"),
        InputName::maybe("maybe.one"),
        InputName::one("list"),
        InputName::one("type"),
    ];
    assert_eq!(Everything::NAMES, names);
}

#[test]
fn fields_are_read_by_their_names() {
    let given = [
        ("text", "\"a\""),
        ("pages.1", "1"),
        ("pages.0", "0"),
        ("list", "[7]"),
        ("type", "3"),
    ];
    let payloads: BTreeMap<_, _> = given
        .map(|(name, json)| (name.to_owned(), Payload::binary(json)))
        .into();
    let read = Everything::from_inputs(&NamedInputs::new(payloads)).unwrap();
    let expected = Everything {
        text: "a".to_owned(),
        pages: vec![0, 1],
        maybe: None,
        list: vec![7],
        r#type: 3,
    };
    assert_eq!(read, expected);
}
