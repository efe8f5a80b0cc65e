//! `docs/reference/limits.md`: every limit with its value, which is that of the code, and what happens beyond it.

use std::collections::BTreeMap;

use ff_backend::query::FEED_KEPT_FOR;
use ff_backend_sqlite::Options as Sqlite;
use ff_backend_valkey::Options as Valkey;
use ff_core::capability::{CAPABILITIES_MAX, CAPABILITY_BYTES_MAX};
use ff_core::error::Code;
use ff_core::fabric::Body;
use ff_core::machine::{budget, quota};
use ff_core::name::{CATEGORY_BYTES_MAX, LANE_BYTES_MAX, NAME_BYTES_MAX, STEP_KEY_BYTES_MAX};
use ff_core::partition::{Family, PARTITIONS_MAX, PartitionCounts};
use ff_core::record::{AMOUNT_MAX, DIMENSIONS_MAX};
use ff_core::time::Duration;
use ff_server::Settings;

const TEXT: &str = include_str!("limits.md");

/// How much is done at a time, which nobody meets as a limit.
const INSIDE: [&str; 3] = ["FOLLOW_UP_CHUNK", "RESERVE_BYTES_MAX", "STOP_SWEEP_INTERVAL"];

#[test]
fn the_page_of_limits_is_up_to_date() {
    let mut page = TEXT.to_owned();
    for (name, value) in values() {
        let place = format!("{{{{{name}}}}}");
        assert!(page.contains(&place), "the page does not show {name}");
        page = page.replace(&place, &value);
    }
    assert!(!page.contains("{{"), "a place was left: {page}");
    for code in Code::ALL {
        page = page.replace(&format!("`{code}`"), &format!("[`{code}`](errors.md#{code})"));
    }
    super::up_to_date("limits.md", &page);
}

#[test]
fn no_limit_is_forgotten() {
    let code = include_str!("../../../core/src/limits.rs");
    let names = code
        .lines()
        .filter_map(|line| line.strip_prefix("pub const ")?.split(':').next());
    for name in names {
        let is_shown = TEXT.contains(&format!("{{{{{name}}}}}"));
        assert!(
            is_shown != INSIDE.contains(&name),
            "{name} is not on the page of limits"
        );
    }
}

/// What the text says by itself, because the server keeps it to itself.
#[test]
fn limits_that_stand_there_a_second_time_are_those_of_the_server() {
    let listening = include_str!("../../src/listen.rs");
    assert!(
        listening.contains("HEADERS_MAX: usize = 100;") && listening.contains("HEAD_BYTES_MAX: usize = 32 * 1024;")
    );
    assert!(include_str!("../../src/limits.rs").contains("FAILURES_PER_MINUTE: u32 = 60;"));
}

/// The value of each constant, under its name.
macro_rules! values {
    (core { $($core:ident),+ $(,)? } others { $($other:path),+ $(,)? }) => {
        [
            $((stringify!($core), ff_core::limits::$core.told(stringify!($core))),)+
            $((stringify!($other), $other.told(stringify!($other))),)+
        ]
    };
}

