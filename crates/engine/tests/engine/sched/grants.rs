//! Grants: claim_for_worker, claim_from_grant, and taking over from a lost worker.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::support::{START, Store, claim, command, counts};
use ff_core::command::claim::{ClaimForWorker, IssuedGrant, RedeemGrant, Task};
use ff_core::command::operator::{IssueReclaimGrant, RevokeLease};
use ff_core::error::Code;
use ff_core::fabric::{Fabric, On, Result};
use ff_core::id::ExecutionId;
use ff_core::machine::operator;
use ff_core::name::{LaneId, Namespace, WorkerId, WorkerInstanceId};
use ff_core::record::AttemptKind;
use ff_core::time::Duration;
use ff_core::token::SignedGrant;
use ff_engine::{Config, Engine, VirtualHost};

struct World {
    store: Arc<Store>,
    host: Arc<VirtualHost>,
    engine: Engine,
}

impl World {
    fn new() -> Self {
        let store = Store::new();
        let host = Arc::new(VirtualHost::new(9));
        let engine = Engine::new(Arc::clone(&store) as _, Arc::clone(&host) as _, Config::new(counts()));
        Self { store, host, engine }
    }

    fn advance(&self, millis: u64) {
        self.store.inner.advance(Duration::from_millis(millis));
        self.host.advance(std::time::Duration::from_millis(millis));
    }

    async fn grant(&self) -> Option<IssuedGrant> {
        self.engine.claim_for_worker(ask("w-1")).await.expect("an answer")
    }

    async fn redeem(&self, grant: &SignedGrant, instance: &str) -> Result<Task> {
        self.engine.claim_from_grant(redeeming(grant, instance)).await
    }

    /// An execution whose worker lost it.
    async fn lost(&self) -> ExecutionId {
        let id = self.engine.claim(claim(1)).await.expect("tasks")[0].execution_id;
        let revoke = RevokeLease {
            reason: None,
            expected_lease_epoch: None,
            request_id: None,
        };
        self.store
            .decide(id, |execution, context| {
                operator::revoke_lease(execution, &revoke, context)
            })
            .await;
        id
    }

    async fn reclaim(&self, id: ExecutionId) -> Result<IssuedGrant> {
        let command = IssueReclaimGrant {
            worker: WorkerId::parse("w").expect("a name"),
            instance: WorkerInstanceId::parse("w-1").expect("a name"),
            capabilities: Default::default(),
            grant_ttl: None,
        };
        self.engine.issue_reclaim_grant(On::new(id, command)).await
    }
}

fn ask(instance: &str) -> ClaimForWorker {
    ClaimForWorker {
        namespace: Namespace::default_namespace(),
        lane: LaneId::default_lane(),
        worker: WorkerId::parse("w").expect("a name"),
        instance: WorkerInstanceId::parse(instance).expect("a name"),
        capabilities: Default::default(),
        grant_ttl: None,
    }
}

fn redeeming(grant: &SignedGrant, instance: &str) -> RedeemGrant {
    RedeemGrant {
        grant: grant.clone(),
        worker: WorkerId::parse("w").expect("a name"),
        instance: WorkerInstanceId::parse(instance).expect("a name"),
        lease_ttl: None,
    }
}

#[tokio::test]
async fn a_grant_becomes_a_lease_of_its_whole_time() {
    let world = World::new();
    assert!(world.grant().await.is_none());
    let id = world.store.submit(command()).await;
    let issued = world.grant().await.unwrap();
    assert_eq!(issued.execution_id, id);
    assert_eq!(issued.expires_at, START + Duration::from_secs(5));
    assert!(world.grant().await.is_none(), "it is promised already");
    let task = world.redeem(&issued.grant, "w-1").await.unwrap();
    assert_eq!(task.execution_id, id);
    assert_eq!(task.expires_at, START + Duration::from_secs(30));
    assert_eq!(&task.input.bytes[..], b"input");
}

#[tokio::test]
async fn the_same_instance_gets_the_same_task_again_while_its_lease_lives() {
    let world = World::new();
    world.store.submit(command()).await;
    let grant = world.grant().await.unwrap().grant;
    let first = world.redeem(&grant, "w-1").await.unwrap();
    let again = world.redeem(&grant, "w-1").await.unwrap();
    assert_eq!(again.fence, first.fence);
    // The grant is past its time, the lease is not.
    world.advance(10_000);
    assert_eq!(world.redeem(&grant, "w-1").await.unwrap().fence, first.fence);
    world.advance(30_000);
    assert_eq!(
        world.redeem(&grant, "w-1").await.unwrap_err().code,
        Code::ClaimGrantExpired
    );
}

