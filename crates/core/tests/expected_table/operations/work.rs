//! update_progress, complete, fail, delay, wait_children, report_usage; stale and missing fences.

use crate::graph::Upstream;
use crate::premise::{Premise, Retries};

use super::fenced::{self, FENCED, with_own_fence, with_stale_fences, without_fence};
use super::{Operation, everywhere, in_situations, repeated};

pub(super) fn operation(block: &str) -> Option<Operation> {
    let plain = Premise::default();
    let retrying = |retries| Premise {
        retries: Some(retries),
        ..plain
    };
    let waiting_for = |edge| Premise {
        edge: Some(edge),
        ..plain
    };
    let fail = || with_own_fence(fenced::fail);
    let wait_children = || with_own_fence(fenced::wait_children);
    Some(match block {
        "any fenced operation (stale fence)" => in_situations(stale_fences()),
        "any fenced operation (no fence)" => in_situations(
            FENCED
                .into_iter()
                .map(|(name, send)| without_fence(name, send))
                .collect(),
        ),
        "update_progress (own fence)" => everywhere(plain, with_own_fence(fenced::update_progress)),
        "update_progress repeated" => repeated(
            "after-update_progress",
            "leased",
            plain,
            with_own_fence(fenced::update_progress),
        ),
        "complete (own fence)" => everywhere(plain, with_own_fence(fenced::complete)),
        "complete repeated" => repeated("after-complete", "leased", plain, with_own_fence(fenced::complete)),
        "fail (no retry policy)" => everywhere(plain, fail()),
        "fail (retries left)" => everywhere(retrying(Retries::Left), fail()),
        "fail (retries exhausted)" => everywhere(retrying(Retries::Exhausted), fail()),
        "fail (category permanent, retries left)" => {
            everywhere(retrying(Retries::Left), with_own_fence(fenced::fail_permanently))
        }
        "fail repeated (no retry policy)" => repeated("after-fail", "leased", plain, fail()),
        "fail repeated (retries left)" => repeated("after-fail", "leased", retrying(Retries::Left), fail()),
        "delay (own fence)" => everywhere(plain, with_own_fence(fenced::delay)),
        "delay repeated" => repeated("after-delay", "leased", plain, with_own_fence(fenced::delay)),
        "wait_children (no dependencies)" => everywhere(plain, wait_children()),
        "wait_children (unresolved)" => everywhere(waiting_for(Upstream::Open), wait_children()),
        "wait_children (impossible)" => everywhere(waiting_for(Upstream::Failed), wait_children()),
        "wait_children repeated (unresolved)" => repeated(
            "after-wait_children",
            "leased",
            waiting_for(Upstream::Open),
            wait_children(),
        ),
        "wait_children repeated (impossible)" => repeated(
            "after-wait_children",
            "leased",
            waiting_for(Upstream::Failed),
            wait_children(),
        ),
        "report_usage (own fence)" => everywhere(plain, with_own_fence(fenced::report_usage)),
        "report_usage repeated (same request_id)" => repeated("after-report_usage", "leased", plain, |scene| {
            let mut command = fenced::usage(scene.fence)?;
            command.request_id = Some("request".parse()?);
            fenced::report(scene, &command)
        }),
        "report_usage repeated (same dedup_key)" => repeated("after-report_usage", "leased", plain, |scene| {
            let mut command = fenced::usage(scene.fence)?;
            command.dedup_key = Some("key".parse()?);
            fenced::report(scene, &command)
        }),
        _ => return None,
    })
}

/// Of a stale fence cancel_execution is one of them, too.
fn stale_fences() -> Vec<super::Trial> {
    let cancel: (&str, fenced::Send) = ("cancel_execution", fenced::cancel_execution);
    let sends = FENCED.into_iter().chain([cancel]);
    sends.flat_map(|(name, send)| with_stale_fences(name, send)).collect()
}
