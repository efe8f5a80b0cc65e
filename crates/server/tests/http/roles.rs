//! Every route tried with a key of every role, and with none.

use std::collections::BTreeMap;

use axum::http::Method;
use ff_core::caller::Role;
use ff_core::command::key::CreateKey;
use ff_core::fabric::{Fabric, OPERATIONS};
use ff_core::name::Identity;
use ff_server::{EXTRAS, Settings};

use crate::scene::{Scene, filled, request};

/// Who may call what, as it was promised: the least role, or `worker`, `key` (any) or `anyone`.
const PROMISED: &[(&str, &str)] = &[
    ("anyone", "deliver_signal callback sign_in sign_out"),
    ("key", "server_info me"),
    (
        "worker",
        "claim_for_worker claim_from_grant claim exchange register_worker heartbeat deregister_worker
         renew release update_progress record_steps spawn_children complete fail delay wait_children suspend create_pending_waitpoint report_usage append_frame",
    ),
    (
        "reader",
        "get_execution get_state list_executions get_history list_attempts read_steps explain get_tags wait_for_end list_workers
         list_pending_waitpoints approvals list_flows get_flow list_members list_edges list_groups get_flow_tags list_budgets
         get_budget list_quota_policies get_quota_policy list_lanes list_namespaces overview series events find names
         get_flow_graph list_graph_members get_lane list_views",
    ),
    (
        "submitter",
        "create_execution create_executions submit set_tags cancel_execution create_flow create_flow_graph add_execution_to_flow
         stage_dependency_edge apply_dependency_to_child open_flow cancel_flow set_edge_group_policy set_flow_tags
         get_input get_result get_step_output list_signals read_stream tail_stream follow_stream read_summary put_view delete_view",
    ),
    (
        "operator",
        "replay_execution hold unhold revoke_lease issue_reclaim_grant change_priority set_lane_state resume_execution approve reject
         read_waitpoint_token create_budget update_limits reset_budget delete_budget charge_budget create_quota_policy
         update_quota_policy delete_quota_policy delete_flow delete_execution list_problems list_partitions drain_worker undrain_worker",
    ),
    ("admin", "rotate_waitpoint_secret create_key list_keys revoke_key"),
];

/// Roles from the least on; each may do what the one before may.
const LADDER: [&str; 4] = ["reader", "submitter", "operator", "admin"];

fn may(role: &str, least: &str) -> bool {
    let rung = |role| LADDER.iter().position(|known| *known == role);
    match least {
        "anyone" | "key" => true,
        "worker" => role == "worker" || rung(role) >= rung("operator"),
        least => role != "worker" && rung(role) >= rung(least),
    }
}

/// A body that can be read, for what is refused a worker only once it is: it might have held a lease.
fn body(name: &str) -> &'static str {
    match name {
        "create_execution" => r#"{"execution_kind":"job"}"#,
        "cancel_execution" => r#"{"reason":"why"}"#,
        "stage_dependency_edge" => {
            r#"{"upstream":"{fp:0}:01999999-0000-7000-8000-000000000001",
                "downstream":"{fp:0}:01999999-0000-7000-8000-000000000002","dependency_kind":"success_only"}"#
        }
        "set_edge_group_policy" => r#"{"policy":"all_of"}"#,
        _ => "",
    }
}

async fn keys(scene: &Scene) -> BTreeMap<&'static str, String> {
    let mut keys = BTreeMap::new();
    for role in Role::ALL {
        let command = CreateKey {
            name: Identity::parse(role.as_str()).unwrap(),
            role,
            namespace: None,
            expires_at: None,
        };
        let created = scene.engine.create_key(command).await.unwrap();
        keys.insert(role.as_str(), created.key.expose().to_owned());
    }
    keys
}

#[tokio::test]
async fn every_route_opens_for_the_roles_that_were_promised_it_and_for_nobody_else() {
    let promised: BTreeMap<&str, &str> = PROMISED
        .iter()
        .flat_map(|(least, names)| names.split_whitespace().map(|name| (name, *least)))
        .collect();
    let operations = OPERATIONS.iter().map(|known| (known.name, known.method, known.path));
    let extras = EXTRAS.iter().map(|known| (known.name, known.method, known.path));
    let scene = Scene::with(Settings::default());
    let keys = keys(&scene).await;
    for (name, method, path) in operations.chain(extras) {
        let least = promised.get(name).unwrap_or_else(|| panic!("nobody promised {name}"));
        let asked = || {
            let method: Method = method.as_str().parse().unwrap();
            let request = request(method, &filled(path)).header("accept", "application/json");
            // As a page of this server: some routes are for those only.
            let request = request
                .header("origin", "http://localhost:7117")
                .header("x-ff-page", "1");
            request.header("content-type", "application/json")
        };
        for (role, key) in &keys {
            let answer = scene
                .send(asked().header("authorization", format!("Bearer {key}")), body(name))
                .await;
            let (status, code) = answer.code();
            let is_refused = status == 401 || code == "forbidden";
            assert_eq!(!is_refused, may(role, least), "{name} for {role}: {status} {code}");
        }
        let (status, code) = scene.send(asked(), body(name)).await.code();
        assert_eq!(
            status != 401,
            *least == "anyone",
            "{name} without a key: {status} {code}"
        );
    }
}
