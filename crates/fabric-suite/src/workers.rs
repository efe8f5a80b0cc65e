//! Registration of workers.

use ff_core::capability::CapabilitySet;
use ff_core::command::claim::{Claim, Exchange, Want};
use ff_core::command::lease::Completed;
use ff_core::command::worker::{
    DrainWorker, Heartbeat, NamedInstance, RegisterWorker, SendHeartbeat, UndrainWorker, WorkerLoad,
};
use ff_core::error::Code;
use ff_core::record::Worker;
use ff_core::state::{BlockingReason, EligibilityState, PublicState};
use ff_core::time::Duration;

use crate::Harness;
use crate::scene::{
    MINUTE, Scene, WORKER, claim, instance, lane, list, other_namespace, refused, registration, requiring, submission,
};

pub(crate) async fn a_registered_worker_is_listed(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let register = RegisterWorker {
        lanes: vec![lane("a"), lane("b")],
        capabilities: CapabilitySet::parse(["gpu"]).unwrap(),
        ..registration(WORKER)
    };
    let registered = scene.fabric.register_worker(register.clone()).await.unwrap();
    assert_eq!((registered.lanes, registered.ttl), (register.lanes, MINUTE));
    let listed = listed(&scene).await;
    assert_eq!(listed.len(), 1);
    assert_eq!(
        (&listed[0].instance, listed[0].incarnation),
        (&instance(WORKER), register.incarnation)
    );
    assert_eq!(listed[0].capabilities, register.capabilities);
}

pub(crate) async fn a_worker_is_of_one_namespace(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let there = RegisterWorker {
        namespace: other_namespace(),
        ..registration(WORKER)
    };
    scene.fabric.register_worker(there).await.unwrap();
    assert!(listed(&scene).await.is_empty());
    scene.register(WORKER).await;
    assert_eq!(listed(&scene).await.len(), 1, "the same instance is free here");
}

pub(crate) async fn a_registration_names_lanes_and_a_sensible_time(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let nowhere = RegisterWorker {
        lanes: vec![],
        ..registration(WORKER)
    };
    let brief = RegisterWorker {
        ttl: Some(Duration::from_millis(999)),
        ..registration(WORKER)
    };
    let eternal = RegisterWorker {
        ttl: Some(Duration::from_hours(25)),
        ..registration(WORKER)
    };
    for wrong in [nowhere, brief, eternal] {
        assert_eq!(refused(scene.fabric.register_worker(wrong).await), Code::InvalidInput);
    }
    assert!(listed(&scene).await.is_empty());
}

pub(crate) async fn a_heartbeat_keeps_a_worker(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let register = registration(WORKER);
    scene.fabric.register_worker(register.clone()).await.unwrap();
    for _ in 0..3 {
        scene.after(Duration::from_secs(40)).await;
        scene.fabric.heartbeat(process(&register).into()).await.unwrap();
    }
    assert_eq!(listed(&scene).await.len(), 1);
}

pub(crate) async fn a_worker_nobody_knows_has_no_heartbeat(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let register = registration(WORKER);
    let answer = scene.fabric.heartbeat(process(&register).into()).await;
    assert_eq!(refused(answer), Code::WorkerNotFound);
    let answer = scene.fabric.deregister_worker(process(&register)).await;
    assert_eq!(refused(answer), Code::WorkerNotFound);
    scene.fabric.register_worker(register.clone()).await.unwrap();
    scene.after(MINUTE).await;
    let answer = scene.fabric.heartbeat(process(&register).into()).await;
    assert_eq!(refused(answer), Code::WorkerNotFound, "its time was over");
}

pub(crate) async fn one_process_has_an_instance_id(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let (first, second) = (registration(WORKER), registration(WORKER));
    scene.fabric.register_worker(first.clone()).await.unwrap();
    assert!(
        scene.fabric.register_worker(first.clone()).await.is_ok(),
        "itself again"
    );
    let answer = scene.fabric.register_worker(second.clone()).await;
    assert_eq!(refused(answer), Code::DuplicateWorkerInstance);
    let answer = scene.fabric.heartbeat(process(&second).into()).await;
    assert_eq!(refused(answer), Code::DuplicateWorkerInstance);
    let answer = scene.fabric.deregister_worker(process(&second)).await;
    assert_eq!(refused(answer), Code::DuplicateWorkerInstance);
    scene.fabric.deregister_worker(process(&first)).await.unwrap();
    assert!(listed(&scene).await.is_empty());
    assert!(scene.fabric.register_worker(second).await.is_ok());
}

