//! The limits and defaults of the interface, each in one place.

use crate::time::Duration;

/// Highest priority an execution may have.
pub const PRIORITY_MAX: u16 = 9_000;
/// Payload and result size unless configured otherwise.
pub const PAYLOAD_BYTES_DEFAULT: usize = 1024 * 1024;
/// Largest signal payload.
pub const SIGNAL_PAYLOAD_BYTES_MAX: usize = 256 * 1024;
/// Largest frame.
pub const FRAME_BYTES_MAX: usize = 64 * 1024;
/// Most tags on one execution or flow.
pub const TAGS_MAX: usize = 64;
/// Longest tag value.
pub const TAG_VALUE_BYTES_MAX: usize = 1024;
/// Dimensions of usage that are summed on an execution.
pub const USAGE_DIMENSIONS_MAX: usize = 16;
/// Steps under way a worker may name at once.
pub const DOING_MAX: usize = 8;
/// Longest name of a step under way, and of a worker's version.
pub const LABEL_BYTES_MAX: usize = 256;
/// Largest of what a worker shows to who decides that a list of approvals brings along.
pub const SHOWN_BYTES_MAX: usize = 4 * 1024;
/// Longest free text a caller may attach: reasons, progress messages, details.
pub const TEXT_BYTES_MAX: usize = 4 * 1024;

/// Lease time when the worker asks for none.
pub const LEASE_TTL_DEFAULT: Duration = Duration::from_secs(30);
/// Shortest lease a worker may ask for.
pub const LEASE_TTL_MIN: Duration = Duration::from_secs(1);
/// Longest lease a worker may ask for.
pub const LEASE_TTL_MAX: Duration = Duration::from_hours(24);
/// How long a lease handed out by claim or exchange runs before its first renewal: a lost reply costs this much.
pub const UNCONFIRMED_LEASE_TTL_MAX: Duration = Duration::from_secs(10);
/// How often in a row an execution may come back from leases nobody ever used before it counts as a reclaim.
pub const UNCONFIRMED_RETURNS_MAX: u32 = 3;
/// Grant time when the caller asks for none.
pub const GRANT_TTL_DEFAULT: Duration = Duration::from_secs(5);
/// Shortest grant.
pub const GRANT_TTL_MIN: Duration = Duration::from_millis(1);
/// Longest grant; also how long a tombstone of an unknown quota slot lives.
pub const GRANT_TTL_MAX: Duration = Duration::from_secs(60);
/// How long a running execution has to stop once a `cancel_active` budget asked it to.
pub const STOP_GRACE: Duration = Duration::from_secs(30);
/// How long a lease that was admitted before a breach may run without being asked to stop.
pub const STOP_SWEEP_INTERVAL: Duration = Duration::from_secs(10);

/// Window in which repeated idempotency keys, signals and usage reports are recognised.
pub const DEDUP_WINDOW_DEFAULT: Duration = Duration::from_hours(24);
/// How long a terminal execution or an ended flow is kept.
pub const RETENTION_DEFAULT: Duration = Duration::from_hours(24);
/// How long a flow may stay unopened before it is deleted.
pub const ASSEMBLING_MAX: Duration = Duration::from_hours(1);

/// Reclaims before an execution fails, when its policy names no number.
pub const RECLAIMS_MAX_DEFAULT: u32 = 100;
/// Replays of a terminal execution, when its policy names no number.
pub const REPLAYS_MAX_DEFAULT: u32 = 10;
/// Most signals one execution accepts.
pub const SIGNALS_MAX: u32 = 10_000;
/// Most steps one execution remembers.
pub const STEPS_DEFAULT: u64 = 10_000;
/// Most bytes of their outputs.
pub const STEP_OUTPUT_BYTES_DEFAULT: u64 = 64 * 1024 * 1024;
/// Most steps of one call.
pub const STEPS_PER_CALL_MAX: usize = 100;
/// Most bytes of their outputs.
pub const STEP_BYTES_PER_CALL_MAX: usize = 4 * 1024 * 1024;
/// Executions that one call may spawn.
pub const SPAWN_CHILDREN_MAX: usize = 64;
/// Bytes of their inputs.
pub const SPAWN_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Budgets that the steps of one call may charge.
pub const STEP_BUDGETS_PER_CALL_MAX: usize = 16;
/// Most waitpoints in one suspension.
pub const WAITPOINTS_PER_SUSPENSION_MAX: usize = 100;
/// Most pending waitpoints an execution may have open at once.
pub const PENDING_WAITPOINTS_MAX: usize = 100;
/// Longest time a pending waitpoint may stay open.
pub const PENDING_WAITPOINT_TTL_MAX: Duration = Duration::from_hours(30 * 24);
/// Most parts of a resume condition that ask for signals.
pub const CONDITION_LEAVES_MAX: usize = 100;
/// Most names one matcher of a condition lists.
pub const CONDITION_NAMES_MAX: usize = 16;
/// Highest number a count condition may ask for.
pub const CONDITION_COUNT_MAX: u32 = 1_000;
/// How deep resume conditions may nest.
pub const CONDITION_DEPTH_MAX: usize = 4;
/// How deep a summary merge patch may nest.
pub const MERGE_PATCH_DEPTH_MAX: usize = 16;
/// Frames an attempt's stream keeps by default.
pub const STREAM_FRAMES_DEFAULT: u32 = 10_000;

