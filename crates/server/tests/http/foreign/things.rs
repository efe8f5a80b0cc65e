//! One of everything, in the namespace `a`.

use std::collections::BTreeMap;

use axum::http::Method;
use ff_core::caller::Role;
use ff_core::command::key::CreateKey;
use ff_core::fabric::Fabric;
use ff_core::name::{Identity, Namespace};
use ff_server::Settings;
use serde_json::{Value, json};

use crate::scene::{Scene, request, under};

/// The same on every server, so that what is signed on one is read on the other.
const SIGNING_KEY: &str = "a11cea11cea11cea11cea11cea11cea11cea11cea11cea11cea11cea11cea11c";

/// A server with keys of two namespaces.
pub(super) struct World {
    pub(super) scene: Scene,
    /// By namespace and role.
    pub(super) keys: BTreeMap<(&'static str, &'static str), String>,
    /// The lease of the namespace `b` on an execution of its own.
    own: Value,
}

/// What the namespace `b` has of its own, on every server: an execution with a lease, and a flow.
pub(super) const OWN_ID: &str = "{fp:3}:0190c5d4-7a6b-7c3d-8e9f-0000000000b1";
pub(super) const OWN_FLOW: &str = "0190c5d4-7a6b-7c3d-8e9f-0000000000b2";

impl World {
    pub(super) async fn new() -> Self {
        let scene = Scene::with(Settings::default());
        let rotation = json!({ "new_kid": "shared", "new_secret_hex": SIGNING_KEY });
        let rotation = ff_core::wire::from_request(rotation.to_string().as_bytes()).unwrap();
        scene.engine.rotate_waitpoint_secret(rotation).await.unwrap();
        let mut keys = BTreeMap::new();
        for namespace in ["a", "b"] {
            for role in [Role::Admin, Role::Worker] {
                let command = CreateKey {
                    name: Identity::parse(format!("{namespace}-{}", role.as_str())).unwrap(),
                    role,
                    namespace: Some(Namespace::parse(namespace).unwrap()),
                    expires_at: None,
                };
                let created = scene.engine.create_key(command).await.unwrap();
                keys.insert((namespace, role.as_str()), created.key.expose().to_owned());
            }
        }
        let mut world = Self {
            scene,
            keys,
            own: Value::Null,
        };
        let job = json!({ "execution_kind": "own", "lane_id": "own", "execution_id": OWN_ID });
        world.ask_in("b", Method::POST, "/v1/executions", job).await;
        let flow = json!({ "flow_kind": "own", "flow_id": OWN_FLOW });
        world.ask_in("b", Method::POST, "/v1/flows", flow).await;
        let claim = json!({ "worker_id": "own", "lanes": ["own"] });
        let claimed = world.ask_in("b", Method::POST, "/v1/workers/own-1/tasks", claim).await;
        world.own = fence_of(&claimed["tasks"][0]);
        world
    }

    /// A body in which the lease of the namespace `b` is that of this server.
    pub(super) fn with_own_lease(&self, body: &str) -> String {
        let named = own_lease();
        let fields = named.as_object().unwrap().iter();
        fields.fold(body.to_owned(), |body, (name, placeholder)| {
            body.replace(&placeholder.to_string(), &self.own[name].to_string())
        })
    }

    /// What somebody of the namespace `a` is told, who may do everything.
    async fn ask(&self, method: Method, path: &str, body: Value) -> Value {
        self.ask_in("a", method, path, body).await
    }

    async fn ask_in(&self, namespace: &'static str, method: Method, path: &str, body: Value) -> Value {
        let asked = request(method, path)
            .header("authorization", format!("Bearer {}", self.keys[&(namespace, "admin")]))
            .header("accept", "application/json")
            .header("content-type", "application/json");
        let answer = self.scene.send(asked, body.to_string()).await;
        assert!(answer.status.is_success(), "{path}: {}", answer.json());
        answer.json()
    }

    async fn post(&self, path: &str, body: Value) -> Value {
        self.ask(Method::POST, path, body).await
    }
}

/// What was made.
pub(super) struct Things {
    pub(super) waiting: Value,
    pub(super) held: Value,
    pub(super) suspended: Value,
    pub(super) ended: Value,
    pub(super) members: [Value; 2],
    pub(super) fence: Value,
    pub(super) waitpoint_id: String,
    pub(super) waitpoint_token: Value,
    pub(super) sealed: String,
    pub(super) flow_id: Value,
    pub(super) edge_id: Value,
    pub(super) budget_id: Value,
    pub(super) quota_policy_id: Value,
    pub(super) grant: Value,
    pub(super) cursor: Value,
    pub(super) events_cursor: Value,
}

pub(super) const INCARNATION: &str = "0190c5d4-7a6b-7c3d-8e9f-a0b1c2d3e4f5";

