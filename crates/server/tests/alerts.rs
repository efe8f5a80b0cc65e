//! What the alert rules and the dashboard of docs/how-to/monitor/ ask for exists, with the labels they ask by.

use std::collections::BTreeSet;

use ff_engine::metrics::{Kind, METRICS, Metric};
use ff_server::HTTP_METRICS;
use serde_json::Value;

const ALERTS: &str = include_str!("../../../docs/how-to/monitor/alerts.yaml");
const DASHBOARD: &str = include_str!("../../../docs/how-to/monitor/grafana.json");

/// What Prometheus adds to every series.
const ADDED: [&str; 2] = ["job", "instance"];

#[test]
fn every_alert_asks_for_what_there_is_and_tells_what_it_has() {
    let file: Value = serde_saphyr::from_str(ALERTS).unwrap();
    let groups = file["groups"].as_array().unwrap();
    let rules: Vec<&Value> = groups
        .iter()
        .flat_map(|group| group["rules"].as_array().unwrap())
        .collect();
    let names: BTreeSet<&str> = rules.iter().map(|rule| rule["alert"].as_str().unwrap()).collect();
    assert_eq!(names.len(), rules.len(), "two alerts have one name");
    for rule in rules {
        let told = rule["annotations"].to_string();
        let asked = check(rule["expr"].as_str().unwrap(), &templates(&told, "$labels."));
        assert_eq!(asked, Ok(()), "{}", rule["alert"]);
        assert!(rule["annotations"]["summary"].is_string(), "{rule}");
    }
}

#[test]
fn every_panel_asks_for_what_there_is_and_names_what_it_has() {
    let dashboard: Value = serde_json::from_str(DASHBOARD).unwrap();
    let panels = dashboard["panels"].as_array().unwrap().iter();
    let shown: Vec<&Value> = panels.filter(|panel| panel["type"] != "row").collect();
    assert!(!shown.is_empty());
    for panel in shown {
        for target in panel["targets"].as_array().unwrap() {
            let legend = templates(target["legendFormat"].as_str().unwrap(), "");
            let asked = check(target["expr"].as_str().unwrap(), &legend);
            assert_eq!(asked, Ok(()), "{}", panel["title"]);
        }
    }
    let variables = dashboard["templating"]["list"].as_array().unwrap();
    let mut queries = variables.iter().filter_map(|variable| variable["definition"].as_str());
    assert!(queries.clone().count() > 0);
    queries.try_for_each(check_values).unwrap();
}

/// Whether a list of values, `label_values(series, label)`, is of what there is.
fn check_values(query: &str) -> Result<(), String> {
    let inside = query
        .strip_prefix("label_values(")
        .and_then(|rest| rest.strip_suffix(')'));
    let (series, label) = inside
        .and_then(|inside| inside.rsplit_once(", "))
        .ok_or("it is no list")?;
    check(&format!("by ({label}) {series}"), &[])
}

#[test]
fn what_there_is_not_is_noticed() {
    for (query, legend) in [
        ("ff_nothing", vec![]),
        ("ff_nothing_total{job=\"a\"}", vec![]),
        ("ff_pump_lag_seconds", vec![]),
        ("ff_store_up_bucket", vec![]),
        ("ff_store_up{namespace=\"a\"}", vec![]),
        ("ff_problems{kind=\"a\", lane!=\"b\"}", vec![]),
        ("sum by (lane) (ff_problems)", vec![]),
        ("sum by (le) (rate(ff_pump_lag_seconds_count[5m]))", vec![]),
        ("sum by (kind) (ff_problems) / sum by (kind) (ff_store_up)", vec![]),
        ("sum by (kind) (ff_problems)", vec!["namespace".to_owned()]),
        ("up == 0", vec![]),
    ] {
        assert!(check(query, &legend).is_err(), "{query}");
    }
    let right = "sum by (kind, le) (max by (job, le) (rate(ff_backend_call_seconds_bucket{call=~\"a, b\"}[5m]))) > 1";
    assert!(check(right, &[]).unwrap_err().contains("kind"));
    let right = right.replace("kind", "call");
    assert_eq!(check(&right, &["call".to_owned()]), Ok(()));
}

/// Whether every series a query names exists with the labels it asks by, and its answer has the labels that are shown of it.
fn check(query: &str, shown: &[String]) -> Result<(), String> {
    let tokens = tokens(query);
    let (mut asked, mut groupings): (Vec<Vec<&str>>, Vec<Vec<&str>>) = (Vec::new(), Vec::new());
    for (at, token) in tokens.iter().enumerate() {
        let following = tokens.get(at + 1..).unwrap_or_default();
        if token.starts_with("ff_") {
            let labels = labels_of(token).ok_or_else(|| format!("there is no series {token}"))?;
            if following.first() == Some(&"{") {
                all_in(&listed(following, "}"), &labels)?;
            }
            asked.push(labels);
        } else if *token == "by" {
            groupings.push(listed(following, ")"));
        }
    }
    if asked.is_empty() {
        return Err("it asks for nothing of ours".to_owned());
    }
    for labels in &asked {
        groupings.iter().try_for_each(|grouping| all_in(grouping, labels))?;
    }
    let kept = groupings.first().map_or(&[] as &[&str], |grouping| grouping);
    all_in(&shown.iter().map(String::as_str).collect::<Vec<_>>(), kept)
}

fn all_in(asked: &[&str], known: &[&str]) -> Result<(), String> {
    let unknown = asked.iter().find(|label| !known.contains(label));
    unknown.map_or(Ok(()), |label| Err(format!("{label} is none of {known:?}")))
}

/// The labels of a series, if there is one of this name.
fn labels_of(series: &str) -> Option<Vec<&'static str>> {
    let labels = |metric: &Metric, more: &[&'static str]| [metric.labels, &ADDED, more].concat();
    METRICS.iter().chain(HTTP_METRICS).find_map(|metric| {
        let rest = series.strip_prefix(metric.name)?;
        match (metric.kind, rest) {
            (Kind::Histogram, "_bucket") => Some(labels(metric, &["le"])),
            (Kind::Histogram, "_sum" | "_count") | (Kind::Counter | Kind::Gauge, "") => Some(labels(metric, &[])),
            _ => None,
        }
    })
}

/// The words that begin an item of a list, up to its end.
fn listed<'q>(tokens: &[&'q str], end: &str) -> Vec<&'q str> {
    let list = tokens.split(|token| *token == end).next().unwrap_or_default();
    let items = list.windows(2).filter(|pair| matches!(pair[0], "{" | "(" | ","));
    items.map(|pair| pair[1]).collect()
}

/// Words, texts and signs of a query.
fn tokens(query: &str) -> Vec<&str> {
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '$' | '.');
    let (mut rest, mut tokens) = (query.trim_start(), Vec::new());
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' => rest[1..].find('"').map_or(rest.len(), |end| end + 2),
            _ if is_word(first) => rest.find(|letter| !is_word(letter)).unwrap_or(rest.len()),
            _ => first.len_utf8(),
        };
        let (token, after) = rest.split_at(length);
        tokens.push(token);
        rest = after.trim_start();
    }
    tokens
}

/// The labels that stand in a text as `{{ … }}`.
fn templates(text: &str, prefix: &str) -> Vec<String> {
    let inside = text.split("{{").skip(1).filter_map(|rest| rest.split_once("}}"));
    let labels = inside.filter_map(|(label, _)| label.trim().strip_prefix(prefix));
    labels.map(str::to_owned).collect()
}
