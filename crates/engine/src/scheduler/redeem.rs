//! claim_from_grant: a grant, of a claim or a reclaim, becomes a lease.

use ff_backend::load::Snapshot;
use ff_core::command::claim::{RedeemGrant, Task};
use ff_core::error::{Code, Rejection};
use ff_core::fabric::Result;
use ff_core::id::{AttemptId, LeaseId};
use ff_core::limits::{GRANT_TTL_DEFAULT, LEASE_TTL_DEFAULT};
use ff_core::machine::Decided;
use ff_core::machine::claim::{self, Claimant, Redeemed};
use ff_core::machine::lease::check_lease_ttl;
use ff_core::record::{BlobKey, Execution, RecordKey};
use ff_core::time::Duration;
use ff_core::token::{GrantClaims, GrantHolder, GrantRefusal};

use super::cycle::Handed;
use super::task;
use crate::directory::keys;
use crate::engine::Engine;
use crate::mint;
use crate::transact::Decision;

/// A grant whose signature holds, shown by its holder.
struct VerifiedGrant {
    claims: GrantClaims,
    /// Too late to be redeemed. Its holder may have done so in time, and asks again because the reply was lost.
    expired: Option<GrantRefusal>,
}

/// Turns a grant into a lease, or answers the lease it was turned into before.
pub(crate) async fn claim_from_grant(engine: &Engine, command: RedeemGrant) -> Result<Task> {
    let lease_ttl = check_lease_ttl(command.lease_ttl.unwrap_or(LEASE_TTL_DEFAULT))?;
    let verified = verify_grant(engine, &command).await?;
    let claimant = Claimant {
        worker: command.worker,
        instance: command.instance,
        grant_id: verified.claims.grant_id,
        lease_id: LeaseId::from_uuid(mint::secret(engine.host())),
        attempt_id: AttemptId::from_uuid(engine.mint(engine.store_time().await?)),
        lease_ttl,
        grant_ttl: GRANT_TTL_DEFAULT,
    };
    match redeem_verified(engine, &verified.claims, &claimant).await {
        Ok(handed) => task::assemble(engine, handed).await,
        Err(refusal) => Err(refusal_for_holder(refusal, verified.expired)),
    }
}

/// Checks signature, holder and time. The caller learns little, the log all of it.
async fn verify_grant(engine: &Engine, command: &RedeemGrant) -> Result<VerifiedGrant> {
    let holder = GrantHolder {
        worker_id: command.worker.clone(),
        worker_instance_id: command.instance.clone(),
    };
    let (ring, now) = keys::ring_for(engine, command.grant.kid()).await?;
    let opened = match command.grant.open(&ring, &holder, now) {
        Err(refusal @ GrantRefusal::Expired(at)) => {
            let before = at - Duration::from_millis(1);
            let claims = command.grant.open(&ring, &holder, before);
            claims.map(|claims| (claims, Some(refusal)))
        }
        other => other.map(|claims| (claims, None)),
    };
    let (claims, expired) = opened.map_err(|refusal| {
        tracing::info!(%refusal, worker = %command.worker, instance = %command.instance, "a grant was refused");
        Rejection::from(refusal)
    })?;
    engine.check_id(claims.execution_id)?;
    Ok(VerifiedGrant { claims, expired })
}

async fn redeem_verified(engine: &Engine, claims: &GrantClaims, claimant: &Claimant) -> Result<Handed> {
    let id = claims.execution_id;
    let load = Engine::load_of(id).with_blobs([BlobKey::Input(id)]);
    let locked = engine.lock(RecordKey::Execution(id)).await;
    let decide = || async {
        let snapshot = locked.look(load.clone()).await?;
        let execution = engine.visible(&snapshot, id)?;
        let decided = claim::claim_from_grant(execution, claimant, &engine.context_of(&snapshot, execution))?;
        let decided = with_handed(decided, execution, claims, &snapshot);
        Ok(Decision::Commit(snapshot, decided))
    };
    let (redeemed, handed) = locked.transact(decide).await?;
    match redeemed {
        Redeemed::Now | Redeemed::Already => Ok(handed),
        Redeemed::FlowCancelled => {
            Err(Code::InvalidClaimGrant.because(format!("execution {id}: its flow is cancelled")))
        }
    }
}

/// The outcome together with the execution as it stands then.
fn with_handed(
    decided: Decided<Redeemed>,
    before: &Execution,
    claims: &GrantClaims,
    snapshot: &Snapshot,
) -> Decided<(Redeemed, Handed)> {
    let id = before.id;
    let handed = Handed {
        execution: decided.draft.execution(id).unwrap_or(before).clone(),
        input: snapshot.blobs.get(&BlobKey::Input(id)).cloned().unwrap_or_default(),
        grant_id: claims.grant_id,
        now: snapshot.now,
    };
    decided.map(|redeemed| (redeemed, handed))
}

/// What the caller of a grant that cannot be redeemed is told. An execution that is gone, or not for this caller, is no
/// different from a grant that was never given.
fn refusal_for_holder(refusal: Rejection, expired: Option<GrantRefusal>) -> Rejection {
    match refusal.code {
        Code::InvalidClaimGrant | Code::ClaimGrantExpired | Code::ExecutionNotFound => {
            tracing::info!(%refusal, "a grant was not redeemed");
            match expired {
                Some(expired) => Rejection::from(expired),
                None if refusal.code == Code::ExecutionNotFound => Rejection::from(GrantRefusal::OtherHolder),
                None => refusal,
            }
        }
        _ => refusal,
    }
}
