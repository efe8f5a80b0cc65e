//! derive, claim, claim_from_grant, renew, release.

use ff_core::error::{Code, Rejection};
use ff_core::id::GrantId;
use ff_core::machine::claim::{self, Admitted, Claimant, HandOut, HandedOut, Redeemed};

use crate::premise::Premise;
use crate::render::Answer;
use crate::scene::{Scene, unexpected};

use super::{Operation, everywhere, fenced, in_situations, repeated, trial};

pub(super) fn operation(block: &str) -> Option<Operation> {
    let plain = Premise::default();
    Some(match block {
        "derive" => everywhere(plain, derive),
        "claim" => everywhere(plain, claim),
        "claim_from_grant (right worker)" => everywhere(plain, |scene| redeem(scene, |_| Ok(()))),
        "claim_from_grant (wrong worker)" => in_situations(vec![
            trial("another worker", plain, |scene| redeem(scene, another_worker)),
            trial("another instance", plain, |scene| redeem(scene, another_instance)),
        ]),
        "claim_from_grant repeated" => repeated("after-claim_from_grant", "granted", plain, |scene| {
            redeem(scene, |_| Ok(()))
        }),
        "renew (own fence)" => everywhere(plain, fenced::with_own_fence(fenced::renew)),
        "renew (stale fence)" => in_situations(fenced::with_stale_fences("", fenced::renew)),
        "renew (no fence)" => in_situations(vec![fenced::without_fence("", fenced::renew)]),
        "renew repeated" => repeated("after-renew", "leased", plain, fenced::with_own_fence(fenced::renew)),
        "release (own fence)" => everywhere(plain, fenced::with_own_fence(fenced::release)),
        "release (stale fence)" => in_situations(fenced::with_stale_fences("", fenced::release)),
        "release (no fence)" => in_situations(vec![fenced::without_fence("", fenced::release)]),
        "release repeated" => repeated(
            "after-release",
            "leased",
            plain,
            fenced::with_own_fence(fenced::release),
        ),
        _ => return None,
    })
}

/// Nobody asks for anything: the execution is read as it is stored.
fn derive(scene: &mut Scene) -> Result<Answer, Rejection> {
    if scene.execution()?.is_deleting() {
        return Err(Code::ExecutionNotFound.because("reads do not see what is being deleted"));
    }
    Ok(scene.accepted("read"))
}

/// A scheduler looks for work: reserve, admission, lease.
pub(super) fn claim(scene: &mut Scene) -> Result<Answer, Rejection> {
    let claimant = scene.world.claimant()?;
    match scene.world.reserve(scene.id, &claimant, HandOut::Lease) {
        None => Ok(Answer::word("not_handed_out")),
        Some(HandedOut::Leased) => Ok(scene.accepted("claimed")),
        Some(HandedOut::Granted) => {
            match scene.apply(|execution, context| claim::lease(execution, &claimant, context))? {
                Admitted::Yes => Ok(scene.accepted("claimed")),
                Admitted::FlowCancelled => Ok(Answer::word("not_handed_out")),
            }
        }
    }
}

/// Redeems the grant the execution holds, or one it does not hold.
fn redeem(scene: &mut Scene, pose: fn(&mut Claimant) -> Result<(), Rejection>) -> Result<Answer, Rejection> {
    let fresh = scene.world.claimant()?;
    let mut claimant = Claimant {
        grant_id: issued(scene).unwrap_or(fresh.grant_id),
        ..fresh
    };
    pose(&mut claimant)?;
    let redeemed = scene.apply(|execution, context| claim::claim_from_grant(execution, &claimant, context))?;
    match redeemed {
        Redeemed::Now | Redeemed::Already => Ok(scene.accepted("claimed")),
        Redeemed::FlowCancelled => Err(unexpected("was cancelled with a flow")),
    }
}

/// The grant somebody was given in this situation, whether or not it still stands.
pub(super) fn issued(scene: &Scene) -> Option<GrantId> {
    let granted = scene.fence.is_none();
    let claimant = scene.claimant.as_ref().filter(|_| granted)?;
    Some(claimant.grant_id)
}

fn another_worker(claimant: &mut Claimant) -> Result<(), Rejection> {
    claimant.worker = "somebody".parse()?;
    claimant.instance = "somebody-1".parse()?;
    Ok(())
}

fn another_instance(claimant: &mut Claimant) -> Result<(), Rejection> {
    claimant.instance = "worker-2".parse()?;
    Ok(())
}