pub(crate) async fn a_second_process_of_an_instance_gets_no_work(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let (first, second) = (registration(WORKER), registration(WORKER));
    scene.fabric.register_worker(first.clone()).await.unwrap();
    let id = scene.submit(submission()).await;
    let claiming = |register: &RegisterWorker| Claim {
        incarnation: Some(register.incarnation),
        ..claim(WORKER)
    };
    let exchanging = |register: &RegisterWorker, max| {
        exchange(
            register,
            Some(Want {
                max,
                ..claim(WORKER).want
            }),
        )
    };
    let refusals = [
        refused(scene.fabric.claim(claiming(&second)).await),
        refused(scene.fabric.exchange(exchanging(&second, 1)).await),
        refused(scene.fabric.exchange(exchanging(&second, 0)).await),
    ];
    assert_eq!(refusals, [Code::DuplicateWorkerInstance; 3]);
    assert_eq!(listed(&scene).await[0].incarnation, first.incarnation);
    let task = scene.fabric.claim(claiming(&first)).await.unwrap().pop().unwrap();
    assert_eq!(task.execution_id, id);
    scene.fabric.exchange(exchange(&second, None)).await.unwrap();
    scene.fabric.deregister_worker(process(&first)).await.unwrap();
    let other = scene.submit(submission()).await;
    let tasks = scene.fabric.exchange(exchanging(&second, 1)).await.unwrap().tasks;
    assert_eq!(tasks[0].execution_id, other, "the place is free");
}

pub(crate) async fn the_id_of_a_dead_process_is_free(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    scene.register(WORKER).await;
    scene.after(MINUTE).await;
    scene.register(WORKER).await;
    assert_eq!(listed(&scene).await.len(), 1);
}

pub(crate) async fn claiming_refreshes_a_registration(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let register = registration(WORKER);
    scene.fabric.register_worker(register.clone()).await.unwrap();
    for _ in 0..6 {
        let busy = Claim {
            incarnation: Some(register.incarnation),
            ..claim(WORKER)
        };
        scene.fabric.claim(busy).await.unwrap();
        scene.after(Duration::from_secs(15)).await;
    }
    assert_eq!(listed(&scene).await.len(), 1);
}

pub(crate) async fn the_leases_of_a_dead_worker_expire_on_their_own(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    scene.register(WORKER).await;
    let task = scene.held(submission()).await;
    scene.after(Duration::from_secs(120)).await;
    assert!(listed(&scene).await.is_empty());
    assert_eq!(scene.state(task.execution_id).await, PublicState::Active);
    assert_eq!(scene.complete(&task).await.unwrap(), Completed::Now);
}

pub(crate) async fn work_nobody_can_do_says_so(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    scene.register("plain").await;
    let id = scene.submit(requiring(&["gpu"])).await;
    let vector = scene.vector(id).await;
    assert_eq!(vector.eligibility_state, EligibilityState::BlockedByRoute);
    assert_eq!(vector.blocking_reason, BlockingReason::WaitingForCapableWorker);
    assert_eq!(vector.public_state, PublicState::Waiting);
    let able = RegisterWorker {
        capabilities: CapabilitySet::parse(["gpu"]).unwrap(),
        ..registration("able")
    };
    scene.fabric.register_worker(able).await.unwrap();
    scene.after(Duration::from_secs(3)).await;
    let vector = scene.vector(id).await;
    assert_eq!(vector.eligibility_state, EligibilityState::EligibleNow);
    assert_eq!(vector.blocking_reason, BlockingReason::WaitingForWorker);
}

async fn listed(scene: &Scene<'_>) -> Vec<Worker> {
    scene.fabric.list_workers(list()).await.unwrap().items
}

