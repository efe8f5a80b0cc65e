//! What a scrape shows.

use ff_core::caller::Caller;
use ff_core::command::budget::{ChargeBudget, CreateBudget};
use ff_core::command::lease::Fail;
use ff_core::command::stream::AppendFrame;
use ff_core::command::submit::CreateExecution;
use ff_core::fabric::{Fabric, On};
use ff_core::frame::FrameMode;
use ff_core::name::{ExecutionKind, Namespace};
use ff_core::payload::Payload;
use ff_core::policy::Policy;
use ff_core::record::Limits;
use ff_core::time::Duration;
use ff_core::wire::{self, Fields, Unknown};
use ff_engine::Engine;
use ff_engine::metrics::METRICS;
use ff_fabric_suite::Harness;
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;
use serde_json::json;

use crate::support::{EngineHarness, claim};

async fn scraped(engine: &Engine) -> String {
    let mut registry = Registry::default();
    registry.register_collector(Box::new(engine.metrics().await));
    let mut page = String::new();
    encode(&mut page, &registry).unwrap();
    page
}

/// The value of one line of a page.
fn value(page: &str, series: &str) -> Option<f64> {
    let line = page.lines().find(|line| line.starts_with(&format!("{series} ")))?;
    line.rsplit(' ').next()?.parse().ok()
}

fn bound_to(engine: &Engine, namespace: &str) -> Engine {
    engine.acting_as(Caller {
        namespace: Some(namespace.parse().unwrap()),
        ..Caller::local()
    })
}

fn submission() -> CreateExecution {
    let retry = json!({ "retry_policy": { "max_retries": 1, "backoff": { "fixed": { "delay_ms": 1000 } } } });
    CreateExecution {
        policy: Policy::from_json(&retry).unwrap(),
        ..CreateExecution::new(ExecutionKind::parse("measured").unwrap(), Payload::json(&json!(1)))
    }
}

fn in_namespace(namespace: &str) -> CreateExecution {
    CreateExecution {
        namespace: Namespace::parse(namespace).unwrap(),
        ..submission()
    }
}

const DEFAULT: &str = r#"{namespace="default"}"#;

