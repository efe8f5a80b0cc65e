//! The place in a queue as one number, the best first. Equal numbers are sorted by id.

use std::cmp::Reverse;

use ff_core::id::ExecutionId;
use ff_core::limits::PRIORITY_MAX;
use ff_core::machine::placement::Score;
use ff_core::time::Timestamp;

use super::{Result, Unreadable};

/// Milliseconds that one step of priority is worth: 63 years. With priorities on both sides of zero every number is below 2^53,
/// which a double holds exactly.
pub const SPAN_MS: i64 = 2_000_000_000_000;
/// The priority whose numbers begin at zero.
const MIDDLE: i64 = PRIORITY_MAX as i64 / 2;
/// Ages are counted from the beginning of 2024.
const EPOCH_MS: i64 = 1_704_067_200_000;

/// The number of a score.
pub fn number(score: &Score) -> i64 {
    let age = score.created_at.as_millis().cast_signed() - EPOCH_MS;
    let age = age.clamp(0, SPAN_MS - 1);
    (MIDDLE - i64::from(score.priority.0)) * SPAN_MS + age
}

/// The score of an execution with this number.
pub fn score(number: i64, id: ExecutionId) -> Result<Score> {
    let priority = MIDDLE - number.div_euclid(SPAN_MS);
    Ok(Score {
        priority: Reverse(u16::try_from(priority).map_err(Unreadable::new)?),
        created_at: created_at(number),
        id,
    })
}

/// When an execution with this number was created.
pub const fn created_at(number: i64) -> Timestamp {
    let created_at = EPOCH_MS + number.rem_euclid(SPAN_MS);
    Timestamp::from_millis(created_at.cast_unsigned())
}
