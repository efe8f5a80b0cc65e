//! claim_for_worker: one signed grant, to be redeemed by the worker it names.

use std::sync::Arc;

use ff_core::command::claim::{ClaimForWorker, IssuedGrant};
use ff_core::error::{Code, Rejection};
use ff_core::fabric::Result;
use ff_core::keyring::KeyRing;
use ff_core::limits::{GRANT_TTL_DEFAULT, LEASE_TTL_DEFAULT};
use ff_core::machine::claim::HandOut;
use ff_core::machine::lease::check_grant_ttl;
use ff_core::record::Execution;
use ff_core::token::{GrantClaims, GrantHolder, SignedGrant};

use super::batch::fresh_claimant;
use super::claim::drain_of;
use super::cycle::{Cycle, End, Sought};
use super::serving::lanes_that_hand_out;
use super::waiting_claim::ClaimRequest;
use crate::directory::keys;
use crate::engine::Engine;
use crate::fault::internal;

/// Reserves and admits one execution, and signs the grant on it.
pub(crate) async fn claim_for_worker(engine: &Engine, command: ClaimForWorker) -> Result<Option<IssuedGrant>> {
    engine.check_namespace(&command.namespace)?;
    let grant_ttl = check_grant_ttl(command.grant_ttl.unwrap_or(GRANT_TTL_DEFAULT))?;
    engine.shared.claim_queues.check_open()?;
    if drain_of(engine, &command.namespace, &command.instance).is_some() {
        return Ok(None);
    }
    let ring = signing_keys(engine).await?;
    let sought = Sought {
        lanes: lanes_that_hand_out(engine, &command.namespace, vec![command.lane]).await?,
        namespace: command.namespace,
        capabilities: command.capabilities,
        mode: HandOut::Grant,
    };
    let request = ClaimRequest {
        worker: command.worker,
        instance: command.instance,
        max: 1,
        // What the lease lasts is said when the grant is redeemed.
        lease_ttl: LEASE_TTL_DEFAULT,
    };
    let now = engine.store_time().await?;
    let mut cycle = Cycle::new(engine, sought, false);
    while cycle.goes_on() {
        let claimant = fresh_claimant(&request, grant_ttl, engine, now);
        if let Some(handed) = cycle.next(vec![claimant]).await.pop() {
            return sign(&ring, &handed.execution).map(Some);
        }
    }
    match cycle.finish().end {
        End::Fault(fault) => Err(fault),
        End::Empty | End::Enough | End::Cut | End::Refused => Ok(None),
    }
}

/// The signing keys, asked for before anything is promised.
pub(super) async fn signing_keys(engine: &Engine) -> Result<Arc<KeyRing>> {
    let unavailable = |refusal: Rejection| {
        let detail = format!("there is no key to sign a grant with: {}", refusal.detail);
        Rejection {
            code: Code::Unavailable,
            detail,
            ..refusal
        }
    };
    keys::ring(engine).await.map_err(unavailable)
}

/// Signs the open grant on an execution.
pub(super) fn sign(ring: &KeyRing, execution: &Execution) -> Result<IssuedGrant> {
    let Some(grant) = execution.grant() else {
        return Err(internal("a grant was to be signed that is not there"));
    };
    let claims = GrantClaims {
        execution_id: execution.id,
        grant_id: grant.id,
        holder: GrantHolder {
            worker_id: grant.worker.clone(),
            worker_instance_id: grant.instance.clone(),
        },
        expires_at: grant.expires_at,
        reclaim: grant.reclaim,
    };
    Ok(IssuedGrant {
        execution_id: execution.id,
        grant: SignedGrant::mint(ring, &claims),
        expires_at: grant.expires_at,
    })
}
