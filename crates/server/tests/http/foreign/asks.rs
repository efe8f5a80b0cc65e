//! What is asked for on each route: with ids of things in its path, its query and its body.

use ff_core::fabric::{Method, path_fields};
use serde_json::{Value, json};

use super::Route;
use super::things::{INCARNATION, OWN_FLOW, OWN_ID, Things, own_lease, text};
use crate::scene::{in_path, under};

/// One request.
#[derive(Clone, Debug)]
pub(super) struct Ask {
    pub(super) method: Method,
    pub(super) path: String,
    /// May name the lease of the one who asks, which is another one on every server.
    pub(super) body: String,
    /// The lease that is shown.
    pub(super) fence: Option<String>,
}

impl Ask {
    pub(super) fn post(path: &str, body: &str) -> Self {
        Self {
            method: Method::POST,
            path: format!("/v1{path}"),
            body: body.to_owned(),
            fence: None,
        }
    }
}

const NEW: &str = "0190c5d4-7a6b-7c3d-8e9f-000000000001";

/// Calls about a flow that name executions or dependencies besides: the flow may be one's own, and those another's.
const OF_FLOW_AND_EXECUTION: [&str; 4] = [
    "add_execution_to_flow",
    "stage_dependency_edge",
    "apply_dependency_to_child",
    "set_edge_group_policy",
];

/// Everything that is asked for on a route.
pub(super) fn asks(route: Route, things: &Things) -> Vec<Ask> {
    let mut asks = Vec::new();
    let bodies = if route.method.has_body() {
        bodies(route.name, things)
    } else {
        vec![Value::Null]
    };
    for path in paths(route, things) {
        for query in queries(route.name, things) {
            for body in &bodies {
                for fence in [None, Some(shown(things))] {
                    asks.push(Ask {
                        method: route.method,
                        path: format!("/v1{path}{query}"),
                        body: if body.is_null() {
                            String::new()
                        } else {
                            body.to_string()
                        },
                        fence,
                    });
                }
            }
        }
    }
    asks
}

/// The lease of the execution that is held, as a header shows it.
fn shown(things: &Things) -> String {
    let [lease, attempt] = ["lease_id", "attempt_id"].map(|name| text(&things.fence[name]));
    format!(
        "{} {lease} {} {attempt}",
        text(&things.held),
        things.fence["lease_epoch"]
    )
}

/// The path with the ids of things in it: of each execution there is.
fn paths(route: Route, things: &Things) -> Vec<String> {
    let mut paths = vec![route.path.to_owned()];
    for field in path_fields(route.path) {
        let values: Vec<String> = match field {
            "execution_id" => {
                let own = matches!(route.name, "report_usage" | "record_steps").then(|| json!(OWN_ID));
                things.executions().into_iter().chain(&own).map(in_path).collect()
            }
            "flow_id" if OF_FLOW_AND_EXECUTION.contains(&route.name) => {
                vec![text(&things.flow_id).to_owned(), OWN_FLOW.to_owned()]
            }
            "flow_id" => vec![text(&things.flow_id).to_owned()],
            "waitpoint_id" => vec![things.waitpoint_id.clone()],
            "budget_id" => vec![text(&things.budget_id).to_owned()],
            "quota_policy_id" => vec![text(&things.quota_policy_id).to_owned()],
            "attempt_index" | "seq" => vec!["0".to_owned()],
            "worker_id" => vec!["me".to_owned()],
            "worker_instance_id" => vec!["me-1".to_owned()],
            "lane_id" => vec!["idle".to_owned()],
            "name" => vec!["a-key".to_owned()],
            "execution_kind" => vec!["secret".to_owned()],
            "sealed" => vec![things.sealed.clone()],
            other => panic!("nobody said what stands for {other} in {}", route.path),
        };
        let place = format!("{{{field}}}");
        let filled = paths
            .iter()
            .flat_map(|path| values.iter().map(|value| path.replace(&place, value)));
        paths = filled.collect();
    }
    paths
}