#[tokio::test]
async fn what_happens_to_an_execution_is_counted_once() {
    let harness = EngineHarness::memory(|_| {});
    let engine = &harness.engine;
    engine.create_execution(submission()).await.unwrap();
    harness.pass(Duration::from_secs(3));
    let task = engine.claim(claim(1, 1)).await.unwrap().remove(0);
    let frame = AppendFrame {
        fence: Some(task.fence),
        frame_type: "word".parse().unwrap(),
        payload: Payload::binary(&b"seven b"[..]),
        mode: FrameMode::Durable,
        correlation_id: None,
        request_id: None,
    };
    engine.append_frame(On::new(task.execution_id, frame)).await.unwrap();
    let said = br#"{"reason":"so that it is retried","category":"transient"}"#;
    let fail: Fail = wire::read(Fields::of_json(said).unwrap(), Unknown::Refused).unwrap();
    let fail = Fail {
        fence: Some(task.fence),
        ..fail
    };
    engine.fail(On::new(task.execution_id, fail.clone())).await.unwrap();
    engine.fail(On::new(task.execution_id, fail)).await.unwrap();
    harness.advance(Duration::from_secs(2)).await;
    engine.claim(claim(1, 1)).await.unwrap().remove(0);
    harness.advance(Duration::from_secs(3600)).await;

    let page = scraped(engine).await;
    let counted = |name: &str| value(&page, &format!("{name}{DEFAULT}")).unwrap();
    assert_eq!(counted("ff_submitted_total"), 1.0);
    assert_eq!(counted("ff_retries_total"), 1.0);
    assert_eq!(counted("ff_stream_bytes_total"), 7.0);
    assert!(counted("ff_claim_latency_seconds_count") >= 2.0, "{page}");
    assert!(
        counted("ff_claim_latency_seconds_sum") >= 3.0,
        "it waited three seconds: {page}"
    );
    let outcome = |outcome: &str| {
        value(
            &page,
            &format!(r#"ff_attempts_total{{namespace="default",outcome="{outcome}"}}"#),
        )
    };
    assert_eq!(outcome("failure"), Some(1.0));
    assert_eq!(outcome("success"), Some(0.0));
}

#[tokio::test]
async fn a_worker_that_dies_is_an_expired_lease_and_a_lag_of_the_pump() {
    let harness = EngineHarness::memory(|_| {});
    let engine = &harness.engine;
    engine.create_execution(submission()).await.unwrap();
    let task = engine.claim(claim(1, 1)).await.unwrap().remove(0);
    let renew = ff_core::command::lease::Renew {
        fence: Some(task.fence),
        ..Default::default()
    };
    engine.renew(On::new(task.execution_id, renew)).await.unwrap();
    harness.advance(Duration::from_secs(600)).await;

    let page = scraped(engine).await;
    assert_eq!(
        value(&page, &format!("ff_lease_expiries_total{DEFAULT}")),
        Some(1.0),
        "{page}"
    );
    assert!(value(&page, "ff_pump_lag_seconds_sum").unwrap() > 60.0, "{page}");
    let served = r#"ff_pump_duties_total{duty="lease_expired",outcome="done"}"#;
    assert!(value(&page, served).unwrap() >= 1.0, "{page}");
    assert!(
        value(&page, r#"ff_backend_call_seconds_count{call="commit"}"#).unwrap() >= 3.0,
        "{page}"
    );
}

#[tokio::test]
async fn what_waits_is_shown_by_lane_and_state() {
    let harness = EngineHarness::sqlite(|_| {});
    let engine = &harness.engine;
    for _ in 0..3 {
        engine.create_execution(submission()).await.unwrap();
    }
    engine.create_execution(in_namespace("other")).await.unwrap();
    harness.pass(Duration::from_secs(90));
    engine.claim(claim(1, 1)).await.unwrap();

    let page = scraped(engine).await;
    let depth = |namespace: &str, state: &str| {
        let labels = format!(r#"{{namespace="{namespace}",lane="default",state="{state}"}}"#);
        value(&page, &format!("ff_executions{labels}"))
    };
    assert_eq!(depth("default", "waiting"), Some(2.0), "{page}");
    assert_eq!(depth("default", "active"), Some(1.0), "{page}");
    assert_eq!(depth("other", "waiting"), Some(1.0), "{page}");
    let age = value(
        &page,
        r#"ff_oldest_eligible_age_seconds{namespace="default",lane="default"}"#,
    )
    .unwrap();
    assert!((90.0..100.0).contains(&age), "{age}");
    assert_eq!(value(&page, "ff_store_up"), Some(1.0));
}

#[tokio::test]
async fn a_caller_of_one_namespace_sees_what_belongs_to_it_and_nothing_else() {
    let harness = EngineHarness::memory(|_| {});
    let engine = &harness.engine;
    engine.create_execution(in_namespace("own")).await.unwrap();
    engine.create_execution(in_namespace("foreign")).await.unwrap();

    let page = scraped(&bound_to(engine, "own")).await;
    assert_eq!(
        value(&page, r#"ff_submitted_total{namespace="own"}"#),
        Some(1.0),
        "{page}"
    );
    assert_eq!(
        value(
            &page,
            r#"ff_executions{namespace="own",lane="default",state="waiting"}"#
        ),
        Some(1.0)
    );
    let series = page.lines().filter(|line| !line.starts_with('#'));
    for line in series {
        assert!(line.contains(r#"namespace="own""#), "{line}");
    }
}

#[tokio::test]
async fn a_budget_over_its_limit_is_shown_until_it_is_reset() {
    let harness = EngineHarness::memory(|_| {});
    let engine = &harness.engine;
    engine.create_execution(submission()).await.unwrap();
    for (spent, id) in [(6, 1), (10, 2), (1, 3)] {
        let limits = Limits {
            soft: Some(5),
            hard: Some(10),
        };
        let budget = serde_json::from_value::<CreateBudget>(json!({
            "budget_id": uuid::Uuid::from_u128(id).to_string(), "scope": "test", "dimensions": { "tokens": limits },
        }));
        let budget_id = engine.create_budget(budget.unwrap()).await.unwrap().budget_id;
        let charge = serde_json::from_value::<ChargeBudget>(json!({ "deltas": { "tokens": spent } }));
        engine.charge_budget(On::new(budget_id, charge.unwrap())).await.unwrap();
    }
    let page = scraped(engine).await;
    let over = |limit: &str| {
        value(
            &page,
            &format!(r#"ff_budgets_over_limit{{namespace="default",limit="{limit}"}}"#),
        )
    };
    assert_eq!((over("soft"), over("hard")), (Some(1.0), Some(1.0)), "{page}");
}

#[tokio::test]
async fn scrapes_that_follow_each_other_read_the_store_once() {
    let harness = EngineHarness::memory(|_| {});
    let engine = &harness.engine;
    engine.create_execution(submission()).await.unwrap();
    let calls = |page: &str| value(page, r#"ff_backend_call_seconds_count{call="list"}"#).unwrap();
    let first = calls(&scraped(engine).await);
    for _ in 0..20 {
        assert_eq!(calls(&scraped(engine).await), first);
    }
    harness.pass(Duration::from_secs(6));
    assert!(calls(&scraped(engine).await) > first);
}

#[tokio::test]
async fn a_page_has_every_metric_of_the_table_and_no_other() {
    let harness = EngineHarness::memory(|_| {});
    let page = scraped(&harness.engine).await;
    let shown: Vec<&str> = page
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE "))
        .map(|line| line.split(' ').next().unwrap())
        .collect();
    let mut told: Vec<&str> = METRICS
        .iter()
        .map(|metric| metric.name.trim_end_matches("_total"))
        .collect();
    let mut shown_sorted = shown.clone();
    shown_sorted.sort_unstable();
    told.sort_unstable();
    assert_eq!(shown_sorted, told);
    assert!(page.ends_with("# EOF\n"));
}
