//! What belongs to another namespace answers as what there is not: the same bytes, on every route.
//!
//! Two servers with the same clock and the same signing key. On one, somebody of the namespace `a` made one of everything; on the
//! other, nobody did. Somebody of the namespace `b` asks both for the same ids, and is told the same.

mod asks;
mod things;

use axum::body::Bytes;
use axum::http::Method;
use ff_core::fabric::OPERATIONS;
use ff_server::EXTRAS;
use serde_json::Value;

use self::asks::{Ask, asks};
use self::things::{Things, World};
use crate::scene::{Answer, request};

/// A route, whichever list it stands in.
#[derive(Clone, Copy)]
struct Route {
    name: &'static str,
    method: ff_core::fabric::Method,
    path: &'static str,
}

fn routes() -> Vec<Route> {
    let operations = OPERATIONS.iter().map(|known| (known.name, known.method, known.path));
    let extras = EXTRAS.iter().map(|known| (known.name, known.method, known.path));
    let all = operations.chain(extras);
    all.map(|(name, method, path)| Route { name, method, path }).collect()
}

/// Routes that are about nothing that belongs to somebody.
const ABOUT_NOBODY: [&str; 6] = [
    "rotate_waitpoint_secret",
    "list_partitions",
    "list_problems",
    "server_info",
    "sign_in",
    "sign_out",
];

async fn answer(world: &World, key: &str, ask: &Ask) -> Answer {
    let method: Method = ask.method.as_str().parse().unwrap();
    let mut asked = request(method, &ask.path)
        .header("authorization", format!("Bearer {key}"))
        .header("accept", "application/json")
        .header("content-type", "application/json")
        .header("x-request-id", "the-same-one");
    if let Some(fence) = &ask.fence {
        asked = asked.header("x-fence", fence);
    }
    let body = world.with_own_lease(&ask.body);
    let response = world.scene.open(asked.body(body.into()).unwrap()).await;
    // A stream goes on until what it tells of is over.
    if response
        .headers()
        .get("content-type")
        .is_some_and(|kind| kind == "text/event-stream")
    {
        return Answer {
            status: response.status(),
            headers: response.headers().clone(),
            body: Bytes::new(),
        };
    }
    without_cursors(Answer::of(response).await)
}

/// Everything an answer says, but what time it is there.
fn told(answer: &Answer) -> String {
    let body = String::from_utf8_lossy(&answer.body).into_owned();
    let is_time = |field: &str| TIMES.iter().any(|time| field.contains(time));
    let body: Vec<&str> = body.split(',').filter(|field| !is_time(field)).collect();
    format!("{} {:?}\n{}", answer.status, answer.headers, body.join(","))
}

/// Fields that say what time it is: two servers are not asked in the same moment.
const TIMES: [&str; 6] = [
    "\"server_time\":",
    "\"as_of\":",
    "\"updated_at\":",
    "\"registered_at\":",
    "\"seen_at\":",
    "\"expires_at\":",
];

/// Where the events go on says how far the feed was read, of whomever it tells: that much is seen of others.
fn without_cursors(mut answer: Answer) -> Answer {
    let mut events = answer.json();
    if let Some(told) = events.get_mut("events").and_then(Value::as_array_mut) {
        told.iter_mut().for_each(|event| event["cursor"] = Value::Null);
        events["next"] = Value::Null;
        answer.body = events.to_string().into();
        answer.headers.remove("link");
        answer.headers.remove("content-length");
    }
    answer
}

#[tokio::test]
async fn an_id_of_another_namespace_answers_as_one_nobody_uses() {
    let (mut told_apart, mut same_for_its_owner) = (Vec::new(), Vec::new());
    for route in routes() {
        let (world, empty) = (World::new().await, World::new().await);
        let things = Things::made_in(&world).await;
        let before = things.seen(&world).await;
        let asks = asks(route, &things);
        for ask in &asks {
            for role in ["admin", "worker"] {
                let key = |world: &World| world.keys[&("b", role)].clone();
                let foreign = told(&answer(&world, &key(&world), ask).await);
                let unknown = told(&answer(&empty, &key(&empty), ask).await);
                if foreign != unknown {
                    told_apart.push(format!("{} for a {role}: {ask:?}\n{foreign}\n{unknown}", route.name));
                }
            }
        }
        assert_eq!(things.seen(&world).await, before, "{} changed something", route.name);

        // Whoever it belongs to is told something else, or the ids that were asked for meant nothing.
        let mut is_told_apart = false;
        for ask in &asks {
            let owners = told(&answer(&world, &world.keys[&("a", "admin")], ask).await);
            let unknown = told(&answer(&empty, &empty.keys[&("b", "admin")], ask).await);
            is_told_apart |= owners != unknown;
        }
        if !is_told_apart {
            same_for_its_owner.push(route.name);
        }
    }
    assert!(told_apart.is_empty(), "{}", told_apart.join("\n\n"));
    assert_eq!(same_for_its_owner, ABOUT_NOBODY);
}

#[tokio::test]
async fn an_id_that_another_namespace_uses_cannot_be_given_and_nothing_is_told_of_it() {
    let world = World::new().await;
    let things = Things::made_in(&world).await;
    let before = things.seen(&world).await;
    for ask in asks::creates(&things) {
        let refused = answer(&world, &world.keys[&("b", "admin")], &ask).await;
        assert_eq!(
            refused.code(),
            (409, "already_exists".into()),
            "{ask:?}: {}",
            told(&refused)
        );
        let detail = refused.json().to_string();
        for secret in ["\"a\"", "secret", "idle"] {
            assert!(!detail.contains(secret), "{ask:?} tells {secret}: {detail}");
        }
    }
    assert_eq!(things.seen(&world).await, before);
}

#[tokio::test]
async fn what_does_not_say_whose_it_is_belongs_to_the_namespace_of_the_key() {
    let world = World::new().await;
    let key = &world.keys[&("a", "admin")];
    let asks = [
        ("/executions", r#"{"execution_kind":"job"}"#),
        (
            "/executions/batch",
            r#"{"executions":[{"execution_kind":"job"},{"execution_kind":"job"}]}"#,
        ),
        ("/submit/job", "1"),
        ("/flows", r#"{"flow_kind":"f"}"#),
        ("/budgets", r#"{"dimensions":{"tokens":{}}}"#),
        ("/quotas", r#"{"max_concurrent":1}"#),
        (
            "/workers/w-1/heartbeat",
            r#"{"incarnation":"0190c5d4-7a6b-7c3d-8e9f-a0b1c2d3e4f5"}"#,
        ),
        ("/workers/w/claim", r#"{"worker_instance_id":"w-1"}"#),
    ];
    for (path, body) in asks {
        let ask = Ask::post(path, body);
        let told = answer(&world, key, &ask).await;
        assert_ne!(told.code().1, "forbidden", "{path}");
    }
    for (listed, count) in [("executions", 4), ("flows", 1), ("budgets", 1), ("quotas", 1)] {
        let ask = Ask {
            method: ff_core::fabric::Method::GET,
            ..Ask::post(&format!("/{listed}"), "")
        };
        let items = answer(&world, key, &ask).await.json()["items"].clone();
        let namespaces: Vec<_> = items
            .as_array()
            .unwrap()
            .iter()
            .map(|item| &item["namespace"])
            .collect();
        assert_eq!(namespaces, vec!["a"; count], "{listed}");
    }
}
