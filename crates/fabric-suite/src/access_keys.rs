//! Keys of callers.

use ff_core::caller::{Caller, Role};
use ff_core::command::key::{CreateKey, CreatedKey, RevokeKey};
use ff_core::command::page::PageRequest;
use ff_core::error::Code;
use ff_core::fabric::Result;
use ff_core::name::{Identity, Namespace};
use ff_core::time::Timestamp;

use crate::Harness;
use crate::scene::{HOUR, Scene, all, first, other_namespace, refused};

pub(crate) async fn a_key_is_shown_once_and_listed_without_itself(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let expires_at = scene.now().await + HOUR;
    let made = create(&scene, key("ann", Some(other_namespace()), Some(expires_at)))
        .await
        .unwrap();
    assert!(made.key.expose().starts_with("ff_") && made.key.expose().len() >= 46);
    assert_ne!(create(&scene, plain("ben")).await.unwrap().key, made.key);
    let listed = scene.fabric.list_keys(all()).await.unwrap().items;
    assert!(listed.contains(&made.view), "{listed:?}");
    assert_eq!(made.view.role, Role::Operator);
    assert_eq!(made.view.namespace, Some(other_namespace()));
    assert_eq!(made.view.expires_at, Some(expires_at));
    assert_eq!(made.view.last_used_at, None);
}

pub(crate) async fn a_name_has_one_key_until_it_is_revoked(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let before = create(&scene, plain("ann/ops%")).await.unwrap();
    assert_eq!(refused(create(&scene, plain("ann/ops%")).await), Code::AlreadyExists);
    revoke(&scene, "ann/ops%").await.unwrap();
    let after = create(&scene, plain("ann/ops%")).await.unwrap();
    assert_ne!(before.key, after.key);
    for reserved in ["engine", "anonymous"] {
        assert_eq!(refused(create(&scene, plain(reserved)).await), Code::InvalidInput);
    }
}

pub(crate) async fn a_key_that_is_not_there_is_not_found(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    assert_eq!(refused(revoke(&scene, "nobody").await), Code::KeyNotFound);
    create(&scene, plain("ann")).await.unwrap();
    revoke(&scene, "ann").await.unwrap();
    assert_eq!(refused(revoke(&scene, "ann").await), Code::KeyNotFound);
    assert_eq!(names(&scene, all()).await, Vec::<String>::new());
}

pub(crate) async fn a_key_that_ends_in_the_past_is_refused(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let now = scene.now().await;
    assert_eq!(
        refused(create(&scene, key("ann", None, Some(now))).await),
        Code::InvalidInput
    );
}

pub(crate) async fn keys_are_listed_in_pages_by_name(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    for name in ["carl", "ann", "ben"] {
        create(&scene, plain(name)).await.unwrap();
    }
    let page = scene.fabric.list_keys(first(2)).await.unwrap();
    let shown: Vec<_> = page.items.iter().map(|key| key.name.as_str()).collect();
    assert_eq!(shown, ["ann", "ben"]);
    let rest = PageRequest {
        cursor: page.next,
        limit: Some(2),
    };
    assert_eq!(names(&scene, rest).await, ["carl"]);
}

pub(crate) async fn an_admin_of_a_namespace_makes_sees_and_revokes_keys_of_it_only(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    create(&scene, plain("everywhere")).await.unwrap();
    create(&scene, key("here", Some(Namespace::default_namespace()), None))
        .await
        .unwrap();
    let bound = Caller {
        namespace: Some(other_namespace()),
        ..Caller::local()
    };
    let bound = Scene::by(harness, bound).await;
    create(&bound, key("there", Some(other_namespace()), None))
        .await
        .unwrap();
    for beyond in [None, Some(Namespace::default_namespace())] {
        assert_eq!(refused(create(&bound, key("x", beyond, None)).await), Code::Forbidden);
    }
    assert_eq!(
        refused(create(&bound, key("here", Some(other_namespace()), None)).await),
        Code::AlreadyExists
    );
    assert!(!names(&bound, all()).await.iter().any(|name| name != "there"));
    for unseen in ["here", "everywhere", "nobody"] {
        assert_eq!(refused(revoke(&bound, unseen).await), Code::KeyNotFound, "{unseen}");
    }
    revoke(&bound, "there").await.unwrap();
}

pub(crate) async fn only_an_admin_has_to_do_with_keys(harness: &dyn Harness) {
    let operator = Caller {
        role: Role::Operator,
        ..Caller::local()
    };
    let operator = Scene::by(harness, operator).await;
    assert_eq!(refused(create(&operator, plain("ann")).await), Code::Forbidden);
    assert_eq!(refused(operator.fabric.list_keys(all()).await), Code::Forbidden);
    assert_eq!(refused(revoke(&operator, "ann").await), Code::Forbidden);
}

fn key(name: &str, namespace: Option<Namespace>, expires_at: Option<Timestamp>) -> CreateKey {
    CreateKey {
        name: identity(name),
        role: Role::Operator,
        namespace,
        expires_at,
    }
}

fn plain(name: &str) -> CreateKey {
    key(name, None, None)
}

fn identity(name: &str) -> Identity {
    Identity::parse(name).unwrap()
}

async fn create(scene: &Scene<'_>, command: CreateKey) -> Result<CreatedKey> {
    scene.fabric.create_key(command).await
}

async fn revoke(scene: &Scene<'_>, name: &str) -> Result<()> {
    scene.fabric.revoke_key(RevokeKey { name: identity(name) }).await
}

async fn names(scene: &Scene<'_>, page: PageRequest) -> Vec<String> {
    let listed = scene.fabric.list_keys(page).await.unwrap().items;
    listed.iter().map(|key| key.name.as_str().to_owned()).collect()
}
