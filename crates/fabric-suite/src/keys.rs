//! Signing keys: what they sign, and what is left of them after a rotation.

use ff_core::command::page::{ListOf, PageRequest};
use ff_core::command::waitpoint::IssuedWaitpoint;
use ff_core::command::waitpoint::ReadWaitpointToken;
use ff_core::error::Code;
use ff_core::fabric::{On, Result};
use ff_core::id::{ExecutionId, WaitpointId};
use ff_core::keyring::{RotateWaitpointSecret, Rotated, RotationStatus, Secret};
use ff_core::name::{Kid, Namespace};
use ff_core::time::Duration;
use ff_core::token::WaitpointToken;

use crate::Harness;
use crate::scene::{MINUTE, Scene, WORKER, first, fresh, in_lane, refused, signal, submission};

pub(crate) async fn the_token_of_an_open_waitpoint_can_be_read(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let (task, waitpoint) = scene.asleep(submission()).await;
    let token = read_token(&scene, task.execution_id, waitpoint.waitpoint_id)
        .await
        .unwrap();
    assert_eq!(token, waitpoint.token);
    scene.send(task.execution_id, &waitpoint, signal("go")).await.unwrap();
    let answer = read_token(&scene, task.execution_id, waitpoint.waitpoint_id).await;
    assert_eq!(refused(answer), Code::WaitpointClosed);
    let answer = read_token(&scene, task.execution_id, WaitpointId::from_uuid(fresh())).await;
    assert_eq!(refused(answer), Code::WaitpointNotFound);
}

pub(crate) async fn a_token_is_never_printed(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let (_, waitpoint) = scene.asleep(submission()).await;
    let (_, mac) = waitpoint.token.expose().split_once(':').unwrap();
    let shown = format!("{waitpoint:?} {}", waitpoint.token);
    assert!(!shown.contains(mac));
}

pub(crate) async fn a_new_key_signs_and_the_old_one_verifies_in_its_grace(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let (task, old) = scene.asleep(submission()).await;
    let rotated = rotate(&scene, rotation("next", 1)).await.unwrap();
    assert_eq!(rotated.status, RotationStatus::Rotated);
    assert_eq!(rotated.current_kid.as_str(), "next");
    let new = read_token(&scene, task.execution_id, old.waitpoint_id).await.unwrap();
    assert!(new.expose().starts_with("next:"));
    assert_ne!(new, old.token);
    let open = scene.fabric.list_pending_waitpoints(task.execution_id).await.unwrap();
    assert_eq!(open[0].kid.as_str(), "next");
    assert!(scene.send(task.execution_id, &old, signal("go")).await.is_ok());
}

pub(crate) async fn a_token_is_worth_nothing_after_the_grace_of_its_key(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let (task, old) = scene.asleep(submission()).await;
    let brief = RotateWaitpointSecret {
        grace: Duration::ZERO,
        ..rotation("next", 1)
    };
    rotate(&scene, brief).await.unwrap();
    scene.after(MINUTE).await;
    let answer = scene.send(task.execution_id, &old, signal("go")).await;
    assert_eq!(refused(answer), Code::InvalidToken);
    let token = read_token(&scene, task.execution_id, old.waitpoint_id).await.unwrap();
    let new = IssuedWaitpoint { token, ..old };
    assert!(scene.send(task.execution_id, &new, signal("go")).await.is_ok());
}

pub(crate) async fn without_grace_the_old_key_still_verifies_for_a_minute(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let (task, old) = scene.asleep(submission()).await;
    let brief = RotateWaitpointSecret {
        grace: Duration::ZERO,
        ..rotation("next", 1)
    };
    rotate(&scene, brief).await.unwrap();
    scene.after(Duration::from_secs(50)).await;
    assert!(scene.send(task.execution_id, &old, signal("go")).await.is_ok());
}

pub(crate) async fn a_compromised_key_is_worth_nothing_at_once(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let (task, old) = scene.asleep(submission()).await;
    let urgent = RotateWaitpointSecret {
        compromised: true,
        ..rotation("next", 1)
    };
    let rotated = rotate(&scene, urgent).await.unwrap();
    assert_eq!(
        rotated.removed_kids,
        rotated.previous_kid.into_iter().collect::<Vec<_>>()
    );
    let answer = scene.send(task.execution_id, &old, signal("go")).await;
    assert_eq!(refused(answer), Code::InvalidToken);
}

pub(crate) async fn the_same_rotation_again_changes_nothing(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let first = rotate(&scene, rotation("next", 1)).await.unwrap();
    let again = rotate(&scene, rotation("next", 1)).await.unwrap();
    assert_eq!(again.status, RotationStatus::Unchanged);
    assert_eq!(
        (again.current_kid, again.previous_kid),
        (first.current_kid, first.previous_kid)
    );
}

pub(crate) async fn a_kid_stands_for_one_secret(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    rotate(&scene, rotation("next", 1)).await.unwrap();
    let answer = rotate(&scene, rotation("next", 2)).await;
    assert_eq!(refused(answer), Code::RotationConflict);
    rotate(&scene, rotation("last", 3)).await.unwrap();
    let answer = rotate(&scene, rotation("next", 1)).await;
    assert_eq!(
        refused(answer),
        Code::RotationConflict,
        "a retired key does not come back"
    );
}

pub(crate) async fn grants_and_cursors_outlive_a_rotation(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    for name in ["a", "b", "default"] {
        scene.submit(in_lane(name)).await;
    }
    let grant = scene.grant(WORKER).await.unwrap();
    let page = |page| ListOf {
        namespace: Namespace::default_namespace(),
        page,
    };
    let one = scene.fabric.list_lanes(page(first(1))).await.unwrap();
    rotate(&scene, rotation("next", 1)).await.unwrap();
    assert!(scene.redeem(WORKER, &grant).await.is_ok());
    let rest = PageRequest {
        cursor: one.next,
        limit: None,
    };
    assert_eq!(scene.fabric.list_lanes(page(rest)).await.unwrap().items.len(), 2);
}

async fn read_token(scene: &Scene<'_>, id: ExecutionId, waitpoint: WaitpointId) -> Result<WaitpointToken> {
    let request = ReadWaitpointToken {
        waitpoint_id: waitpoint,
    };
    let read = scene.fabric.read_waitpoint_token(On::new(id, request)).await?;
    Ok(read.waitpoint_token)
}

async fn rotate(scene: &Scene<'_>, command: RotateWaitpointSecret) -> Result<Rotated> {
    scene.fabric.rotate_waitpoint_secret(command).await
}

/// Makes a key of this name and secret current; the one before has a day.
fn rotation(kid: &str, secret: u8) -> RotateWaitpointSecret {
    RotateWaitpointSecret {
        new_kid: Kid::parse(kid).unwrap(),
        new_secret: Secret::from_random([secret; 32]),
        grace: Duration::from_hours(24),
        compromised: false,
    }
}
