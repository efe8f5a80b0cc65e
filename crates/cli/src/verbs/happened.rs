//! What happened, and who did it, for a person.

use ff_core::record::{Actor, Happening};

use super::output::Ink;

/// Who did it.
pub(crate) fn actor(actor: &Actor) -> &str {
    match actor {
        Actor::Engine => "engine",
        Actor::Worker(instance) => instance.as_str(),
        Actor::Client(identity) => identity.as_str(),
        Actor::Anonymous => "client",
    }
}

/// How it looks.
pub(crate) const fn ink(what: Happening) -> Ink {
    use Happening as H;
    match what {
        H::Completed | H::FlowEnded => Ink::Good,
        H::Failed | H::Expired | H::HardBreach => Ink::Bad,
        H::RetryScheduled
        | H::LeaseExpired
        | H::LeaseRevoked
        | H::Reclaimable
        | H::Suspended
        | H::SuspensionTimedOut
        | H::Escalated
        | H::Blocked
        | H::Held
        | H::SoftBreach
        | H::StopRequested => Ink::Warning,
        H::Claimed | H::Resumed => Ink::Busy,
        H::Cancelled | H::Skipped | H::FlowCancelled | H::Deleting => Ink::Faint,
        _ => Ink::Plain,
    }
}
