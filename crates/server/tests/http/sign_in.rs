//! Signing in with a page: what the cookie opens, and everything that somebody else might do with it.

use std::time::Duration;

use axum::body::Body;
use axum::http::StatusCode;
use axum::http::request::Builder;
use ff_core::caller::Role;
use ff_core::command::key::{CreateKey, RevokeKey};
use ff_core::fabric::Fabric;
use ff_core::name::{Identity, Namespace};
use ff_core::time::{Duration as Millis, Timestamp};
use ff_server::Settings;
use http_body_util::BodyExt;
use serde_json::{Value, json};

use crate::scene::{Answer, Scene, request};

const OWN: (&str, &str) = ("origin", "http://localhost:7117");
const PAGE: (&str, &str) = ("x-ff-page", "1");

/// A server with keys, and what a browser at it keeps.
struct Browser {
    scene: Scene,
    cookie: String,
}

fn named(name: &str) -> Identity {
    Identity::parse(name).unwrap()
}

async fn key(scene: &Scene, name: &str, role: Role, namespace: Option<&str>) -> String {
    let command = CreateKey {
        name: named(name),
        role,
        namespace: namespace.map(|namespace| Namespace::parse(namespace).unwrap()),
        expires_at: None,
    };
    let created = scene.engine.create_key(command).await.unwrap();
    created.key.expose().to_owned()
}

fn asked(method: &str, path: &str, headers: &[(&str, &str)]) -> Builder {
    let start = request(method.parse().unwrap(), path);
    headers
        .iter()
        .fold(start, |request, (name, value)| request.header(*name, *value))
}

async fn send(scene: &Scene, method: &str, path: &str, headers: &[(&str, &str)], body: &Value) -> Answer {
    let asked = asked(method, path, headers).header("content-type", "application/json");
    let body = if body.is_null() {
        String::new()
    } else {
        body.to_string()
    };
    scene.send(asked, body).await
}

async fn sign_in(scene: &Scene, key: &str) -> Answer {
    send(scene, "POST", "/v1/sign-in", &[OWN, PAGE], &json!({ "key": key })).await
}

/// What a browser sends back of a cookie that it was given.
fn kept(answer: &Answer) -> String {
    answer.header("set-cookie").split(';').next().unwrap().to_owned()
}

impl Browser {
    async fn signed_in(role: Role) -> Self {
        let scene = Scene::with(Settings::default());
        let key = key(&scene, "li", role, None).await;
        let answer = sign_in(&scene, &key).await;
        assert_eq!(answer.status, StatusCode::NO_CONTENT, "{:?}", answer.json());
        let cookie = kept(&answer);
        Self { scene, cookie }
    }

    async fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &Value) -> Answer {
        let mut headers = headers.to_vec();
        headers.push(("cookie", &self.cookie));
        send(&self.scene, method, path, &headers, body).await
    }

    async fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], &Value::Null).await
    }

    async fn submit(&self, headers: &[(&str, &str)]) -> Answer {
        self.send("POST", "/v1/executions", headers, &json!({ "execution_kind": "job" }))
            .await
    }

    async fn revoke(&self) {
        let name = named("li");
        self.scene.engine.revoke_key(RevokeKey { name }).await.unwrap();
    }
}