#[tokio::test]
async fn a_grant_is_worth_nothing_in_other_hands_forged_or_late() {
    let world = World::new();
    world.store.submit(command()).await;
    let grant = world.grant().await.unwrap().grant;
    let other = world.redeem(&grant, "w-2").await.unwrap_err();
    let forged = world
        .redeem(&SignedGrant::from_text("k1.a.b"), "w-1")
        .await
        .unwrap_err();
    assert_eq!(other.code, Code::InvalidClaimGrant);
    assert_eq!(other, forged);
    world.advance(5_000);
    assert_eq!(
        world.redeem(&grant, "w-1").await.unwrap_err().code,
        Code::ClaimGrantExpired
    );
}

#[tokio::test]
async fn nothing_is_promised_without_a_signing_key() {
    let world = World::new();
    let id = world.store.submit(command()).await;
    world.store.set_broken("settings", true);
    let refused = world.engine.claim_for_worker(ask("w-1")).await.unwrap_err();
    assert_eq!(refused.code, Code::Unavailable);
    assert!(world.store.execution(id).await.grant().is_none());
    assert_eq!(world.store.calls_of("reserve"), 0);
}

#[tokio::test]
async fn a_grant_of_limited_work_is_admitted_first() {
    let world = World::new();
    let (closed, quota) = (world.store.budget(1, 1).await, world.store.quota(Some(1), None).await);
    let mut poor = command();
    poor.policy.budget_ids = BTreeSet::from([closed]);
    let mut limited = command();
    limited.policy.quota_policy_id = Some(quota);
    let poor = world.store.submit(poor).await;
    let limited = world.store.submit(limited).await;
    let issued = world.grant().await.unwrap();
    assert_eq!(issued.execution_id, limited);
    assert!(world.store.execution(poor).await.runnable().unwrap().block.is_some());
    assert_eq!(world.store.quota_view(quota).await.in_use, 1);
    world.redeem(&issued.grant, "w-1").await.unwrap();
    assert_eq!(world.store.quota_view(quota).await.in_use, 1);
}

#[tokio::test]
async fn a_given_worker_takes_over_from_a_lost_one() {
    let world = World::new();
    world.store.submit(command()).await;
    let id = world.lost().await;
    let issued = world.reclaim(id).await.unwrap();
    let task = world.redeem(&issued.grant, "w-1").await.unwrap();
    assert_eq!((task.attempt_index, task.attempt_kind), (1, AttemptKind::Reclaim));
    assert_eq!(world.reclaim(id).await.unwrap_err().code, Code::ExecutionNotReclaimable);
}

#[tokio::test]
async fn taking_over_needs_room_in_the_quota() {
    let world = World::new();
    let quota = world.store.quota(Some(1), None).await;
    let mut limited = command();
    limited.policy.quota_policy_id = Some(quota);
    let first = world.store.submit(limited.clone()).await;
    let id = world.lost().await;
    assert_eq!(id, first);
    // Its old slot stands in its outbox and was not given back yet.
    let refused = world.reclaim(id).await.unwrap_err();
    assert_eq!(refused.code, Code::ExecutionNotEligible);
    assert!(refused.detail.contains("cap 1/1"), "{}", refused.detail);
    let block = world
        .store
        .execution(id)
        .await
        .runnable()
        .unwrap()
        .block
        .clone()
        .unwrap();
    assert!(block.detail.contains("cap 1/1"));
}

#[tokio::test]
async fn a_caller_bound_elsewhere_cannot_tell_a_foreign_grant_from_a_forged_one() {
    let world = World::new();
    world.store.submit(command()).await;
    let grant = world.grant().await.unwrap().grant;
    let elsewhere = world.engine.acting_as(ff_core::caller::Caller {
        namespace: Some(Namespace::parse("elsewhere").expect("a name")),
        ..ff_core::caller::Caller::local()
    });
    let foreign = elsewhere.claim_from_grant(redeeming(&grant, "w-1")).await.unwrap_err();
    let forged = SignedGrant::from_text("k1.a.b");
    let forged = elsewhere.claim_from_grant(redeeming(&forged, "w-1")).await.unwrap_err();
    assert_eq!(foreign, forged);
}
