//! The table says what the specification says: written down here by hand, operation by operation.

use std::collections::{BTreeMap, BTreeSet};

use ff_core::caller::{Caller, Role};
use ff_core::command::lease::Holder;
use ff_core::error::Code;
use ff_core::fabric::{Access, Body, OPERATIONS, Operation};

/// Names, methods, paths and roles as they were promised. `{}` stands for any field; `+` for a worker that holds a lease.
const PROMISED: &str = "
    create_execution            POST    /executions                                     submitter+
    create_executions           POST    /executions/batch                               submitter
    list_executions             GET     /executions                                     reader
    find                        GET     /find                                           reader
    names                       GET     /names                                          reader
    get_execution               GET     /executions/{}                                  reader
    get_state                   GET     /executions/{}/state                            reader
    get_input                   GET     /executions/{}/input                            submitter+
    get_result                  GET     /executions/{}/result                           submitter+
    get_history                 GET     /executions/{}/history                          reader
    list_attempts               GET     /executions/{}/attempts                         reader
    read_steps                  GET     /executions/{}/steps                            reader+
    get_step_output             GET     /executions/{}/steps/{}/output                  submitter+
    list_signals                GET     /executions/{}/signals                          submitter+
    explain                     GET     /executions/{}/explain                          reader
    get_tags                    GET     /executions/{}/tags                             reader
    set_tags                    PUT     /executions/{}/tags                             submitter
    cancel_execution            POST    /executions/{}/cancel                           submitter+
    replay_execution            POST    /executions/{}/replay                           operator
    delete_execution            DELETE  /executions/{}                                  operator
    hold                        POST    /executions/{}/hold                             operator
    unhold                      POST    /executions/{}/unhold                           operator
    revoke_lease                POST    /executions/{}/revoke-lease                     operator
    issue_reclaim_grant         POST    /executions/{}/reclaim                          operator
    change_priority             PUT     /executions/{}/priority                         operator
    wait_for_end                GET     /executions/{}/wait                             reader
    claim_for_worker            POST    /workers/{}/claim                               worker
    claim_from_grant            POST    /grants/redeem                                  worker
    claim                       POST    /workers/{}/tasks                               worker
    exchange                    POST    /workers/{}/exchange                            worker
    register_worker             PUT     /workers/{}                                     worker
    heartbeat                   POST    /workers/{}/heartbeat                           worker
    deregister_worker           DELETE  /workers/{}                                     worker
    drain_worker                POST    /workers/{}/drain                               operator
    undrain_worker              DELETE  /workers/{}/drain                               operator
    list_workers                GET     /workers                                        reader
    renew                       POST    /executions/{}/lease/renew                      worker
    release                     POST    /executions/{}/lease/release                    worker
    update_progress             POST    /executions/{}/lease/progress                   worker
    record_steps                POST    /executions/{}/lease/steps                      worker
    spawn_children              POST    /executions/{}/lease/spawn                      worker
    complete                    POST    /executions/{}/lease/complete                   worker
    fail                        POST    /executions/{}/lease/fail                       worker
    delay                       POST    /executions/{}/lease/delay                      worker
    wait_children               POST    /executions/{}/lease/wait-children              worker
    suspend                     POST    /executions/{}/lease/suspend                    worker
    create_pending_waitpoint    POST    /executions/{}/lease/waitpoints                 worker
    report_usage                POST    /executions/{}/lease/usage                      worker
    append_frame                POST    /executions/{}/lease/frames                     worker
    deliver_signal              POST    /executions/{}/signal                           anyone
    list_pending_waitpoints     GET     /executions/{}/pending-waitpoints               reader
    read_waitpoint_token        GET     /executions/{}/waitpoints/{}/token              operator
    resume_execution            POST    /executions/{}/resume                           operator
    approve                     POST    /executions/{}/waitpoints/{}/approve            operator
    reject                      POST    /executions/{}/waitpoints/{}/reject             operator
    approvals                   GET     /approvals                                      reader
    read_stream                 GET     /executions/{}/attempts/{}/stream               submitter+
    tail_stream                 GET     /executions/{}/attempts/{}/stream/tail          submitter+
    read_summary                GET     /executions/{}/attempts/{}/summary              submitter+
    create_flow                 POST    /flows                                          submitter
    create_flow_graph           POST    /flows/graph                                    submitter
    list_flows                  GET     /flows                                          reader
    get_flow                    GET     /flows/{}                                       reader
    get_flow_graph              GET     /flows/{}/graph                                 reader
    list_graph_members          GET     /flows/{}/graph/members                         reader
    list_members                GET     /flows/{}/members                               reader
    list_edges                  GET     /flows/{}/edges                                 reader
    list_groups                 GET     /flows/{}/groups                                reader
    get_flow_tags               GET     /flows/{}/tags                                  reader
    set_flow_tags               PUT     /flows/{}/tags                                  submitter
    add_execution_to_flow       POST    /flows/{}/members                               submitter
    stage_dependency_edge       POST    /flows/{}/edges                                 submitter+
    apply_dependency_to_child   POST    /flows/{}/edges/apply                           submitter
    open_flow                   POST    /flows/{}/open                                  submitter
    cancel_flow                 POST    /flows/{}/cancel                                submitter
    set_edge_group_policy       PUT     /flows/{}/groups/{}                             submitter+
    delete_flow                 DELETE  /flows/{}                                       operator
    create_budget               POST    /budgets                                        operator
    list_budgets                GET     /budgets                                        reader
    get_budget                  GET     /budgets/{}                                     reader
    update_limits               PATCH   /budgets/{}                                     operator
    delete_budget               DELETE  /budgets/{}                                     operator
    charge_budget               POST    /budgets/{}/usage                               operator
    reset_budget                POST    /budgets/{}/reset                               operator
    create_quota_policy         POST    /quotas                                         operator
    list_quota_policies         GET     /quotas                                         reader
    get_quota_policy            GET     /quotas/{}                                      reader
    update_quota_policy         PATCH   /quotas/{}                                      operator
    delete_quota_policy         DELETE  /quotas/{}                                      operator
    list_lanes                  GET     /lanes                                          reader
    get_lane                    GET     /lanes/{}                                       reader
    set_lane_state              PUT     /lanes/{}/state                                 operator
    list_namespaces             GET     /namespaces                                     reader
    overview                    GET     /overview                                       reader
    series                      GET     /series                                         reader
    events                      GET     /events                                         reader
    rotate_waitpoint_secret     POST    /admin/rotate-waitpoint-secret                  admin
    list_views                  GET     /views                                          reader
    put_view                    PUT     /views/{}                                       submitter
    delete_view                 DELETE  /views/{}                                       submitter
    create_key                  POST    /admin/keys                                     admin
    list_keys                   GET     /admin/keys                                     admin
    revoke_key                  DELETE  /admin/keys/{}                                  admin
    list_partitions             GET     /admin/partitions                               operator
    list_problems               GET     /admin/problems                                 operator
