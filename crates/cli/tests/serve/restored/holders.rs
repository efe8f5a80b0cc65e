//! Workers that have leases around the moment of the copy, and show them to the store that was made from it.

mod lease;

use std::sync::Arc;
use std::time::Instant;

use ff_core::capability::CapabilitySet;
use ff_core::command::claim::{Claim, LaneOrder, Want};
use ff_core::command::lease::Completed;
use ff_core::command::submit::{CreateExecution, Created};
use ff_core::error::Code;
use ff_core::id::ExecutionId;
use ff_core::name::{ExecutionKind, IdempotencyKey, LaneId, Namespace, WorkerId, WorkerInstanceId};
use ff_core::payload::Payload;
use ff_core::time::Duration;
use ff_sdk::{Fabric, Remote};

use self::lease::Lease;
use crate::killed::ledger::Ledger;
use crate::killed::told::When;

/// Longer than the test takes.
const LONG: Duration = Duration::from_secs(600);
/// The shortest there is.
const SHORT: Duration = Duration::from_secs(1);
/// Until a lease that runs out is given to somebody else.
const PATIENCE: Duration = Duration::from_secs(30);

/// Everybody, by what becomes of them. Each has a lane of that name.
pub(super) struct Holders {
    client: Remote,
    ledger: Arc<Ledger>,
    leases: Vec<(Lot, Lease)>,
}

/// What becomes of a lease.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Lot {
    /// Taken before the copy, and lasts.
    Lasts,
    /// Taken before the copy; its worker completed it after.
    CompletedSince,
    /// Taken before the copy, and run out by the time it is shown again.
    RunsOut,
    /// Completed before the copy.
    CompletedBefore,
    /// Submitted before the copy, taken after.
    TakenSince,
    /// Submitted before the copy, taken and completed after.
    DoneSince,
    /// Submitted and taken after the copy.
    SubmittedSince,
}

impl Holders {
    pub(super) fn new(client: Remote, ledger: &Arc<Ledger>) -> Self {
        let ledger = Arc::clone(ledger);
        Self {
            client,
            ledger,
            leases: Vec::new(),
        }
    }

    /// Right before the store is copied.
    pub(super) async fn before_the_copy(&mut self) {
        for (lot, lasts) in [
            (Lot::CompletedBefore, LONG),
            (Lot::Lasts, LONG),
            (Lot::CompletedSince, LONG),
            (Lot::RunsOut, SHORT),
        ] {
            self.submit(lot).await;
            self.take(lot, lasts).await;
        }
        let completed = self.lease(Lot::CompletedBefore).complete().await;
        assert_eq!(completed, Ok(Completed::Now));
        for lot in [Lot::TakenSince, Lot::DoneSince] {
            self.submit(lot).await;
        }
    }

    /// When it was copied, and everybody goes on.
    pub(super) async fn after_the_copy(&mut self) {
        let lasting = self.lease(Lot::Lasts);
        assert_eq!(lasting.renew().await, Ok(()));
        assert_eq!(lasting.record().await, Ok(()));
        let completed = self.lease(Lot::CompletedSince).complete().await;
        assert_eq!(completed, Ok(Completed::Now));
        self.submit(Lot::SubmittedSince).await;
        for lot in [Lot::TakenSince, Lot::DoneSince, Lot::SubmittedSince] {
            self.take(lot, LONG).await;
        }
        let completed = self.lease(Lot::DoneSince).complete().await;
        assert_eq!(completed, Ok(Completed::Now));
    }

    /// When the store was made anew from the copy.
    pub(super) async fn restored(mut self) {
        self.who_had_completed_is_told_so().await;
        self.leases_that_last_go_on().await;
        self.a_lease_that_ran_out_is_somebody_elses().await;
        self.leases_taken_since_are_nobodys().await;
        self.what_was_submitted_since_is_unknown().await;
        for (_, lease) in self.leases {
            lease.note();
        }
    }

    async fn who_had_completed_is_told_so(&mut self) {
        let (lot, id) = (Lot::CompletedBefore, self.id(Lot::CompletedBefore));
        assert_eq!(self.lease(lot).complete_again().await, Ok(Completed::Already));
        let submitted = self.submit_again(lot).await;
        assert!(matches!(submitted, Created::Duplicate { execution_id, .. } if execution_id == id));
    }

    async fn leases_that_last_go_on(&mut self) {
        let lasting = self.lease(Lot::Lasts);
        assert_eq!(lasting.renew().await, Ok(()));
        assert_eq!(lasting.record().await, Ok(()));
        for lot in [Lot::Lasts, Lot::CompletedSince] {
            let lease = self.lease(lot);
            assert_eq!(lease.complete().await, Ok(Completed::Now), "{lot:?}");
            assert_eq!(lease.complete_again().await, Ok(Completed::Already), "{lot:?}");
        }
    }

