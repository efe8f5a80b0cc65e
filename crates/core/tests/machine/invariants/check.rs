//! What holds after every step.

use std::collections::BTreeSet;

use ff_core::id::GrantId;
use ff_core::machine::placement::{Placement, placement};
use ff_core::machine::time;
use ff_core::record::{EffectKind, Execution};
use ff_core::state::{AttemptState, EligibilityState, LifecyclePhase, OwnershipState, state_vector};

use crate::invariants::world::{World, settled};

impl World {
    pub(crate) fn check(&self) {
        let execution = &self.execution;
        let vector = state_vector(execution);
        self.check_terminal();
        self.check_time();
        self.check_slots();

        let eligible = vector.eligibility_state == EligibilityState::EligibleNow;
        let queued = matches!(placement(execution), Placement::Eligible { .. });
        assert_eq!(
            queued,
            eligible && execution.grant().is_none(),
            "the queue holds exactly what may be handed out"
        );
        let leased = vector.ownership_state == OwnershipState::Leased;
        let in_grace = vector.ownership_state == OwnershipState::LeaseExpiredReclaimable;
        assert_eq!(leased || in_grace, vector.lifecycle_phase == LifecyclePhase::Active);
        assert_eq!(vector.attempt_state == AttemptState::RunningAttempt, leased);

        let text = serde_json::to_string(execution).unwrap();
        let back: Execution = serde_json::from_str(&text).unwrap();
        assert_eq!(&back, execution, "a record survives being stored");
    }

    fn check_terminal(&self) {
        let execution = &self.execution;
        if !execution.is_terminal() {
            return;
        }
        assert!(execution.lease().is_none() && execution.grant().is_none());
        assert!(execution.hold.is_none() && !execution.unopened && execution.suspension().is_none());
        assert!(
            execution.attempt.as_ref().is_none_or(|attempt| attempt.end.is_some()),
            "its attempt has ended"
        );
        assert!(state_vector(execution).public_state.is_terminal());
        let owed = !execution.outbox.is_empty() || execution.follow_ups.any();
        let retention = execution.outcome().and_then(|outcome| outcome.delete_at);
        assert!(
            owed || execution.is_deleting() || time::due_at(execution) == retention,
            "only retention is left to time"
        );
    }

    fn check_time(&self) {
        let context = self.context();
        let once = settled(&self.execution, &context);
        let twice = settled(&once, &context);
        assert_eq!(once, twice, "settling is idempotent");
        let owed = !once.outbox.is_empty() || once.follow_ups.any() || once.is_deleting();
        assert!(
            owed || time::due_at(&once).is_none_or(|at| at > self.now),
            "nothing settled is still due"
        );
    }

    fn check_slots(&self) {
        let execution = &self.execution;
        let held_by_lease = execution.lease().and_then(|lease| lease.grant);
        let released = execution.outbox.iter().filter_map(|effect| match effect.kind {
            EffectKind::ReleaseSlot { grant_id, .. } => Some(grant_id),
            EffectKind::ReportUsage { .. } => None,
        });
        let accounted: BTreeSet<GrantId> = self
            .grant_id()
            .into_iter()
            .chain(held_by_lease)
            .chain(released)
            .collect();
        assert!(
            self.slots.is_subset(&accounted),
            "no quota slot leaks: {:?} not in {accounted:?}",
            self.slots
        );
    }
}
