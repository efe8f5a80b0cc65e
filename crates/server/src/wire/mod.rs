//! What bodies look like.

mod lease;
mod payload;
mod submit;
mod task;

pub(crate) use lease::{CompleteBody, CompletedBody, RenewBody, RenewedBody};
pub(crate) use submit::{CreatedBody, SubmitBody};
pub(crate) use task::{ClaimBody, GrantBody, RedeemBody, TaskBody};
