//! The table of operations: what FlowFabric does, each a line of data.
//!
//! Everything that must know all operations is made from this table: the trait [`super::Fabric`], the engine's door to each,
//! the client, the routes, the check of roles, limits, metrics, `docs/reference/rest.md` and the coverage lists of the suites.
//!
//! ```text
//! /// What it promises.
//! name: METHOD "/path/{field}", who may, how large a body, (what it takes) => (what it answers);
//! ```
//!
//! | takes | |
//! |---|---|
//! | `(Command)` | a command |
//! | `(on Id, Command)` | a command about the thing with an id |
//! | `(of Id)` | an id and nothing else |
//! | `(many name: Command)` | a list of commands |
//!
//! | answers | |
//! |---|---|
//! | `(Outcome)` | an outcome |
//! | `(maybe Outcome)` | an outcome, or nothing |
//! | `(list name: Outcome)` | a list |
//! | `(each name: Outcome)` | an outcome or a refusal for each command of a list |
//! | `(bytes)`, `(maybe bytes)` | a payload as it is |
//! | `(nothing)` | that it is done |
//!
//! Fields named in a path stand there; the others are the query of a GET or DELETE, and the JSON body of everything else.

/// Hands the table to the macro `$with`, behind `$args`.
#[macro_export]
macro_rules! operations {
    ($with:ident $($args:tt)*) => {
        $with! {
            $($args)*

            submit {
                /// Submits one execution. Safe to repeat by id or by key.
                create_execution: POST "/executions", submitter or holder, Submission,
                    (CreateExecution) => (Created);

                /// Submits up to 1,000 executions. One bad item does not fail the others.
                create_executions: POST "/executions/batch", submitter, Batch,
                    (many executions: CreateExecution) => (each results: Created);

                /// Replaces the tags of an execution.
                set_tags: PUT "/executions/{execution_id}/tags", submitter, Small,
                    (on ExecutionId, SetTags) => (Changed);

                /// The tags of an execution.
                get_tags: GET "/executions/{execution_id}/tags", reader, Small,
                    (of ExecutionId) => (Tagged);

                /// What an execution works on.
                get_input: GET "/executions/{execution_id}/input", submitter or holder, Small,
                    (of ExecutionId) => (bytes);
            }

            claims {
                /// One grant, or none when nothing is eligible for this worker.
                claim_for_worker: POST "/workers/{worker_id}/claim", worker, Small,
                    (ClaimForWorker) => (maybe IssuedGrant);

                /// Turns a grant, of a claim or a reclaim, into a lease. The same instance gets the same task again while its
                /// lease lives.
                claim_from_grant: POST "/grants/redeem", worker, Small,
                    (RedeemGrant) => (Task);

                /// Reserves, admits and leases in one step, parking up to `wait_ms` until there is something.
                ///
                /// Not safe to repeat: what a lost reply handed out comes back by itself when its short first lease ends. A
                /// process whose instance is another live one's is refused, here and in an exchange that wants something.
                claim: POST "/workers/{worker_instance_id}/tasks", worker, Small,
                    (Claim) => (list tasks: Task);

                /// The one call of a remote worker's loop: what it finished, what it renews, what it can take.
                exchange: POST "/workers/{worker_instance_id}/exchange", worker, Batch,
                    (Exchange) => (Exchanged);

                /// Promises an execution that lost its worker to a given one.
                issue_reclaim_grant: POST "/executions/{execution_id}/reclaim", operator, Small,
                    (on ExecutionId, IssueReclaimGrant) => (IssuedGrant);
            }

            work {
                /// Keeps the lease.
                renew: POST "/executions/{execution_id}/lease/renew", worker, Small,
                    (on ExecutionId, Renew) => (Renewed);

                /// Gives the task back; the same attempt continues at its next claim.
                release: POST "/executions/{execution_id}/lease/release", worker, Finish,
                    (on ExecutionId, Release) => (LetGo);

                /// Says how far the work is.
                update_progress: POST "/executions/{execution_id}/lease/progress", worker, Small,
                    (on ExecutionId, UpdateProgress) => (nothing);

                /// Records what the handler has done, all of it or nothing, and renews the lease.
                record_steps: POST "/executions/{execution_id}/lease/steps", worker, Finish,
                    (on ExecutionId, RecordSteps) => (RecordedSteps);

                /// Starts executions, all of them or none, each a step of the handler that whoever goes on finds again. Those that
                /// are open are cancelled when the one that started them ends other than by success.
                spawn_children: POST "/executions/{execution_id}/lease/spawn", worker, Finish,
                    (on ExecutionId, SpawnChildren) => (SpawnedChildren);

                /// The work is done.
                complete: POST "/executions/{execution_id}/lease/complete", worker, Finish,
                    (on ExecutionId, Complete) => (Completed);

                /// The attempt failed; the retry policy decides what follows.
                fail: POST "/executions/{execution_id}/lease/fail", worker, Finish,
                    (on ExecutionId, Fail) => (Failed);

                /// Goes on later.
                delay: POST "/executions/{execution_id}/lease/delay", worker, Finish,
                    (on ExecutionId, DelayUntil) => (LetGo);

                /// Goes on when the dependencies hold.
                wait_children: POST "/executions/{execution_id}/lease/wait-children", worker, Finish,
                    (on ExecutionId, WaitChildren) => (WaitedChildren);

                /// Gives up the lease until a condition over signals holds.
                suspend: POST "/executions/{execution_id}/lease/suspend", worker, Finish,
                    (on ExecutionId, Suspend) => (SuspendedTask);

                /// Hands out a waitpoint before suspending, so that a callback can be given away.
                create_pending_waitpoint: POST "/executions/{execution_id}/lease/waitpoints", worker, Small,
                    (on ExecutionId, CreatePendingWaitpoint) => (IssuedWaitpoint);

                /// Charges usage to a budget, once; answers what the budget says.
                report_usage: POST "/executions/{execution_id}/lease/usage", worker, Small,
                    (on ExecutionId, ReportUsage) => (Reported);

                /// Appends one frame to the output of the current attempt.
                append_frame: POST "/executions/{execution_id}/lease/frames", worker, Frame,
                    (on ExecutionId, AppendFrame) => (AppendedFrame);
            }

            operate {
                /// Ends an execution from any state that is not terminal.
                cancel_execution: POST "/executions/{execution_id}/cancel", submitter or holder, Small,
                    (on ExecutionId, CancelExecution) => (Cancelled);

                /// Reopens a terminal execution.
                replay_execution: POST "/executions/{execution_id}/replay", operator, Small,
                    (on ExecutionId, ReplayExecution) => (Replayed);

                /// Deletes an execution that has ended, as its retention would, now. A member of a flow goes only while no member
                /// of that flow is open.
                delete_execution: DELETE "/executions/{execution_id}", operator, Small,
                    (of ExecutionId) => (nothing);

                /// Takes the lease away from its worker.
                revoke_lease: POST "/executions/{execution_id}/revoke-lease", operator, Small,
                    (on ExecutionId, RevokeLease) => (Revoked);

                /// Changes where an execution stands in its queue.
                change_priority: PUT "/executions/{execution_id}/priority", operator, Small,
                    (on ExecutionId, ChangePriority) => (Changed);

                /// Keeps an execution from being handed out; a running attempt goes on.
                hold: POST "/executions/{execution_id}/hold", operator, Small,
                    (on ExecutionId, HoldExecution) => (Changed);

                /// Lets a held execution go.
                unhold: POST "/executions/{execution_id}/unhold", operator, Small,
                    (of ExecutionId) => (Changed);

                /// Says what a lane accepts and hands out; everywhere within two seconds.
                set_lane_state: PUT "/lanes/{lane_id}/state", operator, Small,
                    (SetLaneState) => (Changed);
            }

            signals {
                /// Delivers an event to a waitpoint. Whoever has the waitpoint's token may.
                deliver_signal: POST "/executions/{execution_id}/signal", anyone, Signal,
                    (on ExecutionId, SendSignal) => (Delivered);

                /// Accepted signals of an execution, with what came with them.
                list_signals: GET "/executions/{execution_id}/signals", submitter or holder, Small,
                    (on ExecutionId, PageRequest) => (Page<SignalView>);

                /// Resumes a suspended execution whatever its condition says.
                resume_execution: POST "/executions/{execution_id}/resume", operator, Small,
                    (on ExecutionId, ResumeExecution) => (ResumeOutcome);

                /// Waitpoints that take signals; never with their tokens.
                list_pending_waitpoints: GET "/executions/{execution_id}/pending-waitpoints", reader, Small,
                    (of ExecutionId) => (list items: OpenWaitpoint);

                /// The token of a waitpoint, minted under the current key.
                read_waitpoint_token: GET "/executions/{execution_id}/waitpoints/{waitpoint_id}/token", operator, Small,
                    (on ExecutionId, ReadWaitpointToken) => (ReadToken);

                /// A person's yes: a signal named `approved` that says who.
                approve: POST "/executions/{execution_id}/waitpoints/{waitpoint_id}/approve", operator, Signal,
                    (on ExecutionId, Decide) => (Delivered);

                /// A person's no: a signal named `rejected` that says who.
                reject: POST "/executions/{execution_id}/waitpoints/{waitpoint_id}/reject", operator, Signal,
                    (on ExecutionId, Decide) => (Delivered);

                /// Everything that waits for a person.
                approvals: GET "/approvals", reader, Small,
                    (ListApprovals) => (Page<Approval>);

                /// Makes a new signing key the current one.
                rotate_waitpoint_secret: POST "/admin/rotate-waitpoint-secret", admin, Small,
                    (RotateWaitpointSecret) => (Rotated);
            }

            flows {
                /// Creates a flow. Safe to repeat under its id.
                create_flow: POST "/flows", submitter, Small,
                    (CreateFlowWith) => (CreatedFlow);

                /// Makes an execution of the flow's partition a member.
                add_execution_to_flow: POST "/flows/{flow_id}/members", submitter, Small,
                    (on FlowId, AddExecution) => (Joined);

                /// Members, dependencies and policies in one call; nothing runs before all of it is there.
                create_flow_graph: POST "/flows/graph", submitter, Batch,
                    (FlowGraph) => (GraphCreated);

                /// Lets the members of a flow that was being assembled go.
                open_flow: POST "/flows/{flow_id}/open", submitter, Small,
                    (of FlowId) => (Opened);

                /// Adds a dependency between two members.
                stage_dependency_edge: POST "/flows/{flow_id}/edges", submitter or holder, Small,
                    (on FlowId, StageDependencyEdge) => (Staged);

                /// Makes a staged dependency count.
                apply_dependency_to_child: POST "/flows/{flow_id}/edges/apply", submitter, Small,
                    (on FlowId, ApplyDependency) => (Applied);

                /// Says how the inbound edges of a member join; fixed once one was applied.
                set_edge_group_policy: PUT "/flows/{flow_id}/groups/{execution_id}", submitter or holder, Small,
                    (on FlowId, SetEdgeGroupPolicy) => (Changed);

                /// Cancels or seals a flow. No member is claimed after it answered.
                cancel_flow: POST "/flows/{flow_id}/cancel", submitter, Small,
                    (on FlowId, CancelFlow) => (MemberCancellation);

                /// A flow with its derived state and exact counts.
                get_flow: GET "/flows/{flow_id}", reader, Small,
                    (of FlowId) => (FlowView);

                /// Flows, newest first.
                list_flows: GET "/flows", reader, Small,
                    (ListFlows) => (FlowPage);

                /// The graph of a flow with the state of each member, up to 100,000 of them: members that play the same part stand
                /// in one class.
                get_flow_graph: GET "/flows/{flow_id}/graph", reader, Small,
                    (of FlowId) => (FlowGraphView);

                /// The ids of a class of members of a graph.
                list_graph_members: GET "/flows/{flow_id}/graph/members", reader, Small,
                    (on FlowId, ListGraphMembers) => (GraphMembers);

                /// The members of a flow.
                list_members: GET "/flows/{flow_id}/members", reader, Small,
                    (on FlowId, PageRequest) => (Page<ExecutionView>);

                /// The dependencies of a flow.
                list_edges: GET "/flows/{flow_id}/edges", reader, Small,
                    (on FlowId, PageRequest) => (Page<Edge>);

                /// The groups of a flow: who waits for how many of what.
                list_groups: GET "/flows/{flow_id}/groups", reader, Small,
                    (on FlowId, PageRequest) => (Page<GroupView>);

                /// The tags of a flow.
                get_flow_tags: GET "/flows/{flow_id}/tags", reader, Small,
                    (of FlowId) => (Tagged);

                /// Replaces the tags of a flow.
                set_flow_tags: PUT "/flows/{flow_id}/tags", submitter, Small,
                    (on FlowId, SetTags) => (Changed);

                /// Deletes a flow in which nothing is open, with its members.
                delete_flow: DELETE "/flows/{flow_id}", operator, Small,
                    (of FlowId) => (Changed);
            }

            budgets {
                /// Creates a budget. Safe to repeat under its id.
                create_budget: POST "/budgets", operator, Small,
                    (CreateBudget) => (CreatedBudget);

                /// Changes the limits of the dimensions named.
                update_limits: PATCH "/budgets/{budget_id}", operator, Small,
                    (on BudgetId, UpdateLimits) => (Updated);

                /// A budget with its usage.
                get_budget: GET "/budgets/{budget_id}", reader, Small,
                    (of BudgetId) => (BudgetView);

                /// The budgets of a namespace.
                list_budgets: GET "/budgets", reader, Small,
                    (ListOf) => (Page<BudgetView>);

                /// Starts usage again from zero; the rhythm of periodic resets stays.
                reset_budget: POST "/budgets/{budget_id}/reset", operator, Small,
                    (on BudgetId, ResetBudget) => (BudgetReset);

                /// Deletes a budget: what is attached to it is no longer limited by it.
                delete_budget: DELETE "/budgets/{budget_id}", operator, Small,
                    (of BudgetId) => (Deleted);

                /// Charges usage without a lease, for operators and gateways.
                charge_budget: POST "/budgets/{budget_id}/usage", operator, Small,
                    (on BudgetId, ChargeBudget) => (Reported);
            }

            quotas {
                /// Creates a quota policy. Safe to repeat under its id.
                create_quota_policy: POST "/quotas", operator, Small,
                    (CreateQuotaPolicy) => (CreatedQuotaPolicy);

                /// Changes a quota policy; what is not named stays.
                update_quota_policy: PATCH "/quotas/{quota_policy_id}", operator, Small,
                    (on QuotaPolicyId, UpdateQuotaPolicy) => (Updated);

                /// A quota policy with what is taken of it.
                get_quota_policy: GET "/quotas/{quota_policy_id}", reader, Small,
                    (of QuotaPolicyId) => (QuotaPolicyView);

                /// The quota policies of a namespace.
                list_quota_policies: GET "/quotas", reader, Small,
                    (ListOf) => (Page<QuotaPolicyView>);

                /// Deletes a quota policy: what is attached to it is no longer limited by it.
                delete_quota_policy: DELETE "/quotas/{quota_policy_id}", operator, Small,
                    (of QuotaPolicyId) => (Deleted);
            }

            streams {
                /// A range of the frames of an attempt.
                read_stream: GET "/executions/{execution_id}/attempts/{attempt_index}/stream", submitter or holder, Small,
                    (on AttemptRef, ReadStream) => (StreamPage);

                /// What comes after a frame; parks up to `wait_ms`, and ends at once when the stream does.
                tail_stream: GET "/executions/{execution_id}/attempts/{attempt_index}/stream/tail", submitter or holder, Small,
                    (on AttemptRef, TailStream) => (StreamPage);

                /// The summary document of an attempt.
                read_summary: GET "/executions/{execution_id}/attempts/{attempt_index}/summary", submitter or holder, Small,
                    (of AttemptRef) => (maybe bytes);
            }

            workers {
                /// Announces a worker process, or that it is still there.
                register_worker: PUT "/workers/{worker_instance_id}", worker, Small,
                    (RegisterWorker) => (Worker);

                /// Says that a registered worker process is still there.
                heartbeat: POST "/workers/{worker_instance_id}/heartbeat", worker, Small,
                    (SendHeartbeat) => (Worker);

                /// Says that a worker process is gone.
                deregister_worker: DELETE "/workers/{worker_instance_id}", worker, Small,
                    (NamedInstance) => (nothing);

                /// Lets a worker process finish what it has: it is handed nothing more, and told so. At once on this server, on
                /// others within half a minute.
                drain_worker: POST "/workers/{worker_instance_id}/drain", operator, Small,
                    (DrainWorker) => (Worker);

                /// Gives a drained worker process work again.
                undrain_worker: DELETE "/workers/{worker_instance_id}/drain", operator, Small,
                    (UndrainWorker) => (Worker);

                /// The live workers of a namespace.
                list_workers: GET "/workers", reader, Small,
                    (ListOf) => (Page<Worker>);
            }

            views {
                /// The views that everybody of a namespace sees, and the caller's own, by name.
                list_views: GET "/views", reader, Small,
                    (ListViews) => (list items: SavedView);

                /// Keeps a question under a name: one's own, or as an operator one that everybody sees.
                put_view: PUT "/views/{name}", submitter, Small,
                    (PutView) => (SavedView);

                /// Forgets a view.
                delete_view: DELETE "/views/{name}", submitter, Small,
                    (DeleteView) => (Changed);
            }

            keys {
                /// Makes a key and shows it, this once. A repetition is told that the name is taken: whoever lost the key
                /// revokes it and makes another.
                create_key: POST "/admin/keys", admin, Small,
                    (CreateKey) => (CreatedKey);

                /// The keys there are, by name; never the keys themselves.
                list_keys: GET "/admin/keys", admin, Small,
                    (PageRequest) => (Page<KeyView>);

                /// Makes a key worth nothing, everywhere within five seconds.
                revoke_key: DELETE "/admin/keys/{name}", admin, Small,
                    (RevokeKey) => (nothing);
            }

            reads {
                /// Everything about one execution but its bytes.
                get_execution: GET "/executions/{execution_id}", reader, Small,
                    (of ExecutionId) => (ExecutionView);

                /// Where an execution stands.
                get_state: GET "/executions/{execution_id}/state", reader, Small,
                    (of ExecutionId) => (StateView);

                /// What an execution was completed with, while its last end was a success; waits for the end up to `wait_ms`.
                /// Who shows the lease of a child of it is answered what its last success left, whatever came after: that is
                /// what the child is handed.
                get_result: GET "/executions/{execution_id}/result", submitter or holder, Small,
                    (on ExecutionId, GetResult) => (bytes);

                /// Waits for an execution to end, and says where it stands then.
                wait_for_end: GET "/executions/{execution_id}/wait", reader, Small,
                    (on ExecutionId, WaitForEnd) => (StateView);

                /// Executions by what they are and where they stand, newest first, or of one lane as they are handed out next.
                list_executions: GET "/executions", reader, Small,
                    (ListExecutions) => (ExecutionPage);

                /// Up to ten things by a whole id, the beginning or the last 8 digits of one, or the beginning of a name.
                find: GET "/find", reader, Small,
                    (Find) => (Found);

                /// Names to choose from: of lanes, and of kinds and categories of failures that this server has seen.
                names: GET "/names", reader, Small,
                    (ListNames) => (Names);

                /// What happened to an execution: the last 1,000 lines.
                get_history: GET "/executions/{execution_id}/history", reader, Small,
                    (on ExecutionId, PageRequest) => (Page<HistoryLine>);

                /// The attempts of an execution.
                list_attempts: GET "/executions/{execution_id}/attempts", reader, Small,
                    (on ExecutionId, PageRequest) => (Page<Attempt>);

                /// The steps of an execution in the order in which they were recorded.
                read_steps: GET "/executions/{execution_id}/steps", reader or holder, Small,
                    (on ExecutionId, ReadSteps) => (StepPage);

                /// What one step left, as it is.
                get_step_output: GET "/executions/{execution_id}/steps/{seq}/output", submitter or holder, Small,
                    (on ExecutionId, GetStepOutput) => (bytes);

                /// Each condition between an execution and a worker, with its current value.
                explain: GET "/executions/{execution_id}/explain", reader, Small,
                    (of ExecutionId) => (Explanation);

                /// The lanes of a namespace, with how much of each is in which state.
                list_lanes: GET "/lanes", reader, Small,
                    (ListOf) => (Page<LaneView>);

                /// A lane with its queues, and the live workers each of them is for.
                get_lane: GET "/lanes/{lane_id}", reader, Small,
                    (GetLane) => (OneLane);

                /// The namespaces whose lanes were ever used, by name, at most 1,000; a key of one namespace is told of that one.
                list_namespaces: GET "/namespaces", reader, Small,
                    (ListNamespaces) => (list items: Namespace);

                /// How a namespace fares: counts, lanes, what is held back, and what somebody should do something about. With `after` it
                /// waits until that has changed.
                overview: GET "/overview", reader, Small,
                    (ReadOverview) => (Overview);

                /// What happened, minute by minute, for up to a day back.
                series: GET "/series", reader, Small,
                    (ReadSeries) => (Series);

                /// Lifecycle events, in order within an execution and a flow.
                events: GET "/events", reader, Small,
                    (ReadEvents) => (Events);

                /// The parts of the store, who looks after each, and since when the longest overdue work there waits.
                list_partitions: GET "/admin/partitions", operator, Small,
                    (ListPartitions) => (list items: PartitionView);

                /// What does not get better by itself, the thousand oldest: records that cannot be read, follow-ups that keep
                /// failing, work blocked by what does not exist. Each says what to do.
                list_problems: GET "/admin/problems", operator, Small,
                    (ListProblems) => (list items: Problem);
            }
        }
    };
}
