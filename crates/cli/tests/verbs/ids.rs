//! What people call executions by.

use super::scene::{Scene, uuid};

fn named(scene: &Scene, number: u128, name: &str) {
    scene.submit(number, "job", |command| {
        command.tags.insert("name".to_owned(), name.to_owned());
    });
}

#[test]
fn an_execution_is_found_by_id_name_or_last_digits() {
    let scene = Scene::empty();
    let id = scene.submit(0xabc, "job", |command| {
        command.tags.insert("name".to_owned(), "nightly".to_owned());
    });
    let full = id.to_string();
    let unquoted = full.replace(['{', '}'], "");
    for given in [
        full.as_str(),
        &unquoted,
        "nightly",
        "00000abc",
        &uuid(0xabc).to_string(),
    ] {
        let view = scene.json(&["get", given, "-o", "json"]);
        assert_eq!(view["execution_id"], full, "{given}");
    }
}

#[test]
fn what_stands_for_several_is_refused_with_the_candidates() {
    let scene = Scene::empty();
    named(&scene, 0x1, "twin");
    scene.pass(60);
    named(&scene, 0x2, "twin");
    // The same digits at the end, and others before.
    scene.submit(0xa_0000_0007, "job", |_| ());
    scene.submit(0xb_0000_0007, "job", |_| ());
    scene.pass(60);
    scene.prints(
        "ids",
        &[
            "get twin",
            "get 00000007",
            "get nobody",
            "get 0badf00d",
            "get fp:1:nonsense",
            "cancel twin",
        ],
    );
}