impl Things {
    /// Makes one of everything.
    pub(super) async fn made_in(world: &World) -> Self {
        let budget = world
            .post(
                "/v1/budgets",
                json!({ "dimensions": { "tokens": { "hard": 100 } }, "scope": "secret" }),
            )
            .await;
        let quota = world.post("/v1/quotas", json!({ "max_concurrent": 100 })).await;
        let (budget_id, quota_policy_id) = (budget["budget_id"].clone(), quota["quota_policy_id"].clone());
        let register = json!({ "worker_id": "me", "incarnation": INCARNATION, "lanes": ["work"] });
        world.ask(Method::PUT, "/v1/workers/me-1", register).await;

        let policy = json!({ "budget_ids": [budget_id], "quota_policy_id": quota_policy_id });
        let waiting = submitted(world, "idle", json!({ "policy": policy })).await;
        world
            .ask(Method::PUT, "/v1/lanes/idle/state", json!({ "state": "paused" }))
            .await;
        let held = submitted(world, "work", json!({})).await;
        let (_, fence) = claimed(world, "work").await;
        let frame = json!({ "frame_type": "secret", "payload": "secret" });
        world.post(&at(&held, "/lease/frames"), under(&fence, frame)).await;
        let (suspended, waitpoint) = suspended(world).await;
        let ended = submitted(world, "work", json!({})).await;
        let (_, ending) = claimed(world, "work").await;
        let result = under(&ending, json!({ "result": "secret" }));
        world.post(&at(&ended, "/lease/complete"), result).await;

        submitted(world, "open", json!({})).await;
        let key = json!({ "name": "a-key", "role": "reader", "namespace": "a" });
        world.post("/v1/admin/keys", key).await;
        submitted(world, "grants", json!({})).await;
        let claim = json!({ "worker_instance_id": "me-1", "lane": "grants", "grant_ttl_ms": 60_000 });
        let grant = world.post("/v1/workers/me/claim", claim).await["grant"].clone();
        let (flow_id, members, edge_id) = flow(world).await;
        let page = world.ask(Method::GET, "/v1/executions?limit=1", json!({})).await;
        let events = world.ask(Method::GET, "/v1/events?limit=1", json!({})).await;
        Self {
            waiting,
            held,
            suspended,
            ended,
            members,
            fence,
            waitpoint_id: waitpoint["waitpoint_id"].as_str().unwrap().to_owned(),
            waitpoint_token: waitpoint["waitpoint_token"].clone(),
            sealed: waitpoint["callback_path"]
                .as_str()
                .unwrap()
                .rsplit('/')
                .next()
                .unwrap()
                .to_owned(),
            flow_id,
            edge_id,
            budget_id,
            quota_policy_id,
            grant,
            cursor: page["next"].clone(),
            events_cursor: events["next"].clone(),
        }
    }

    /// Every execution there is an id of.
    pub(super) fn executions(&self) -> [&Value; 5] {
        let [member, _] = &self.members;
        [&self.waiting, &self.held, &self.suspended, &self.ended, member]
    }

    /// All of it, as its owner sees it.
    pub(super) async fn seen(&self, world: &World) -> Vec<Value> {
        let (flow, budget, quota) = (text(&self.flow_id), text(&self.budget_id), text(&self.quota_policy_id));
        let mut paths = vec![
            format!("/v1/flows/{flow}"),
            format!("/v1/flows/{flow}/edges"),
            format!("/v1/flows/{flow}/groups"),
            format!("/v1/budgets/{budget}"),
            format!("/v1/quotas/{quota}"),
            "/v1/lanes".to_owned(),
            "/v1/workers".to_owned(),
            "/v1/executions".to_owned(),
        ];
        for id in self.executions() {
            for part in ["", "/history", "/signals", "/pending-waitpoints", "/attempts"] {
                paths.push(at(id, part));
            }
        }
        let mut seen = Vec::new();
        for path in paths {
            seen.push(world.ask(Method::GET, &path, json!({})).await);
        }
        seen
    }
}

pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

/// The path of something about an execution.
pub(super) fn at(id: &Value, rest: &str) -> String {
    format!("/v1/executions/{}{rest}", crate::scene::in_path(id))
}

async fn submitted(world: &World, lane: &str, more: Value) -> Value {
    let mut job = json!({ "execution_kind": "secret", "lane_id": lane, "input": "secret", "tags": { "secret": "1" } });
    job.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    world.post("/v1/executions", job).await["execution_id"].clone()
}

/// The next task of a lane, with its fence.
async fn claimed(world: &World, lane: &str) -> (Value, Value) {
    let claim = json!({ "worker_id": "me", "lanes": [lane], "incarnation": INCARNATION });
    let task = world.post("/v1/workers/me-1/tasks", claim).await["tasks"][0].clone();
    let fence = fence_of(&task);
    (task, fence)
}

fn fence_of(task: &Value) -> Value {
    json!({ "lease_id": task["lease_id"], "lease_epoch": task["lease_epoch"], "attempt_id": task["attempt_id"] })
}

/// Stands for the lease of the namespace `b`, which is another one on every server.
pub(super) fn own_lease() -> Value {
    json!({ "lease_id": "own lease", "lease_epoch": "own epoch", "attempt_id": "own attempt" })
}

/// An execution that waits for a person, and its waitpoint.
async fn suspended(world: &World) -> (Value, Value) {
    let id = submitted(world, "waits", json!({})).await;
    let (_, fence) = claimed(world, "waits").await;
    let suspend = json!({
        "waitpoints": [{ "fresh": { "waitpoint_key": "review" } }],
        "resume_condition": { "single": { "waitpoint_key": "review", "matcher": "any" } },
        "reason_code": "waiting_for_approval",
    });
    let answer = world.post(&at(&id, "/lease/suspend"), under(&fence, suspend)).await;
    (id, answer["waitpoints"][0].clone())
}

/// A flow that is being assembled: two members, and a dependency between them.
async fn flow(world: &World) -> (Value, [Value; 2], Value) {
    let created = world
        .post("/v1/flows", json!({ "flow_kind": "secret", "tags": { "secret": "1" } }))
        .await;
    let flow_id = created["flow_id"].clone();
    let member = async || submitted(world, "idle", json!({ "flow_id": flow_id })).await;
    let members = [member().await, member().await];
    let edge = json!({ "upstream": members[0], "downstream": members[1] });
    let staged = world.post(&format!("/v1/flows/{}/edges", text(&flow_id)), edge).await;
    (flow_id, members, staged["edge_id"].clone())
}
