//! The operations on claims, for the table of operations; each is in a file of its own.

pub(crate) use super::claim::claim;
pub(crate) use super::exchange::exchange;
pub(crate) use super::grant::claim_for_worker;
pub(crate) use super::reclaim::issue_reclaim_grant;
pub(crate) use super::redeem::claim_from_grant;