/// Most members of one flow.
pub const FLOW_MEMBERS_MAX: u64 = 100_000;
/// Longest a call may wait for something to happen.
pub const WAIT_MAX: Duration = Duration::from_secs(30);
/// Longest a failure may put off its own retry.
pub const RETRY_AFTER_MAX: Duration = Duration::from_hours(24);
/// Longest time a flow's cancellation may wait for its members.
pub const CANCEL_WAIT_MAX: Duration = Duration::from_secs(30);
/// Most nodes a cycle search visits.
pub const GRAPH_SEARCH_NODES_MAX: usize = 10_000;
/// Most members of a flow whose graph names each of them, and each edge.
pub const GRAPH_NAMED_MAX: usize = 5_000;
/// Most classes of the graph of a larger flow.
pub const GRAPH_CLASSES_MAX: usize = 400;
/// Most edges that are read to show a graph.
pub const GRAPH_EDGES_SHOWN_MAX: usize = 200_000;
/// Most items of one batch or one part of a graph.
pub const BATCH_ITEMS_MAX: usize = 1_000;
/// Most edges of one part of a graph.
pub const GRAPH_EDGES_MAX: usize = 10_000;
/// Most lanes one worker registers for.
pub const LANES_PER_WORKER_MAX: usize = 1_000;
/// Most lanes of one namespace.
pub const LANES_MAX: usize = 10_000;
/// Most views of one namespace.
pub const VIEWS_MAX: usize = 100;
/// Most keys of callers.
pub const KEYS_MAX: usize = 10_000;
/// How long it is remembered, minute by minute, what happened.
pub const SERIES_KEPT_FOR: Duration = Duration::from_hours(24);
/// Most series of one call.
pub const SERIES_OF_MAX: usize = 50;
/// Lanes that are shown one by one at a glance.
pub const LANES_AT_A_GLANCE: usize = 200;
/// How long a browser is signed in.
pub const SIGNED_IN_FOR: Duration = Duration::from_hours(12);
/// Most namespaces that are listed.
pub const NAMESPACES_MAX: usize = 1_000;
/// Most budgets one execution may be attached to.
pub const BUDGETS_PER_EXECUTION_MAX: usize = 16;
/// Most fallback tiers of one policy.
pub const FALLBACK_TIERS_MAX: usize = 64;
/// Most effects on other partitions one execution may have under way.
pub const OUTBOX_MAX: usize = 256;
/// Most history lines kept per execution.
pub const HISTORY_LINES_MAX: usize = 1_000;
/// Most request ids remembered per record and operation.
pub const REQUESTS_REMEMBERED_MAX: usize = 16;

/// Most records a follow-up touches in one transaction.
pub const FOLLOW_UP_CHUNK: usize = 64;
/// Most queues of a lane that are shown with it.
pub const QUEUES_SHOWN_MAX: usize = 100;
/// Most workers that are named beside a queue.
pub const FITTING_SHOWN_MAX: usize = 5;
/// Entries of a list that are counted, about, when it is only to be said how long it is.
pub const COUNTED_MAX: u64 = 16_384;
/// Most non-empty queues per namespace, lane and partition.
pub const QUEUES_MAX: usize = 1_024;
/// Distinct budget sets per capability set before further ones share one mixed queue.
pub const BUDGET_SETS_MAX: usize = 256;
/// Payload bytes one reserve hands out at most, unless a single task is larger.
pub const RESERVE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Page size of a listing when none is asked for.
pub const PAGE_DEFAULT: usize = 50;
/// Largest page of a listing.
pub const PAGE_MAX: usize = 1_000;
/// Rows a listing looks at for one page.
pub const LOOKED_AT_MAX: usize = 10_000;
/// Flows a listing by state looks at for one page: each is read with what is counted over its members.
pub const FLOWS_LOOKED_AT_MAX: usize = 2_000;
/// Most ids a listing of executions may name.
pub const LISTED_IDS_MAX: usize = 100;
/// Most things that are found at once.
pub const FOUND_MAX: usize = 10;
/// Longest text that something is looked for by.
pub const FIND_BYTES_MAX: usize = 256;
/// Most names that are offered at once.
pub const NAMES_MAX: usize = 100;
/// Shortest time events are collected for.
pub const EVENTS_BATCH_MIN: Duration = Duration::from_millis(100);
/// Longest time events are collected for.
pub const EVENTS_BATCH_MAX: Duration = Duration::from_secs(5);
/// Most events that are answered at once when they are collected.
pub const EVENTS_PER_BATCH_MAX: usize = 200;

/// How deep JSON may nest, in a request and where a payload is shown as the JSON it is. Readers have limits of their own.
pub const JSON_DEPTH_MAX: usize = 128;
/// Largest body of a request that holds names and numbers, or a frame.
pub const BODY_SMALL_BYTES_MAX: usize = 128 * 1024;
/// Largest body of a request that ends a lease.
pub const BODY_FINISH_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Largest body of a request that delivers a signal.
pub const BODY_SIGNAL_BYTES_MAX: usize = 384 * 1024;
/// Largest body of a request that says many things at once.
pub const BODY_BATCH_BYTES_MAX: usize = 16 * 1024 * 1024;