/// Queries of what is listed and deleted; most have none.
fn queries(name: &str, things: &Things) -> Vec<String> {
    let (flow, execution) = (text(&things.flow_id), in_path(&things.held));
    let given: Vec<String> = match name {
        "list_executions" => vec![
            String::new(),
            format!("flow={flow}"),
            format!("id={execution}"),
            "worker=me".to_owned(),
            "lane=idle".to_owned(),
            "tag=secret:1".to_owned(),
            format!("cause=budget:{}", text(&things.budget_id)),
            format!("cause=quota:{}", text(&things.quota_policy_id)),
            "state=active".to_owned(),
            "cause=lane".to_owned(),
            format!("limit=1&cursor={}", text(&things.cursor)),
            "namespace=a".to_owned(),
        ],
        "events" => vec![
            "from=oldest".to_owned(),
            format!("from=oldest&flow={flow}"),
            format!("from=oldest&execution={execution}"),
            format!("cursor={}", text(&things.events_cursor)),
            "namespace=a".to_owned(),
        ],
        "submit" => vec![
            format!("execution_uuid={NEW}&flow_id={flow}"),
            format!("execution_uuid={NEW}&namespace=a"),
            format!("execution_uuid={NEW}"),
        ],
        "deregister_worker" => vec![format!("incarnation={INCARNATION}")],
        "find" => {
            let tail = &execution[execution.len() - 8..];
            let ids = [
                &things.held,
                &things.flow_id,
                &things.budget_id,
                &things.quota_policy_id,
            ]
            .map(text);
            let asked = ids.into_iter().chain([tail, "idle", "secret", "me"]);
            asked.map(|q| format!("q={}", q.replace(['{', '}'], ""))).collect()
        }
        "names" => vec!["of=lane".to_owned(), "of=kind".to_owned(), "of=category".to_owned()],
        "list_flows"
        | "list_budgets"
        | "list_quota_policies"
        | "list_workers"
        | "list_lanes"
        | "approvals"
        | "list_views"
        | "delete_view"
        | "get_lane" => {
            vec![String::new(), "namespace=a".to_owned()]
        }
        "list_graph_members" => vec!["class=0".to_owned()],
        _ => vec![String::new()],
    };
    let marked = |query: String| if query.is_empty() { query } else { format!("?{query}") };
    given.into_iter().map(marked).collect()
}

/// Submissions that refer to what belongs to somebody else.
fn submissions(things: &Things) -> Vec<Value> {
    let [upstream, _] = &things.members;
    let holder = under(&things.fence, json!({ "execution_id": things.held }));
    let parts = [
        json!({ "flow_id": things.flow_id }),
        json!({ "flow_id": things.flow_id, "depends_on": [{ "upstream": upstream }] }),
        json!({ "flow_id": OWN_FLOW, "depends_on": [{ "upstream": upstream }] }),
        json!({ "policy": { "budget_ids": [things.budget_id] } }),
        json!({ "policy": { "quota_policy_id": things.quota_policy_id } }),
        json!({ "parent_fence": holder }),
        json!({ "namespace": "a" }),
        json!({}),
    ];
    let submission = |mut part: Value| {
        part["execution_kind"] = json!("job");
        part["execution_uuid"] = json!(NEW);
        part
    };
    parts.map(submission).into()
}

