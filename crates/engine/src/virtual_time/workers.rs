//! Workers under a clock that jumps. They could not say in the meantime that they are there, so they stay registered.

use std::collections::BTreeSet;
use std::time::Duration;

use ff_core::command::operator::RevokeLease;
use ff_core::command::page::{ListOf, PageRequest};
use ff_core::command::worker::{Heartbeat, NamedInstance, RegisterWorker, WorkerLoad};
use ff_core::error::Code;
use ff_core::fabric::{Fabric, On, Result};
use ff_core::limits::PAGE_MAX;
use ff_core::name::{LaneId, Namespace, WorkerId, WorkerInstanceId};
use ff_core::record::Worker;
use ff_core::state::PublicState;
use ff_core::time::Timestamp;
use ff_core::view::ListExecutions;

use super::VirtualTime;

/// How long until it is looked again whether a worker that is lost was handed something.
const LOOK_AGAIN: Duration = Duration::from_millis(20);
/// So often nothing is found before it is believed.
const QUIET_LOOKS: u32 = 3;

impl VirtualTime {
    /// The lanes that workers which are registered take work from.
    pub(super) async fn served_lanes(&self) -> Result<Vec<LaneId>> {
        let workers = self.workers().await?;
        let lanes: BTreeSet<LaneId> = workers.into_iter().flat_map(|worker| worker.lanes).collect();
        Ok(lanes.into_iter().collect())
    }

    /// Lets time pass without a worker being forgotten for it.
    pub(super) async fn jump_with_workers(&self, moment: Timestamp) -> Result<()> {
        let workers = self.workers().await?;
        self.jump_to(moment);
        for worker in workers {
            let again = RegisterWorker {
                namespace: worker.namespace,
                worker: worker.worker,
                instance: worker.instance,
                incarnation: worker.incarnation,
                lanes: worker.lanes,
                capabilities: worker.capabilities,
                ttl: Some(worker.ttl),
                load: WorkerLoad::default(),
            };
            self.engine.register_worker(again).await?;
        }
        Ok(())
    }

    /// A worker process has crashed, and goes on or is started again: its leases are over now, because they would never be while
    /// time stands still. How many it had.
    pub async fn crash_worker(&self, instance: &WorkerInstanceId) -> Result<usize> {
        let of_instance = ListExecutions {
            state: vec![PublicState::Active],
            worker: Some(WorkerId::parse(instance.as_str())?),
            page: most(),
            ..ListExecutions::default()
        };
        let held = self.engine.list_executions(of_instance).await?.items;
        for execution in &held {
            let revoke = RevokeLease {
                reason: Some("its worker is gone".to_owned()),
                expected_lease_epoch: Some(execution.lease_epoch),
                request_id: None,
            };
            match self.engine.revoke_lease(On::new(execution.execution_id, revoke)).await {
                // It came to its end by itself.
                Err(refused) if refused.code == Code::ExecutionNotActive => {}
                answer => _ = answer?,
            }
        }
        Ok(held.len())
    }

    /// A worker process is gone without a word: its leases are over now, and it is registered no longer. How many it had.
    pub async fn lose_worker(&self, instance: &WorkerInstanceId) -> Result<usize> {
        let (mut lost, mut quiet_looks) = (0, 0);
        // A call of it may still be parked here, as long as nobody has noticed that its connection is closed: what that is
        // handed goes the same way.
        while quiet_looks < QUIET_LOOKS {
            let revoked = self.crash_worker(instance).await?;
            lost += revoked;
            quiet_looks = if revoked == 0 { quiet_looks + 1 } else { 0 };
            tokio::time::sleep(LOOK_AGAIN).await;
        }
        let registered = self.workers().await?;
        for worker in registered.into_iter().filter(|worker| worker.instance == *instance) {
            let gone = NamedInstance {
                namespace: worker.namespace,
                process: Heartbeat {
                    instance: worker.instance,
                    incarnation: worker.incarnation,
                },
            };
            self.engine.deregister_worker(gone).await?;
        }
        Ok(lost)
    }

    async fn workers(&self) -> Result<Vec<Worker>> {
        let all = ListOf {
            namespace: Namespace::default_namespace(),
            page: most(),
        };
        Ok(self.engine.list_workers(all).await?.items)
    }
}

fn most() -> PageRequest {
    PageRequest {
        cursor: None,
        limit: Some(PAGE_MAX),
    }
}
