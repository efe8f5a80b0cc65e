//! What is said when something does not work.

use super::printed::Session;
use super::scene::Scene;

#[test]
fn nobody_who_answers_is_told_with_what_to_do() {
    let scene = Scene::empty();
    let mut session = Session::default();
    for line in [
        "list",
        "get x --url http://127.0.0.1:1",
        "list --url nonsense",
        "list --store memory:",
        "list --store sqlite:nowhere.db",
    ] {
        let mut command = scene.ff(&line.split(' ').collect::<Vec<_>>());
        // Nobody listens at the first port there is.
        command.env("FF_URL", "http://127.0.0.1:1");
        session.run(command, line);
    }
    session.is_as_expected("unreachable");
}

#[test]
fn mistakes_on_the_command_line_end_with_one() {
    let scene = Scene::empty();
    let mut ends = Session::default();
    for line in [
        "nonsense",
        "get",
        "list --state gone",
        "submit job --delay soon",
        "submit job --input hello",
        "submit job --input @nowhere",
    ] {
        ends.run(scene.ff(&line.split(' ').collect::<Vec<_>>()), line);
    }
    ends.is_as_expected("usage");
}

#[test]
fn a_key_that_does_not_suffice_is_told() {
    let scene = Scene::empty();
    let key = |arguments: &[&str], shown: Option<&str>| {
        let mut command = scene.ff(arguments);
        command.envs(shown.map(|key| ("FF_KEY", key)));
        command
    };
    let made = |name: &str, role: &str, shown: Option<&str>| {
        let made = key(&["key", "create", name, "--role", role], shown).output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        String::from_utf8(made.stdout).unwrap().trim().to_owned()
    };
    let root = made("root", "admin", None);
    let reader = made("eve", "reader", Some(&root));
    let mut session = Session::default();
    session.run(key(&["list"], None), "list");
    session.run(key(&["list"], Some(&reader)), "list");
    session.run(key(&["submit", "job"], Some(&reader)), "submit job");
    session.run(key(&["list"], Some("ff_wrong")), "list");
    session.is_as_expected("keys");
    let examined = key(&["doctor"], Some(&reader)).output().unwrap();
    let told = String::from_utf8(examined.stdout).unwrap();
    assert!(told.contains("reading is allowed, operating is not"), "{told}");
}
