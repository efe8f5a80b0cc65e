//! Copies of a store, made while a server uses it.

use super::scene::Scene;
use crate::ff;
use crate::running::Running;

#[test]
fn a_store_is_copied_while_it_is_served_and_restored_elsewhere() {
    let scene = Scene::empty();
    let folder = scene.folder.path();
    let mut server = Running::start(ff(folder).args(["serve", "--listen", "127.0.0.1:0", "--store", "sqlite:ff.db"]));
    let created = server.ask(
        "POST",
        "/v1/executions",
        r#"{"execution_kind":"job","tags":{"name":"kept"}}"#,
    );
    assert!(created.starts_with("HTTP/1.1 201"), "{created}");
    let run = |arguments: &[&str]| {
        let ran = scene.ff(arguments).output().unwrap();
        let told = String::from_utf8_lossy(&ran.stdout).into_owned() + &String::from_utf8_lossy(&ran.stderr);
        (ran.status.code(), told)
    };
    let (code, told) = run(&["backup", "copy.db", "--store", "sqlite:ff.db"]);
    assert_eq!(code, Some(0), "{told}");
    assert_eq!(
        run(&["backup", "copy.db", "--store", "sqlite:ff.db"]).0,
        Some(3),
        "nothing is written over"
    );
    let (code, told) = run(&["list", "--store", "sqlite:ff.db"]);
    assert!(code == Some(1) && told.contains("in use by"), "{told}");
    let url = format!("http://{}", server.address);
    let (code, told) = run(&["doctor", "--url", &url]);
    assert!(
        code == Some(0) && told.contains("the store and this machine agree"),
        "{told}"
    );
    server.stop();
    let (code, told) = run(&["doctor", "--url", &url]);
    assert!(code == Some(1) && told.contains("nobody answers"), "{told}");

    assert_eq!(
        run(&["restore", "copy.db", "--store", "sqlite:ff.db"]).0,
        Some(3),
        "nothing is written over"
    );
    let (code, told) = run(&["restore", "copy.db", "--store", "sqlite:again/ff.db"]);
    assert!(code == Some(0) && told.contains("SQLite"), "{told}");
    let (code, told) = run(&["get", "kept", "--store", "sqlite:again/ff.db"]);
    assert!(code == Some(0) && told.contains("kept"), "{told}");
    let (code, told) = run(&["restore", "ff.toml", "--store", "sqlite:other.db"]);
    assert!(code == Some(1) && told.contains("ff.toml"), "{told}");
}

#[test]
fn other_stores_have_tools_of_their_own() {
    let scene = Scene::empty();
    scene.prints(
        "copies",
        &[
            "backup copy --store postgres://me:hunter2@db/ff",
            "restore copy --store postgres://me:hunter2@db/ff",
            "backup copy --store valkey://me:hunter2@cache:6379",
            "backup copy --store memory:",
            "backup copy --store sqlite:nowhere.db",
        ],
    );
}