/// An exchange of a process that has nothing to say.
fn exchange(register: &RegisterWorker, want: Option<Want>) -> Exchange {
    Exchange {
        namespace: register.namespace.clone(),
        worker: register.worker.clone(),
        instance: register.instance.clone(),
        incarnation: register.incarnation,
        finished: Vec::new(),
        renew: Vec::new(),
        frames: Vec::new(),
        usage: Vec::new(),
        load: Default::default(),
        want,
        wait: Duration::ZERO,
        request_id: None,
        steps: Vec::new(),
    }
}

fn process(register: &RegisterWorker) -> NamedInstance {
    NamedInstance {
        namespace: register.namespace.clone(),
        process: Heartbeat {
            instance: register.instance.clone(),
            incarnation: register.incarnation,
        },
    }
}

pub(crate) async fn a_worker_says_how_busy_it_is(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let register = RegisterWorker {
        load: WorkerLoad {
            slots: Some(8),
            running: Some(0),
            version: Some("1.4.2".to_owned()),
        },
        ..registration(WORKER)
    };
    let registered = scene.fabric.register_worker(register.clone()).await.unwrap();
    assert_eq!(
        (registered.slots, registered.version.as_deref()),
        (Some(8), Some("1.4.2"))
    );
    let heartbeat = SendHeartbeat {
        load: WorkerLoad {
            running: Some(3),
            ..WorkerLoad::default()
        },
        ..process(&register).into()
    };
    scene.fabric.heartbeat(heartbeat).await.unwrap();
    let listed = scene.fabric.list_workers(list()).await.unwrap().items;
    assert_eq!(
        (listed[0].slots, listed[0].running),
        (Some(8), Some(3)),
        "what is not said stays"
    );
    let nameless = RegisterWorker {
        load: WorkerLoad {
            version: Some(String::new()),
            ..WorkerLoad::default()
        },
        ..register
    };
    assert_eq!(
        refused(scene.fabric.register_worker(nameless).await),
        Code::InvalidInput
    );
}

pub(crate) async fn a_drained_worker_is_told_and_gets_nothing_until_it_is_undrained(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let register = registration(WORKER);
    scene.fabric.register_worker(register.clone()).await.unwrap();
    scene.submit_plain().await;
    let drain = DrainWorker {
        namespace: register.namespace.clone(),
        instance: register.instance.clone(),
        reason: "a new version".to_owned(),
    };
    let drained = scene.fabric.drain_worker(drain).await.unwrap().drain.unwrap();
    assert_eq!(drained.reason, "a new version");
    let wanting = || {
        let Claim { want, .. } = claim(WORKER);
        exchange(&register, Some(want))
    };
    let turn = scene.fabric.exchange(wanting()).await.unwrap();
    assert_eq!((turn.tasks.len(), turn.drain), (0, Some(drained.clone())));
    let heartbeat = scene.fabric.heartbeat(process(&register).into()).await.unwrap();
    assert_eq!(heartbeat.drain, Some(drained.clone()));
    let again = scene.fabric.register_worker(register.clone()).await.unwrap();
    assert_eq!(again.drain, Some(drained));
    let undrain = UndrainWorker {
        namespace: register.namespace.clone(),
        instance: register.instance.clone(),
    };
    assert_eq!(scene.fabric.undrain_worker(undrain).await.unwrap().drain, None);
    let turn = scene.fabric.exchange(wanting()).await.unwrap();
    assert_eq!((turn.tasks.len(), turn.drain), (1, None));
}

pub(crate) async fn nobody_is_drained_who_is_not_there(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let RegisterWorker {
        namespace, instance, ..
    } = registration(WORKER);
    let drain = DrainWorker {
        namespace: namespace.clone(),
        instance: instance.clone(),
        reason: String::new(),
    };
    assert_eq!(refused(scene.fabric.drain_worker(drain).await), Code::WorkerNotFound);
    let undrain = UndrainWorker { namespace, instance };
    assert_eq!(
        refused(scene.fabric.undrain_worker(undrain).await),
        Code::WorkerNotFound
    );
}