#[tokio::test]
async fn a_key_is_sent_once_and_a_cookie_stands_for_it() {
    let browser = Browser::signed_in(Role::Submitter).await;
    assert_eq!(browser.get("/v1/executions").await.status, StatusCode::OK);
    assert_eq!(browser.submit(&[OWN, PAGE]).await.status, StatusCode::CREATED);
    let me = browser.get("/v1/me").await.json();
    assert_eq!((&me["key_name"], &me["role"]), (&json!("li"), &json!("submitter")));
    assert_eq!((&me["via"], me.get("namespace")), (&json!("cookie"), None));
    let may: Vec<&str> = me["may"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    for (name, is_allowed) in [
        ("create_execution", true),
        ("get_execution", true),
        ("follow_stream", true),
        ("hold", false),
        ("list_keys", false),
        ("claim", false),
    ] {
        assert_eq!(may.contains(&name), is_allowed, "{name}");
    }
    let held = browser
        .send(
            "POST",
            "/v1/admin/keys",
            &[OWN, PAGE],
            &json!({ "name": "x", "role": "admin" }),
        )
        .await;
    assert_eq!(held.code(), (403, "forbidden".into()), "a cookie may what its key may");
}

#[tokio::test]
async fn a_cookie_is_for_no_script_no_other_site_and_no_other_path() {
    let scene = Scene::with(Settings::default());
    let secret = key(&scene, "li", Role::Reader, None).await;
    let answer = sign_in(&scene, &secret).await;
    let cookie = answer.header("set-cookie");
    let (value, attributes) = cookie.split_once("; ").unwrap();
    assert_eq!(attributes, "Path=/v1; Max-Age=43200; HttpOnly; SameSite=Strict");
    assert!(!value.contains(&secret[3..]), "{value}");
    assert_eq!(answer.header("cache-control"), "no-store");
    assert!(answer.body.is_empty());

    let tls = Scene::with(Settings {
        tls: true,
        ..Settings::default()
    });
    let secret = key(&tls, "li", Role::Reader, None).await;
    let over_tls = ("origin", "https://localhost:7117");
    let answer = send(
        &tls,
        "POST",
        "/v1/sign-in",
        &[over_tls, PAGE],
        &json!({ "key": secret }),
    )
    .await;
    assert!(answer.header("set-cookie").ends_with("; Secure"));
}

#[tokio::test]
async fn an_application_below_a_path_has_its_own_cookie() {
    let mut scene = Scene::with(Settings::default());
    let secret = key(&scene, "li", Role::Reader, None).await;
    scene.router = axum::Router::new().nest("/jobs", scene.router);
    let body = json!({ "key": secret });
    let answer = send(&scene, "POST", "/jobs/v1/sign-in", &[OWN, PAGE], &body).await;
    assert!(
        answer.header("set-cookie").contains("; Path=/jobs/v1; "),
        "{:?}",
        answer.headers
    );
}

#[tokio::test]
async fn nobody_is_signed_in_with_what_is_no_key_or_from_elsewhere() {
    let scene = Scene::with(Settings::default());
    let secret = key(&scene, "li", Role::Admin, None).await;
    for wrong in ["", "ff_nobody", "Bearer", &secret[..20], &format!("{secret} ")] {
        let refused = sign_in(&scene, wrong).await;
        assert_eq!(refused.code(), (401, "unauthenticated".into()), "{wrong:?}");
        assert_eq!(refused.header("set-cookie"), "");
    }
    let right = json!({ "key": secret });
    for headers in [
        &[][..],
        &[OWN],
        &[PAGE],
        &[PAGE, ("origin", "https://evil.example")],
        &[PAGE, ("origin", "null")],
        &[PAGE, OWN, ("sec-fetch-site", "cross-site")],
        &[PAGE, OWN, ("sec-fetch-site", "same-site")],
    ] {
        for method in ["POST", "DELETE"] {
            let refused = send(&scene, method, "/v1/sign-in", headers, &right).await;
            assert_eq!(refused.code(), (403, "forbidden".into()), "{method} {headers:?}");
            assert_eq!(refused.header("set-cookie"), "", "{method} {headers:?}");
        }
    }
    let as_text = asked("POST", "/v1/sign-in", &[OWN, PAGE, ("content-type", "text/plain")]);
    let refused = scene.send(as_text, right.to_string()).await;
    assert_eq!(refused.code(), (415, "unsupported_media_type".into()));
}

#[tokio::test]
async fn what_changes_something_needs_an_own_page() {
    let browser = Browser::signed_in(Role::Admin).await;
    for headers in [
        &[][..],
        &[OWN],
        &[PAGE],
        &[PAGE, ("origin", "http://localhost:3000")],
        &[PAGE, ("origin", "http://evil.example")],
        &[PAGE, ("origin", "null")],
        &[OWN, ("x-ff-page", "0")],
        &[OWN, PAGE, ("sec-fetch-site", "same-site")],
    ] {
        let refused = browser.submit(headers).await;
        assert_eq!(refused.code(), (403, "forbidden".into()), "{headers:?}");
        for (method, path) in [
            ("DELETE", "/v1/admin/keys/li"),
            ("PUT", "/v1/lanes/default/state"),
            ("PATCH", "/v1/budgets/0190c5d4-7a6b-7c3d-8e9f-000000000001"),
        ] {
            let refused = browser.send(method, path, headers, &json!({ "state": "paused" })).await;
            assert_eq!(refused.code(), (403, "forbidden".into()), "{method} {path} {headers:?}");
        }
    }
    let listed = browser.get("/v1/executions").await.json();
    assert_eq!(listed["items"], json!([]), "nothing was done");
    assert_eq!(browser.get("/v1/me").await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_named_origin_is_not_an_own_page() {
    let scene = Scene::with(Settings {
        origins: vec!["https://console.example".to_owned()],
        ..Settings::default()
    });
    let secret = key(&scene, "li", Role::Admin, None).await;
    let cookie = kept(&sign_in(&scene, &secret).await);
    let console = ("origin", "https://console.example");
    let body = json!({ "execution_kind": "job" });
    let with_cookie = [console, PAGE, ("cookie", cookie.as_str())];
    for method in ["POST", "GET"] {
        let refused = send(&scene, method, "/v1/executions", &with_cookie, &body).await;
        assert_eq!(refused.code(), (403, "forbidden".into()), "{method}");
        assert_eq!(refused.header("access-control-allow-credentials"), "");
    }
    let preflight = [
        console,
        ("access-control-request-method", "POST"),
        ("access-control-request-headers", "x-ff-page"),
    ];
    let told = send(&scene, "OPTIONS", "/v1/executions", &preflight, &Value::Null).await;
    assert!(!told.header("access-control-allow-headers").contains("x-ff-page"));
    assert_eq!(told.header("access-control-allow-credentials"), "");
    let bearer = format!("Bearer {secret}");
    let by_key = [console, ("authorization", bearer.as_str())];
    let listed = send(&scene, "GET", "/v1/executions", &by_key, &Value::Null).await;
    assert_eq!(listed.status, StatusCode::OK, "with a key it may what it could");
}

#[tokio::test]
async fn other_sites_read_nothing_with_it() {
    let browser = Browser::signed_in(Role::Admin).await;
    for headers in [
        &[("sec-fetch-site", "cross-site")],
        &[("sec-fetch-site", "same-site")],
        &[("origin", "http://localhost:3000")],
        &[("origin", "null")],
    ] {
        for path in ["/v1/executions", "/v1/events", "/v1/me", "/metrics"] {
            let refused = browser.send("GET", path, headers, &Value::Null).await;
            assert_eq!(refused.code(), (403, "forbidden".into()), "{path} {headers:?}");
        }
    }
    for headers in [("sec-fetch-site", "same-origin"), ("sec-fetch-site", "none"), OWN] {
        let listed = browser.send("GET", "/v1/executions", &[headers], &Value::Null).await;
        assert_eq!(listed.status, StatusCode::OK, "{headers:?}");
    }
}

#[tokio::test]
async fn what_is_no_cookie_of_ours_opens_nothing() {
    let browser = Browser::signed_in(Role::Admin).await;
    let elsewhere = Browser::signed_in(Role::Admin).await;
    let value = browser.cookie.strip_prefix("ff_key=").unwrap();
    let (half, rest) = value.split_at(value.len() / 2);
    let secret = key(&browser.scene, "other", Role::Admin, None).await;
    let cursor = {
        let bearer = format!("Bearer {secret}");
        let by_key = [("authorization", bearer.as_str()), ("accept", "application/json")];
        let events = send(&browser.scene, "GET", "/v1/events", &by_key, &Value::Null).await;
        events.json()["next"].as_str().unwrap().to_owned()
    };
    for forged in [
        String::new(),
        "ff_key=".to_owned(),
        format!("ff_key={secret}"),
        format!("ff_key={cursor}"),
        format!("ff_key={half}"),
        format!("ff_key={half}00{}", &rest[2..]),
        format!("ff_key={}", value.to_uppercase()),
        format!("ff_key=\"{value}\""),
        format!("{0}; {0}", browser.cookie),
        format!("ff_keys={value}"),
        elsewhere.cookie,
    ] {
        for (method, path) in [
            ("GET", "/v1/executions"),
            ("POST", "/v1/executions"),
            ("GET", "/v1/me"),
            ("GET", "/metrics"),
        ] {
            let headers = [("cookie", forged.as_str()), OWN, PAGE];
            let refused = send(&browser.scene, method, path, &headers, &Value::Null).await;
            assert_eq!(
                refused.code(),
                (401, "unauthenticated".into()),
                "{method} {path} {forged}"
            );
        }
    }
    let bearer = format!("Bearer {value}");
    let as_key = [("authorization", bearer.as_str())];
    let refused = send(&browser.scene, "GET", "/v1/executions", &as_key, &Value::Null).await;
    assert_eq!(refused.status, StatusCode::UNAUTHORIZED, "a ticket is no key");
}

#[tokio::test]
async fn a_key_in_a_header_goes_before_the_cookie_and_needs_no_page() {
    let browser = Browser::signed_in(Role::Reader).await;
    let secret = key(&browser.scene, "program", Role::Submitter, None).await;
    let bearer = format!("Bearer {secret}");
    let created = browser.submit(&[("authorization", &bearer)]).await;
    assert_eq!(created.status, StatusCode::CREATED);
    let refused = browser
        .submit(&[("authorization", "Bearer ff_nobody"), OWN, PAGE])
        .await;
    assert_eq!(refused.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn a_cookie_ends_with_its_key_and_no_other_of_that_name_brings_it_back() {
    let browser = Browser::signed_in(Role::Admin).await;
    browser.revoke().await;
    assert_eq!(
        browser.get("/v1/executions").await.code(),
        (401, "unauthenticated".into())
    );
    key(&browser.scene, "li", Role::Admin, None).await;
    assert_eq!(browser.get("/v1/executions").await.status, StatusCode::UNAUTHORIZED);
    assert_eq!(browser.submit(&[OWN, PAGE]).await.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn a_cookie_ends_after_twelve_hours_and_with_a_key_that_expires() {
    let browser = Browser::signed_in(Role::Reader).await;
    let now = browser.scene.engine.store_time().await.unwrap();
    let command = CreateKey {
        name: named("guest"),
        role: Role::Reader,
        namespace: None,
        expires_at: Some(now + Millis::from_hours(1)),
    };
    let guest = browser.scene.engine.create_key(command).await.unwrap();
    let guest = kept(&sign_in(&browser.scene, guest.key.expose()).await);
    let asks = async |cookie: &str| {
        let headers = [("cookie", cookie)];
        send(&browser.scene, "GET", "/v1/me", &headers, &Value::Null)
            .await
            .status
    };
    assert_eq!(
        (asks(&browser.cookie).await, asks(&guest).await),
        (StatusCode::OK, StatusCode::OK)
    );
    let pass = async |by| {
        browser.scene.store.advance(by);
        let reached: Timestamp = browser.scene.engine.ping().await.unwrap();
        assert!(reached >= now + by);
    };
    pass(Millis::from_hours(1)).await;
    assert_eq!(
        (asks(&browser.cookie).await, asks(&guest).await),
        (StatusCode::OK, StatusCode::UNAUTHORIZED)
    );
    pass(Millis::from_hours(11)).await;
    assert_eq!(asks(&browser.cookie).await, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn who_signs_out_is_told_to_forget_the_cookie() {
    let browser = Browser::signed_in(Role::Reader).await;
    let out = browser.send("DELETE", "/v1/sign-in", &[OWN, PAGE], &Value::Null).await;
    assert_eq!(out.status, StatusCode::NO_CONTENT);
    assert_eq!(
        out.header("set-cookie"),
        "ff_key=; Path=/v1; Max-Age=0; HttpOnly; SameSite=Strict"
    );
    let without = send(&browser.scene, "DELETE", "/v1/sign-in", &[OWN, PAGE], &Value::Null).await;
    assert_eq!(without.status, StatusCode::NO_CONTENT, "also who was not signed in");
}

#[tokio::test]
async fn without_keys_an_old_cookie_harms_nobody() {
    let old = Browser::signed_in(Role::Reader).await;
    let keyless = Scene::new();
    let headers = [("cookie", old.cookie.as_str())];
    let me = send(&keyless, "GET", "/v1/me", &headers, &Value::Null).await.json();
    assert_eq!(
        (&me["role"], &me["via"], me.get("key_name")),
        (&json!("admin"), &json!("nothing"), None)
    );
    let created = send(
        &keyless,
        "POST",
        "/v1/executions",
        &headers,
        &json!({ "execution_kind": "job" }),
    )
    .await;
    assert_eq!(created.status, StatusCode::CREATED);
}

/// Everything a stream says until it ends; it must, soon after `end`.
async fn said(scene: &Scene, stream: Builder, end: impl AsyncFnOnce()) -> String {
    let response = scene.open(stream.body(Body::empty()).unwrap()).await;
    assert_eq!(response.status(), StatusCode::OK);
    let body = response.into_body();
    end().await;
    let rest = tokio::time::timeout(Duration::from_secs(5), body.collect()).await;
    let rest = rest.expect("the stream ends").unwrap().to_bytes();
    String::from_utf8(rest.to_vec()).unwrap()
}

#[tokio::test]
async fn an_open_stream_ends_with_its_key() {
    let browser = Browser::signed_in(Role::Submitter).await;
    let id = {
        let created = browser.submit(&[OWN, PAGE]).await.json();
        created["execution_id"].as_str().unwrap().replace(['{', '}'], "")
    };
    let frames = format!("/v1/executions/{id}/stream");
    for path in ["/v1/events?from=now", "/v1/events?from=now&batch_ms=100", &frames] {
        let secret = key(&browser.scene, "brief", Role::Submitter, None).await;
        let bearer = format!("Bearer {secret}");
        let cookie = kept(&sign_in(&browser.scene, &secret).await);
        let revoke = async || {
            let name = named("brief");
            browser.scene.engine.revoke_key(RevokeKey { name }).await.unwrap();
        };
        let stream = asked("GET", path, &[("cookie", &cookie)]);
        let told = said(&browser.scene, stream, revoke).await;
        assert!(
            told.ends_with("}\n\n") && told.contains("event: error"),
            "{path}: {told}"
        );
        assert!(told.contains("unauthenticated"), "{path}: {told}");

        let stream = asked("GET", path, &[("authorization", &bearer)]);
        let refused = browser.scene.open(stream.body(Body::empty()).unwrap()).await;
        assert_eq!(refused.status(), StatusCode::UNAUTHORIZED);
    }
    assert_eq!(
        browser.get("/v1/me").await.status,
        StatusCode::OK,
        "other keys are what they were"
    );
}

#[tokio::test]
async fn a_stream_of_a_good_key_goes_on_when_another_is_revoked() {
    let browser = Browser::signed_in(Role::Submitter).await;
    key(&browser.scene, "other", Role::Reader, None).await;
    let stream = asked("GET", "/v1/events?from=now", &[("cookie", &browser.cookie)]);
    let response = browser.scene.open(stream.body(Body::empty()).unwrap()).await;
    let name = named("other");
    browser.scene.engine.revoke_key(RevokeKey { name }).await.unwrap();
    browser.submit(&[OWN, PAGE]).await;
    let mut body = response.into_body();
    let mut told = String::new();
    while !told.contains("event: created") {
        let frame = tokio::time::timeout(Duration::from_secs(5), body.frame()).await;
        let frame = frame.expect("it goes on").unwrap().unwrap();
        told.push_str(std::str::from_utf8(frame.data_ref().unwrap()).unwrap());
        assert!(!told.contains("event: error"), "{told}");
    }
}

#[tokio::test]
async fn a_key_of_one_namespace_sees_that_one_only() {
    let scene = Scene::with(Settings::default());
    let all = key(&scene, "all", Role::Submitter, None).await;
    let own = key(&scene, "own", Role::Submitter, Some("team-a")).await;
    let empty = key(&scene, "empty", Role::Reader, Some("team-z")).await;
    for namespace in ["team-b", "team-a"] {
        let bearer = format!("Bearer {all}");
        let body = json!({ "execution_kind": "job", "namespace": namespace });
        let created = send(&scene, "POST", "/v1/executions", &[("authorization", &bearer)], &body).await;
        assert_eq!(created.status, StatusCode::CREATED);
    }
    for (key, seen) in [
        (all, json!(["team-a", "team-b"])),
        (own, json!(["team-a"])),
        (empty, json!(["team-z"])),
    ] {
        let bearer = format!("Bearer {key}");
        let listed = send(
            &scene,
            "GET",
            "/v1/namespaces",
            &[("authorization", &bearer)],
            &Value::Null,
        )
        .await;
        assert_eq!(listed.json(), json!({ "items": seen }));
        let cookie = kept(&sign_in(&scene, &key).await);
        let listed = send(&scene, "GET", "/v1/namespaces", &[("cookie", &cookie)], &Value::Null).await;
        assert_eq!(listed.json(), json!({ "items": seen }));
        let me = send(&scene, "GET", "/v1/me", &[("authorization", &bearer)], &Value::Null)
            .await
            .json();
        assert_eq!(me["via"], json!("key"));
    }
}

#[tokio::test]
async fn a_page_asks_with_every_method_as_itself() {
    let browser = Browser::signed_in(Role::Operator).await;
    for (method, path, body) in [
        ("PUT", "/v1/lanes/default/state", json!({ "state": "paused" })),
        ("GET", "/v1/lanes", Value::Null),
        ("HEAD", "/v1/lanes", Value::Null),
    ] {
        let answer = browser.send(method, path, &[OWN, PAGE], &body).await;
        assert_eq!(answer.status, StatusCode::OK, "{method} {path}");
    }
    let id = browser.submit(&[OWN, PAGE]).await.json()["execution_id"].clone();
    let id = id.as_str().unwrap().replace(['{', '}'], "");
    let history = browser.get(&format!("/v1/executions/{id}/history")).await.json();
    assert_eq!(
        history["items"][0]["actor"],
        json!({ "client": "li" }),
        "what is done is done by the key's name"
    );
}