    async fn a_lease_that_ran_out_is_somebody_elses(&mut self) {
        let again = self.claim(Lot::RunsOut, LONG).await;
        let old = self.lease(Lot::RunsOut);
        assert_eq!(again.steps_handed_on(), old.steps_recorded(), "what it recorded before");
        assert_eq!(old.all_calls().await, [Code::LeaseExpired; 3]);
        self.end_well(again).await;
        assert_eq!(self.lease(Lot::RunsOut).all_calls().await, [Code::StaleLease; 3]);
    }

    async fn leases_taken_since_are_nobodys(&mut self) {
        for lot in [Lot::TakenSince, Lot::DoneSince] {
            let refused = self.lease(lot).all_calls().await;
            assert_eq!(refused, [Code::ExecutionNotActive; 3], "{lot:?}");
            let again = self.claim(lot, LONG).await;
            let old = self.lease(lot);
            assert_eq!(again.epoch(), old.epoch(), "{lot:?}: another lease");
            assert!(again.steps_handed_on().is_empty(), "{lot:?}");
            assert_eq!(old.all_calls().await, [Code::StaleLease; 3], "{lot:?}");
            self.end_well(again).await;
            assert_eq!(self.lease(lot).all_calls().await, [Code::StaleLease; 3], "{lot:?}");
        }
    }

    async fn what_was_submitted_since_is_unknown(&mut self) {
        let (lot, lost) = (Lot::SubmittedSince, self.id(Lot::SubmittedSince));
        assert_eq!(self.lease(lot).all_calls().await, [Code::ExecutionNotFound; 3]);
        let read = self.client.get_execution(lost).await;
        assert_eq!(read.unwrap_err().code, Code::ExecutionNotFound);
        let submitted = self.submit_again(lot).await;
        assert!(matches!(submitted, Created::Created { execution_id } if execution_id != lost));
        let again = self.claim(lot, LONG).await;
        self.end_well(again).await;
    }

    async fn end_well(&self, mut lease: Lease) {
        assert_eq!(lease.record().await, Ok(()));
        assert_eq!(lease.complete().await, Ok(Completed::Now));
        lease.note();
    }

    async fn submit(&self, lot: Lot) {
        let submitted = self.submit_again(lot).await;
        assert!(matches!(submitted, Created::Created { .. }), "{lot:?}: {submitted:?}");
    }

    /// Under the same key each time.
    async fn submit_again(&self, lot: Lot) -> Created {
        let asked = Instant::now();
        let command = CreateExecution {
            lane_id: lane(lot),
            idempotency_key: Some(IdempotencyKey::parse(format!("{lot:?}")).unwrap()),
            ..CreateExecution::new(ExecutionKind::parse("held").unwrap(), Payload::default())
        };
        let created = self.client.create_execution(command).await.unwrap();
        if let Created::Created { execution_id } = created {
            self.ledger.note_submitted(execution_id, When::since(asked));
        }
        created
    }

    /// Takes what waits in a lane, and records a first step.
    async fn take(&mut self, lot: Lot, lasts: Duration) {
        let mut lease = self.claim(lot, lasts).await;
        assert_eq!(lease.record().await, Ok(()), "{lot:?}");
        self.leases.push((lot, lease));
    }

    async fn claim(&self, lot: Lot, lasts: Duration) -> Lease {
        let claim = Claim {
            namespace: Namespace::default_namespace(),
            worker: WorkerId::parse("holder").unwrap(),
            instance: WorkerInstanceId::parse(format!("{lot:?}")).unwrap(),
            incarnation: None,
            want: Want {
                lanes: vec![lane(lot)],
                lane_order: LaneOrder::Strict,
                capabilities: CapabilitySet::default(),
                max: 1,
                lease_ttl: Some(lasts),
            },
            wait: PATIENCE,
        };
        let asked = Instant::now();
        let task = self.client.claim(claim).await.unwrap().pop();
        let task = task.unwrap_or_else(|| panic!("{lot:?}: nothing is handed out"));
        Lease::new(self.client.clone(), Arc::clone(&self.ledger), task, asked)
    }

    fn lease(&mut self, lot: Lot) -> &mut Lease {
        let mut leases = self.leases.iter_mut();
        let (_, lease) = leases.find(|(of, _)| *of == lot).expect("it was taken");
        lease
    }

    fn id(&mut self, lot: Lot) -> ExecutionId {
        self.lease(lot).id()
    }
}

fn lane(lot: Lot) -> LaneId {
    LaneId::parse(format!("{lot:?}").to_lowercase()).unwrap()
}
