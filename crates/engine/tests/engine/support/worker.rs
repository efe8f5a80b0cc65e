//! What a worker asks and says.

use ff_core::capability::CapabilitySet;
use ff_core::command::claim::{Claim, LaneOrder, Task, Want};
use ff_core::command::lease::Complete;
use ff_core::fabric::{Fabric, On};
use ff_core::name::{LaneId, Namespace, WorkerId, WorkerInstanceId};
use ff_core::time::Duration;
use ff_engine::Engine;
use futures::future::join_all;

/// A claim of worker `number` for up to `max` tasks of the default lane, which does not wait.
pub(crate) fn claim(number: usize, max: usize) -> Claim {
    Claim {
        namespace: Namespace::default_namespace(),
        worker: WorkerId::parse("worker").unwrap(),
        instance: WorkerInstanceId::parse(format!("worker-{number}")).unwrap(),
        incarnation: None,
        want: Want {
            lanes: vec![LaneId::default_lane()],
            lane_order: LaneOrder::Strict,
            capabilities: CapabilitySet::default(),
            max,
            lease_ttl: None,
        },
        wait: Duration::ZERO,
    }
}

/// Completes tasks, all at the same time.
pub(crate) async fn complete_all(engine: &Engine, tasks: &[Task]) {
    let ends = tasks.iter().map(|task| {
        let complete = Complete {
            fence: Some(task.fence),
            result: None,
            ..Complete::default()
        };
        engine.complete(On::new(task.execution_id, complete))
    });
    for ended in join_all(ends).await {
        ended.unwrap();
    }
}
