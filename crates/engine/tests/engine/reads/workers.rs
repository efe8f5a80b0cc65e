//! Registration of workers.

use ff_core::command::page::{ListOf, PageRequest};
use ff_core::command::worker::{Heartbeat, NamedInstance};
use ff_core::error::Code;
use ff_core::fabric::Fabric;
use ff_core::name::Namespace;
use ff_core::record::Incarnation;
use ff_core::time::Duration;
use uuid::Uuid;

use crate::reads::stage::{Stage, code, registration};

fn process(instance: &str, incarnation: u128) -> NamedInstance {
    NamedInstance {
        namespace: Namespace::default_namespace(),
        process: Heartbeat {
            instance: instance.parse().unwrap(),
            incarnation: Incarnation(Uuid::from_u128(incarnation)),
        },
    }
}

impl Stage {
    async fn instances(&self, limit: usize) -> Vec<String> {
        let (mut instances, mut cursor) = (Vec::new(), None);
        loop {
            let request = ListOf {
                namespace: Namespace::default_namespace(),
                page: PageRequest {
                    cursor,
                    limit: Some(limit),
                },
            };
            let page = self.engine.list_workers(request).await.unwrap();
            instances.extend(page.items.into_iter().map(|worker| worker.instance.to_string()));
            cursor = page.next;
            if cursor.is_none() {
                return instances;
            }
        }
    }
}

#[tokio::test]
async fn one_live_process_has_an_instance_id() {
    let stage = Stage::new();
    stage.register("worker-1", &[]).await;
    let second = stage.engine.register_worker(registration("worker-1", 2, &[])).await;
    assert_eq!(code(second), Code::DuplicateWorkerInstance);
    assert_eq!(
        code(stage.engine.heartbeat(process("worker-1", 2).into()).await),
        Code::DuplicateWorkerInstance
    );
    assert_eq!(
        code(stage.engine.deregister_worker(process("worker-1", 2)).await),
        Code::DuplicateWorkerInstance
    );

    stage.engine.deregister_worker(process("worker-1", 1)).await.unwrap();
    assert_eq!(
        code(stage.engine.heartbeat(process("worker-1", 1).into()).await),
        Code::WorkerNotFound
    );
    stage
        .engine
        .register_worker(registration("worker-1", 2, &[]))
        .await
        .unwrap();
}

#[tokio::test]
async fn a_process_that_is_not_heard_of_leaves_its_id_to_the_next() {
    let stage = Stage::new();
    stage.register("worker-1", &[]).await;
    stage.advance(Duration::from_secs(50));
    stage.engine.heartbeat(process("worker-1", 1).into()).await.unwrap();
    stage.advance(Duration::from_secs(50));
    assert_eq!(stage.instances(10).await, ["worker-1"]);
    stage.advance(Duration::from_secs(10));
    assert_eq!(stage.instances(10).await, [""; 0]);
    assert_eq!(
        code(stage.engine.heartbeat(process("worker-1", 1).into()).await),
        Code::WorkerNotFound
    );
    stage
        .engine
        .register_worker(registration("worker-1", 2, &[]))
        .await
        .unwrap();
}

#[tokio::test]
async fn workers_are_listed_by_instance_page_by_page() {
    let stage = Stage::new();
    for number in [3, 1, 2] {
        stage.register(&format!("worker-{number}"), &[]).await;
    }
    for limit in 1..=4 {
        assert_eq!(stage.instances(limit).await, ["worker-1", "worker-2", "worker-3"]);
    }
}

#[tokio::test]
async fn a_bound_caller_reaches_only_its_own_workers() {
    let stage = Stage::new();
    let engine = stage.bound_to("other");
    assert_eq!(
        code(engine.register_worker(registration("worker-1", 1, &[])).await),
        Code::Forbidden
    );
    assert_eq!(
        code(engine.heartbeat(process("worker-1", 1).into()).await),
        Code::Forbidden
    );
    let request = ListOf {
        namespace: Namespace::default_namespace(),
        page: PageRequest::default(),
    };
    assert_eq!(code(engine.list_workers(request).await), Code::Forbidden);
}
