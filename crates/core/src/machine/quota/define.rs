//! create, update, delete, and how a policy is read.

use crate::command::budget::{Deleted, Updated};
use crate::command::quota::{CreateQuotaPolicy, QuotaCreated, QuotaPolicyView, QuotaState, UpdateQuotaPolicy};
use crate::digest::Digest;
use crate::error::{Code, Rejection};
use crate::id::QuotaPolicyId;
use crate::record::{AMOUNT_MAX, BlockedIn, QuotaPolicy};
use crate::time::{Duration, Timestamp};
use crate::view::HowMany;

/// Window when none is named.
pub const WINDOW_DEFAULT: Duration = Duration::from_secs(60);
/// Shortest window.
pub const WINDOW_MIN: Duration = Duration::from_secs(1);
/// Longest window, and longest jitter: a month, because every request in it is remembered.
pub const WINDOW_MAX: Duration = Duration::from_hours(31 * 24);

/// The refusal for a quota policy that is not there, or not any more.
pub fn not_found(id: QuotaPolicyId) -> Rejection {
    Code::QuotaPolicyNotFound.because(format!("quota policy {id} does not exist"))
}

/// Fills an empty slot. An id stands for one definition for ever, also after its policy was deleted.
pub fn create(
    slot: &mut Option<QuotaPolicy>,
    id: QuotaPolicyId,
    command: &CreateQuotaPolicy,
    now: Timestamp,
) -> Result<QuotaCreated, Rejection> {
    let policy = QuotaPolicy {
        id,
        namespace: command.namespace.clone(),
        window: command.window,
        max_requests_per_window: command.max_requests_per_window,
        max_concurrent: command.max_concurrent,
        jitter: command.jitter,
        created_at: now,
        definition_digest: definition_digest(command),
        generation: 1,
        generation_at: now,
        deleted_at: None,
        blocked_in: BlockedIn::default(),
        continuing_in: BlockedIn::default(),
        promise: None,
        carried: Default::default(),
    };
    check(&policy)?;
    let Some(existing) = slot else {
        *slot = Some(policy);
        return Ok(QuotaCreated::Created);
    };
    if existing.definition_digest == policy.definition_digest && existing.deleted_at.is_none() {
        return Ok(QuotaCreated::Exists);
    }
    Err(Code::AlreadyExists.because(format!(
        "quota policy {id} exists with another definition, or was deleted"
    )))
}

/// Changes limits. Who is in stays in; a longer window counts what the shorter one still remembered.
pub fn update(before: &mut QuotaPolicy, command: &UpdateQuotaPolicy, now: Timestamp) -> Result<Updated, Rejection> {
    check_exists(before)?;
    let mut policy = QuotaPolicy {
        window: command.window.unwrap_or(before.window),
        max_requests_per_window: command.max_requests_per_window.apply(before.max_requests_per_window),
        max_concurrent: command.max_concurrent.apply(before.max_concurrent),
        jitter: command.jitter.unwrap_or(before.jitter),
        ..before.clone()
    };
    check(&policy)?;
    if policy == *before {
        return Ok(Updated::Unchanged);
    }
    move_generation(&mut policy, now);
    *before = policy;
    Ok(Updated::Now)
}

/// Leaves a tombstone: the policy limits nothing any more, and work that waits for it is released.
pub fn delete(policy: &mut QuotaPolicy, now: Timestamp) -> Deleted {
    if policy.deleted_at.is_some() {
        return Deleted::Already;
    }
    policy.deleted_at = Some(now);
    move_generation(policy, now);
    Deleted::Now
}

/// The policy for a reader, deleted or not: admission must know about deleted ones.
pub(super) fn view(policy: &QuotaPolicy, in_use: u64, requests_in_window: u64) -> QuotaPolicyView {
    let is_deleted = policy.deleted_at.is_some();
    let taken = |taken: u64| if is_deleted { 0 } else { taken };
    QuotaPolicyView {
        quota_policy_id: policy.id,
        namespace: policy.namespace.clone(),
        window: policy.window,
        max_requests_per_window: policy.max_requests_per_window,
        max_concurrent: policy.max_concurrent,
        jitter: policy.jitter,
        created_at: policy.created_at,
        generation: policy.generation,
        in_use: taken(in_use),
        requests_in_window: taken(requests_in_window),
        waiting: HowMany::default(),
        refused_last_minute: 0,
        closed_since: None,
        state: if is_deleted {
            QuotaState::Deleted
        } else {
            QuotaState::Active
        },
    }
}

/// Blocked work may have become admissible.
pub(super) fn move_generation(policy: &mut QuotaPolicy, now: Timestamp) {
    policy.generation += 1;
    policy.generation_at = now;
}

fn check_exists(policy: &QuotaPolicy) -> Result<(), Rejection> {
    match policy.deleted_at {
        Some(_) => Err(not_found(policy.id)),
        None => Ok(()),
    }
}

fn check(policy: &QuotaPolicy) -> Result<(), Rejection> {
    if !(WINDOW_MIN..=WINDOW_MAX).contains(&policy.window) {
        let window = policy.window;
        let detail = format!("the window must be between {WINDOW_MIN} and {WINDOW_MAX}, got {window}");
        return Err(Code::InvalidInput.because(detail));
    }
    if policy.jitter > WINDOW_MAX {
        return Err(Code::InvalidInput.because(format!("jitter_ms must be at most {WINDOW_MAX}")));
    }
    let limits = [policy.max_requests_per_window, policy.max_concurrent];
    match limits.into_iter().flatten().find(|limit| *limit > AMOUNT_MAX) {
        Some(limit) => Err(Code::InvalidInput.because(format!("the limit {limit} is more than {AMOUNT_MAX}"))),
        None => Ok(()),
    }
}

fn definition_digest(command: &CreateQuotaPolicy) -> Digest {
    let number = |number: Option<u64>| number.map_or_else(String::new, |number| number.to_string());
    let parts = [
        command.namespace.to_string(),
        number(Some(command.window.as_millis())),
        number(command.max_requests_per_window),
        number(command.max_concurrent),
        number(Some(command.jitter.as_millis())),
    ];
    Digest::of("quota policy definition", parts)
}