";

const UUID: &str = "0190c5d4-7a6b-7c3d-8e9f-a0b1c2d3e4f5";

/// Bodies that may be larger than 128 KiB, in bytes, where a payload may have 1 MiB.
const LARGE_BODIES: &[(usize, &[&str])] = &[
    (
        8 * 1024 * 1024,
        &[
            "record_steps",
            "spawn_children",
            "complete",
            "fail",
            "release",
            "delay",
            "wait_children",
            "suspend",
        ],
    ),
    (384 * 1024, &["deliver_signal", "approve", "reject"]),
    (
        16 * 1024 * 1024,
        &["create_executions", "create_flow_graph", "exchange"],
    ),
    (4 * 1024 * 1024 / 3 + 128 * 1024, &["create_execution"]),
];

#[test]
fn the_table_keeps_every_promise_about_names_paths_and_roles() {
    let promised: BTreeMap<&str, [&str; 3]> = PROMISED
        .lines()
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            Some((
                words.next()?,
                std::array::from_fn(|_| words.next().expect("four words")),
            ))
        })
        .collect();
    let built: BTreeMap<&str, [String; 3]> = OPERATIONS
        .iter()
        .map(|operation| (operation.name, described(operation)))
        .collect();
    for (name, words) in &promised {
        let words = words.map(str::to_owned);
        assert_eq!(built.get(name), Some(&words), "{name}");
    }
    let unpromised: Vec<_> = built.keys().filter(|name| !promised.contains_key(*name)).collect();
    assert!(unpromised.is_empty(), "nobody promised {unpromised:?}");
}

fn described(operation: &Operation) -> [String; 3] {
    let parts = operation
        .path
        .split('/')
        .map(|part| if part.starts_with('{') { "{}" } else { part });
    let path = parts.collect::<Vec<_>>().join("/");
    let who = match operation.access {
        Access::Anyone => "anyone".to_owned(),
        Access::AnyRole => "any role".to_owned(),
        Access::Role(role) => role.as_str().to_owned(),
        Access::RoleOrHolder(role) => format!("{}+", role.as_str()),
    };
    [operation.method.as_str().to_owned(), path, who]
}

#[test]
fn bodies_are_as_large_as_promised() {
    for operation in OPERATIONS {
        let large = LARGE_BODIES.iter().find(|(_, names)| names.contains(&operation.name));
        let promised = large.map_or(128 * 1024, |(bytes, _)| *bytes);
        let built = operation.body.bytes_max(1024 * 1024);
        assert!(built.abs_diff(promised) < 4, "{operation:?}: {built}, not {promised}");
    }
}

#[test]
fn no_two_operations_share_a_name_or_a_route() {
    let names: BTreeSet<_> = OPERATIONS.iter().map(|operation| operation.name).collect();
    assert_eq!(names.len(), OPERATIONS.len());
    let routes: BTreeSet<_> = OPERATIONS
        .iter()
        .map(|operation| described(operation)[..2].to_vec())
        .collect();
    assert_eq!(routes.len(), OPERATIONS.len());
}

#[test]
fn what_has_no_body_has_no_limit_of_its_own() {
    for operation in OPERATIONS {
        assert!(
            operation.method.has_body() || operation.body == Body::Small,
            "{operation:?}"
        );
        assert!(!operation.summary.trim().is_empty(), "{operation:?} says nothing");
    }
}

#[test]
fn a_role_may_do_what_its_table_entry_says_and_nothing_else() {
    let lease = format!("{{fp:0}}:{UUID} {UUID} 1 {UUID}");
    let callers = Role::ALL.into_iter().flat_map(|role| {
        [None, Some(Holder::from_text(&lease).unwrap())].map(|held| Caller {
            role,
            held,
            ..Caller::local()
        })
    });
    for caller in callers {
        for operation in OPERATIONS {
            let role = caller.role;
            let expected = match operation.access {
                Access::Anyone | Access::AnyRole => true,
                Access::Role(needed) => role.contains(needed),
                Access::RoleOrHolder(needed) => {
                    role.contains(needed) || (role == Role::Worker && caller.held.is_some())
                }
            };
            match caller.check(operation) {
                Ok(()) => assert!(expected, "{role:?} may {operation:?}"),
                Err(refusal) => {
                    assert!(!expected, "{role:?} may not {operation:?}");
                    assert_eq!(refusal.code, Code::Forbidden);
                    assert!(refusal.detail.contains(operation.name), "{refusal}");
                }
            }
        }
    }
}
