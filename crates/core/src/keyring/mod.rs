//! Signing keys: one current key that signs, any number in grace that still verify.

mod ring;
mod rotate;
mod seal;
mod secret;

pub use ring::{KeyRing, Reconciled, RingKey};
pub use rotate::{RotateWaitpointSecret, Rotated, RotationStatus, rotate};
pub use seal::{Message, Purpose, Seal};
pub use secret::Secret;