fn bodies(name: &str, things: &Things) -> Vec<Value> {
    let fenced = |command: Value| vec![under(&things.fence, command)];
    let [upstream, downstream] = &things.members;
    let suspend = json!({
        "waitpoints": [{ "fresh": { "waitpoint_key": "w" } }],
        "resume_condition": { "single": { "waitpoint_key": "w", "matcher": "any" } },
        "reason_code": "waiting_for_signal",
    });
    match name {
        "create_execution" => submissions(things),
        "create_executions" => vec![json!({ "executions": submissions(things) })],
        "create_flow" => vec![json!({ "flow_kind": "f", "flow_id": NEW })],
        "create_flow_graph" => vec![json!({
            "flow_kind": "f", "flow_id": NEW,
            "members": [{ "key": "x", "execution_kind": "job", "namespace": "b", "policy": { "budget_ids": [things.budget_id] } }],
        })],
        "create_budget" => vec![json!({ "dimensions": { "tokens": {} }, "budget_id": NEW })],
        "create_quota_policy" => vec![json!({ "max_concurrent": 1, "quota_policy_id": NEW })],
        "create_key" => vec![json!({ "name": "another", "role": "reader", "namespace": "a" })],
        "rotate_waitpoint_secret" => vec![json!({ "new_kid": "another", "new_secret_hex": "ab".repeat(32) })],
        "submit" | "callback" => vec![json!({})],
        "claim_for_worker" => vec![json!({ "worker_instance_id": "me-1", "lane": "open" })],
        "claim_from_grant" => vec![json!({ "grant": things.grant, "worker_id": "me", "worker_instance_id": "me-1" })],
        "claim" => vec![json!({ "worker_id": "me", "lanes": ["open"] })],
        "exchange" => exchanges(things),
        "issue_reclaim_grant" => vec![json!({ "worker_id": "me", "worker_instance_id": "me-1" })],
        "renew" | "release" | "wait_children" => fenced(json!({})),
        "update_progress" => fenced(json!({ "pct": 1 })),
        "record_steps" => {
            let usage = json!([{ "budget_id": things.budget_id, "deltas": { "tokens": 1 } }]);
            let steps = json!({ "steps": [{ "key": "a", "output": 1, "usage": usage }] });
            vec![under(&things.fence, steps.clone()), under(&own_lease(), steps)]
        }
        "spawn_children" => fenced(json!({ "children": [{ "step": "a", "execution_kind": "job" }] })),
        "complete" => fenced(json!({ "result": 1 })),
        "fail" => fenced(json!({ "reason": "why", "category": "transient" })),
        "delay" => fenced(json!({ "until": 1_800_000_001_000_u64 })),
        "suspend" => fenced(suspend),
        "create_pending_waitpoint" => {
            fenced(json!({ "waitpoint_key": "w", "expires_in_ms": 1000, "waitpoint_id": NEW }))
        }
        "report_usage" => {
            let usage = json!({ "budget_id": things.budget_id, "deltas": { "tokens": 1 } });
            vec![under(&things.fence, usage.clone()), under(&own_lease(), usage)]
        }
        "append_frame" => fenced(json!({ "frame_type": "t", "payload": 1 })),
        "cancel_execution" => vec![json!({ "reason": "why" })],
        "change_priority" => vec![json!({ "priority": 5 })],
        "set_tags" | "set_flow_tags" => vec![json!({ "tags": { "x": "y" } })],
        "set_lane_state" => vec![
            json!({ "state": "active" }),
            json!({ "state": "active", "namespace": "a" }),
        ],
        "deliver_signal" => vec![json!({
            "waitpoint_id": things.waitpoint_id, "waitpoint_token": things.waitpoint_token, "signal_name": "go",
        })],
        "add_execution_to_flow" => vec![
            json!({ "execution_id": things.waiting }),
            json!({ "execution_id": upstream }),
        ],
        "stage_dependency_edge" => vec![json!({ "upstream": upstream, "downstream": downstream })],
        "apply_dependency_to_child" => vec![json!({ "edge_id": things.edge_id })],
        "set_edge_group_policy" => vec![json!({ "policy": "all_of" })],
        "cancel_flow" => vec![json!({ "policy": "cancel_all", "reason": "why" })],
        "update_limits" => vec![json!({ "dimensions": { "tokens": { "hard": 7 } } })],
        "charge_budget" => vec![json!({ "deltas": { "tokens": 1 } })],
        "update_quota_policy" => vec![json!({ "max_concurrent": 7 })],
        "register_worker" => vec![json!({ "worker_id": "me", "incarnation": INCARNATION, "lanes": ["work"] })],
        "heartbeat" => vec![json!({ "incarnation": INCARNATION })],
        "put_view" => vec![
            json!({ "title": "t", "query": "" }),
            json!({ "title": "t", "query": "", "namespace": "a" }),
        ],
        "drain_worker" => vec![json!({ "reason": "why" })],
        "sign_in" => vec![json!({ "key": "nobodys" })],
        "replay_execution" | "revoke_lease" | "hold" | "unhold" | "resume_execution" | "approve" | "reject"
        | "open_flow" | "reset_budget" => vec![json!({})],
        other => panic!("nobody said what {other} takes"),
    }
}

/// A round of a worker that shows leases of others.
fn exchanges(things: &Things) -> Vec<Value> {
    let of = |command: Value| {
        let mut item = under(&things.fence, command);
        item["execution_id"] = things.held.clone();
        item
    };
    let exchange = |mut parts: Value| {
        parts["worker_id"] = json!("me");
        parts["incarnation"] = json!(INCARNATION);
        parts
    };
    let usage = json!({ "budget_id": things.budget_id, "deltas": { "tokens": 1 } });
    let mut own_usage = under(&own_lease(), usage.clone());
    own_usage["execution_id"] = json!(OWN_ID);
    [
        json!({ "renew": [of(json!({}))] }),
        json!({ "frames": [of(json!({ "frame_type": "t", "payload": 1 }))] }),
        json!({ "usage": [of(usage), own_usage] }),
        json!({ "finished": [of(json!({ "op": "complete", "result": 1 }))] }),
        json!({ "want": { "lanes": ["open"] } }),
    ]
    .map(exchange)
    .into()
}

/// Creates under ids that are in use.
pub(super) fn creates(things: &Things) -> Vec<Ask> {
    let uuid = text(&things.waiting).rsplit(':').next();
    let create = |path: &str, body: Value| Ask::post(path, &body.to_string());
    let graph = json!({
        "flow_kind": "f", "flow_id": things.flow_id, "members": [{ "key": "x", "execution_kind": "job" }],
    });
    vec![
        create(
            "/executions",
            json!({ "execution_kind": "job", "execution_id": things.waiting }),
        ),
        create(
            "/executions",
            json!({ "execution_kind": "secret", "lane_id": "idle", "execution_uuid": uuid }),
        ),
        create("/flows", json!({ "flow_kind": "secret", "flow_id": things.flow_id })),
        create("/flows/graph", graph),
        create(
            "/budgets",
            json!({ "dimensions": { "tokens": { "hard": 100 } }, "budget_id": things.budget_id }),
        ),
        create(
            "/quotas",
            json!({ "max_concurrent": 100, "quota_policy_id": things.quota_policy_id }),
        ),
        create(
            "/admin/keys",
            json!({ "name": "a-key", "role": "reader", "namespace": "b" }),
        ),
    ]
}