fn values() -> BTreeMap<String, String> {
    let constants = values! {
        core {
            LANES_MAX, KEYS_MAX, TAGS_MAX, TAG_VALUE_BYTES_MAX, TEXT_BYTES_MAX, LABEL_BYTES_MAX,
            PAYLOAD_BYTES_DEFAULT, SIGNAL_PAYLOAD_BYTES_MAX, FRAME_BYTES_MAX, MERGE_PATCH_DEPTH_MAX, JSON_DEPTH_MAX,
            BODY_FINISH_BYTES_MAX, BODY_SIGNAL_BYTES_MAX, BODY_BATCH_BYTES_MAX, BODY_SMALL_BYTES_MAX, BATCH_ITEMS_MAX,
            PRIORITY_MAX, DEDUP_WINDOW_DEFAULT, RETENTION_DEFAULT, RECLAIMS_MAX_DEFAULT, REPLAYS_MAX_DEFAULT,
            RETRY_AFTER_MAX, FALLBACK_TIERS_MAX, BUDGETS_PER_EXECUTION_MAX, HISTORY_LINES_MAX, STREAM_FRAMES_DEFAULT,
            REQUESTS_REMEMBERED_MAX, QUEUES_MAX, BUDGET_SETS_MAX, USAGE_DIMENSIONS_MAX, OUTBOX_MAX, LEASE_TTL_MIN,
            LEASE_TTL_MAX, LEASE_TTL_DEFAULT, UNCONFIRMED_LEASE_TTL_MAX, UNCONFIRMED_RETURNS_MAX, GRANT_TTL_MIN,
            GRANT_TTL_MAX, GRANT_TTL_DEFAULT, STOP_GRACE, LANES_PER_WORKER_MAX, DOING_MAX, STEPS_DEFAULT,
            STEP_OUTPUT_BYTES_DEFAULT, STEPS_PER_CALL_MAX, STEP_BYTES_PER_CALL_MAX, STEP_BUDGETS_PER_CALL_MAX,
            SPAWN_CHILDREN_MAX, SPAWN_BYTES_MAX, WAITPOINTS_PER_SUSPENSION_MAX, PENDING_WAITPOINTS_MAX,
            PENDING_WAITPOINT_TTL_MAX, CONDITION_LEAVES_MAX, CONDITION_DEPTH_MAX, CONDITION_NAMES_MAX,
            CONDITION_COUNT_MAX, SIGNALS_MAX, FLOW_MEMBERS_MAX, GRAPH_EDGES_MAX, GRAPH_SEARCH_NODES_MAX,
            VIEWS_MAX, GRAPH_NAMED_MAX, GRAPH_CLASSES_MAX, GRAPH_EDGES_SHOWN_MAX, FLOWS_LOOKED_AT_MAX,
            QUEUES_SHOWN_MAX, FITTING_SHOWN_MAX, COUNTED_MAX, SERIES_KEPT_FOR, SERIES_OF_MAX, LANES_AT_A_GLANCE,
            SIGNED_IN_FOR, NAMESPACES_MAX,
            ASSEMBLING_MAX, CANCEL_WAIT_MAX, PAGE_MAX, PAGE_DEFAULT, LOOKED_AT_MAX, LISTED_IDS_MAX,
            SHOWN_BYTES_MAX, FOUND_MAX, FIND_BYTES_MAX, NAMES_MAX, WAIT_MAX,
            EVENTS_BATCH_MIN, EVENTS_BATCH_MAX, EVENTS_PER_BATCH_MAX
        }
        others {
            LANE_BYTES_MAX, NAME_BYTES_MAX, STEP_KEY_BYTES_MAX, CATEGORY_BYTES_MAX, CAPABILITIES_MAX, CAPABILITY_BYTES_MAX,
            DIMENSIONS_MAX, AMOUNT_MAX, budget::RESET_INTERVAL_MIN, quota::WINDOW_MIN, quota::WINDOW_MAX, quota::WINDOW_DEFAULT,
            FEED_KEPT_FOR, PARTITIONS_MAX
        }
    };
    let settings = Settings::default();
    let of = |family| PartitionCounts::default().count(family).into();
    let millis = |span: std::time::Duration| Duration::from_millis(u64::try_from(span.as_millis()).unwrap());
    let submission = Body::Submission.bytes_max(ff_core::limits::PAYLOAD_BYTES_DEFAULT);
    let others = [
        ("body_submission_bytes", bytes(submission as u64)),
        ("streams_per_key_max", number(settings.streams_per_key_max as u64)),
        ("streams_max", number(settings.streams_max as u64)),
        (
            "parked_polls_per_key_max",
            number(settings.parked_polls_per_key_max as u64),
        ),
        ("connections_max", number(settings.connections_max as u64)),
        ("header_timeout", millis(settings.header_timeout).told("")),
        ("body_timeout", millis(settings.body_timeout).told("")),
        ("flow_partitions", number(of(Family::Flow))),
        ("budget_partitions", number(of(Family::Budget))),
        ("quota_partitions", number(of(Family::Quota))),
        ("feed_lines_of_sqlite", number(Sqlite::new("").feed_lines_max as u64)),
        ("feed_lines_of_valkey", number(Valkey::new("").feed_lines_max.into())),
    ];
    let named = constants.into_iter().chain(others);
    named
        .map(|(path, value)| (path.rsplit("::").next().unwrap().trim().to_owned(), value))
        .collect()
}

/// A value as people write it: sizes are known by the names of their constants.
trait Told {
    fn told(self, name: &str) -> String;
}

impl Told for Duration {
    fn told(self, _: &str) -> String {
        let millis = self.as_millis();
        // A day is 24 h, as everywhere else; a minute and a window of one are 60 s.
        let units = [(86_400_000, 2, "days"), (3_600_000, 1, "h"), (1_000, 1, "s")];
        let whole = units
            .into_iter()
            .find(|(unit, least, _)| millis.is_multiple_of(*unit) && millis / unit >= *least);
        let (unit, _, name) = whole.unwrap_or((1, 0, "ms"));
        format!("{} {name}", number(millis / unit))
    }
}

macro_rules! told_as_numbers {
    ($($number:ty),+) => {$(
        impl Told for $number {
            fn told(self, name: &str) -> String {
                let value = u64::try_from(self).unwrap();
                if name.contains("BYTES") { bytes(value) } else { number(value) }
            }
        }
    )+};
}

told_as_numbers!(u16, u32, u64, usize);

fn bytes(value: u64) -> String {
    match value {
        mib if mib.is_multiple_of(1 << 20) => format!("{} MiB", mib >> 20),
        kib if kib.is_multiple_of(1 << 10) => format!("{} KiB", kib >> 10),
        other => format!("{} bytes", number(other)),
    }
}

fn number(value: u64) -> String {
    let digits = value.to_string();
    let grouped = digits.chars().enumerate().map(|(place, digit)| {
        let begins = place > 0 && (digits.len() - place).is_multiple_of(3);
        if begins { format!(",{digit}") } else { digit.to_string() }
    });
    grouped.collect()
}
