use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::*;
use crate::error::Code;
use crate::name::ContentType;
use crate::payload::Payload;

/// One of everything a command or view is made of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Sample {
    name: String,
    #[serde(rename = "body:bytes", default, skip_serializing_if = "Option::is_none")]
    body: Option<Payload>,
    #[serde(rename = "..place")]
    place: Place,
    #[serde(default)]
    limits: BTreeMap<String, Limit>,
    #[serde(default)]
    choices: Vec<Choice>,
    #[serde(default)]
    urgent: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Place {
    #[serde(default)]
    row: u32,
    #[serde(default)]
    seat: Option<u16>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Limit {
    soft: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Choice {
    Nothing,
    Fresh { key: String },
}

fn sample(body: Option<Payload>) -> Sample {
    Sample {
        name: "a".to_owned(),
        body,
        place: Place { row: 3, seat: None },
        limits: BTreeMap::from([("tokens".to_owned(), Limit { soft: Some(5) })]),
        choices: vec![Choice::Nothing, Choice::Fresh { key: "k".to_owned() }],
        urgent: true,
    }
}

fn text(sample: &Sample) -> String {
    String::from_utf8(to_json(sample).unwrap()).unwrap()
}

fn typed(bytes: &'static [u8], content_type: &str) -> Payload {
    Payload {
        bytes: bytes.into(),
        content_type: ContentType::parse(content_type).unwrap(),
    }
}

#[test]
fn what_is_written_is_read_again() {
    let bodies = [
        None,
        Some(Payload::binary(&b"\x00\xff"[..])),
        Some(Payload::binary(&b""[..])),
        Some(typed(b"{\"n\": 1.0}", "application/json")),
        Some(typed(b"null", "application/json")),
        Some(typed(b" [1] ", "application/json")),
        Some(typed(b"not json", "application/json")),
        Some(typed(
            b"{\"base64\":\"AA==\",\"content_type\":\"x/y\"}",
            "application/json",
        )),
        Some(typed(b"{}", "application/vnd.me+json")),
        Some(typed(b"hello", "text/plain; charset=utf-8")),
    ];
    for body in bodies {
        let sample = sample(body);
        let json = text(&sample);
        assert_eq!(from_request::<Sample>(json.as_bytes()).unwrap(), sample, "{json}");
        assert_eq!(from_reply::<Sample>(json.as_bytes()).unwrap(), sample, "{json}");
    }
}

#[test]
fn bytes_stand_in_the_field_that_fits_them() {
    let json = text(&sample(Some(typed(b"{\"n\":1.00}", "application/json"))));
    assert!(
        json.contains(r#""body":{"n":1.00}"#) && !json.contains("body_"),
        "{json}"
    );
    let json = text(&sample(Some(Payload::binary(&b"\xff"[..]))));
    assert!(
        json.contains(r#""body_base64":"/w==""#) && !json.contains("body_type"),
        "{json}"
    );
    let json = text(&sample(Some(typed(b"a", "text/plain"))));
    assert!(
        json.contains(r#""body_base64":"YQ==","body_type":"text/plain""#),
        "{json}"
    );
    assert!(!text(&sample(None)).contains("body"));
}

#[test]
fn what_is_absent_is_not_written() {
    assert!(!text(&sample(None)).contains("seat"));
}

#[test]
fn a_group_stands_between_the_fields_around_it() {
    assert!(text(&sample(None)).contains(r#""name":"a","row":3,"#));
}

fn refusal(json: &str) -> (Code, String) {
    let refusal = from_request::<Sample>(json.as_bytes()).unwrap_err();
    (refusal.code, refusal.detail)
}

#[test]
fn a_request_with_an_unknown_field_is_told_the_nearest_name() {
    let unknown = refusal(r#"{"nmae":"a","name":"b"}"#);
    assert_eq!(
        unknown,
        (
            Code::InvalidInput,
            "/nmae: there is no such field; is name meant?".to_owned()
        )
    );
    let instead = refusal(r#"{"nmae":"a","urgent":true}"#).1;
    assert_eq!(instead, "/nmae: there is no such field; is name meant?");
    assert_eq!(refusal(r#"{"urgent":true,"colour":1}"#).1, "name is missing");
    let nested = refusal(r#"{"name":"a","limits":{"t/x":{"sotf":1}}}"#).1;
    assert_eq!(nested, "/limits/t~1x/sotf: there is no such field; is soft meant?");
    let in_variant = refusal(r#"{"name":"a","choices":["nothing",{"fresh":{"key":"k","colour":1}}]}"#).1;
    assert_eq!(
        in_variant,
        "/choices/1/fresh/colour: there is no such field; known are key"
    );
}

#[test]
fn a_reply_with_an_unknown_field_is_read() {
    let json = br#"{"name":"a","new":{"deep":[1]},"limits":{"t":{"soft":null,"newer":2}}}"#;
    let sample: Sample = from_reply(json).unwrap();
    assert_eq!(sample.limits["t"], Limit { soft: None });
}

#[test]
fn a_fault_says_where_it_is() {
    assert_eq!(
        refusal(r#"{"name":7}"#).1,
        "/name: invalid type: integer `7`, expected a string"
    );
    assert!(
        refusal(r#"{"name":"a","choices":["x"]}"#)
            .1
            .starts_with("/choices/0: unknown variant")
    );
    assert_eq!(refusal("{}").1, "name is missing");
    assert_eq!(refusal("[]").1, "a JSON object is expected");
    assert!(refusal("{").1.starts_with("this is not JSON"));
    assert_eq!(refusal(r#"{"name":"a","name":"b"}"#).1, "/name: is given twice");
}

#[test]
fn an_object_with_very_many_fields_is_refused() {
    let fields: Vec<String> = (0..100_000).map(|n| format!("\"f{n}\":0")).collect();
    let refused = refusal(&format!("{{{}}}", fields.join(",")));
    assert_eq!(refused.1, "there are more than 256 fields here");
}

#[test]
fn bytes_are_given_once_and_in_full() {
    let both = refusal(r#"{"name":"a","body":1,"body_base64":"AA=="}"#).1;
    assert_eq!(both, "/body: give body or body_base64, not both");
    let only_type = refusal(r#"{"name":"a","body_type":"text/plain"}"#).1;
    assert_eq!(only_type, "/body: body_type says what is not there");
    assert!(
        refusal(r#"{"name":"a","body_base64":"%"}"#)
            .1
            .contains("this is not base64")
    );
}

#[test]
fn a_path_or_query_gives_the_same_fields_as_a_body() {
    let mut fields = Fields::of_json(br#"{"urgent":true}"#).unwrap();
    fields.add_text("name", "a").unwrap();
    fields.add_text("row", "7").unwrap();
    let sample: Sample = read(fields, Unknown::Refused).unwrap();
    assert_eq!((sample.name.as_str(), sample.place.row, sample.urgent), ("a", 7, true));
    let mut fields = Fields::default();
    fields.add_text("name", "a").unwrap();
    fields.add_text("row", "many").unwrap();
    let refusal = read::<Sample>(fields, Unknown::Refused).unwrap_err();
    assert_eq!(refusal.detail, "/row: this is not a whole number");
}

#[test]
fn a_list_is_a_name_that_a_query_repeats() {
    let mut fields = Fields::of_json(br#"{"name":"a"}"#).unwrap();
    fields.add_text("choices", "nothing").unwrap();
    let one: Sample = read(fields.clone(), Unknown::Refused).unwrap();
    assert_eq!(one.choices, [Choice::Nothing]);
    fields.add_text("choices", "nothing").unwrap();
    let two: Sample = read(fields.clone(), Unknown::Refused).unwrap();
    assert_eq!(two.choices, [Choice::Nothing, Choice::Nothing]);
    fields.add_text("choices", "other").unwrap();
    let refusal = read::<Sample>(fields, Unknown::Refused).unwrap_err();
    assert!(refusal.detail.starts_with("/choices/2: "), "{}", refusal.detail);
}

#[test]
fn what_is_one_value_is_not_given_twice() {
    for (name, first, second) in [("row", "1", "2"), ("name", "a", "b"), ("urgent", "true", "true")] {
        let mut fields = Fields::default();
        fields.add_text(name, first).unwrap();
        fields.add_text(name, second).unwrap();
        if name != "name" {
            fields.add_text("name", "a").unwrap();
        }
        let refusal = read::<Sample>(fields, Unknown::Refused).unwrap_err();
        assert_eq!(refusal.detail, format!("/{name}: is given twice"));
    }
    let mut fields = Fields::of_json(br#"{"choices":["nothing"]}"#).unwrap();
    assert_eq!(
        fields.add_text("choices", "nothing").unwrap_err().to_string(),
        "/choices: is given twice"
    );
}

#[test]
fn a_list_is_written_into_a_query_item_by_item() {
    let fields = Fields::of_json(br#"{"name":"a","states":["waiting","active"],"numbers":[1],"none":[],"null":null}"#);
    let texts = fields.unwrap().into_texts().unwrap();
    let expected = [
        ("name", "a"),
        ("states", "waiting"),
        ("states", "active"),
        ("numbers", "1"),
    ];
    assert_eq!(texts, expected.map(|(name, text)| (name.to_owned(), text.to_owned())));
}

#[test]
fn a_query_is_bounded() {
    let mut fields = Fields::default();
    let repeated = (0..2_000)
        .map(|_| fields.add_text("choices", "nothing"))
        .find_map(Result::err);
    assert_eq!(repeated.unwrap().to_string(), "/choices: is given more than 1000 times");
    let named = (0..300)
        .map(|number| fields.add_text(format!("f{number}"), "x"))
        .find_map(Result::err);
    assert_eq!(named.unwrap().to_string(), "there are more than 256 fields here");
}

#[test]
fn what_is_offered_is_taken_where_it_is_known_and_not_given() {
    let offered = |json: &'static str| {
        let mut fields = Fields::of_json(json.as_bytes()).unwrap();
        fields.offer("row", "7");
        fields.offer("nobody_knows_this", "x");
        read::<Sample>(fields, Unknown::Refused).unwrap().place.row
    };
    assert_eq!(offered(r#"{"name":"a"}"#), 7);
    assert_eq!(offered(r#"{"name":"a","row":8}"#), 8);
}

#[test]
fn bytes_that_are_missing_are_called_by_their_name() {
    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "it is never read")]
    struct Sealed {
        #[serde(rename = "body:bytes")]
        body: Payload,
    }
    let refused = |json: &str| from_request::<Sealed>(json.as_bytes()).unwrap_err().detail;
    assert_eq!(refused("{}"), "body is missing");
    assert_eq!(
        refused(r#"{"bodi":1}"#),
        "/bodi: there is no such field; is body meant?"
    );
}

#[test]
fn each_item_of_a_list_is_offered_something_of_its_own() {
    let read = |json: &'static str| {
        let mut fields = Fields::of_json(json.as_bytes()).unwrap();
        fields.offer("name", "key");
        read_many::<Sample>(fields, "items")
    };
    let names = |samples: Vec<Sample>| samples.into_iter().map(|sample| sample.name).collect::<Vec<_>>();
    let items = read(r#"{"items":[{},{"name":"own"},{}]}"#).unwrap();
    assert_eq!(names(items), ["key/0", "own", "key/2"]);
    let mut fields = Fields::of_json(br#"{"items":[{},{"name":"own"},{}]}"#).unwrap();
    fields.offer_to_all("name", "key");
    assert_eq!(
        names(read_many(fields, "items").unwrap()),
        ["key", "own", "key"],
        "or the same"
    );
    let detail = |json| read(json).unwrap_err().detail;
    assert_eq!(detail("{}"), "items is missing");
    assert_eq!(
        detail(r#"{"items":[{},{"row":"x"}]}"#).split(':').next(),
        Some("/items/1/row")
    );
    assert_eq!(detail(r#"{"items":[3]}"#), "/items/0: a JSON object is expected");
    assert!(detail(r#"{"items":[],"item":[]}"#).starts_with("/item: there is no such field"));
}

#[test]
fn a_name_of_a_map_is_not_given_twice() {
    let json = br#"{"name":"a","limits":{"x":{},"x":{}}}"#;
    let refusal = from_request::<Sample>(json).unwrap_err();
    assert_eq!(refusal.detail, "/limits/x: is given twice");
}
