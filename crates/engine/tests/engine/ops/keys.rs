//! Who shows a key, and what it costs to find out.

use super::support::faulty::Call;
use super::support::{World, code};
use ff_core::caller::Role;
use ff_core::command::key::{CreateKey, RevokeKey};
use ff_core::command::page::PageRequest;
use ff_core::error::Code;
use ff_core::fabric::Fabric;
use ff_core::name::{Identity, Namespace};
use ff_core::record::Actor;
use ff_core::time::{Duration, Timestamp};
use ff_core::token::AccessKey;
use ff_engine::{Config, Engine};

fn ann(expires_at: Option<Timestamp>) -> CreateKey {
    CreateKey {
        name: identity("ann"),
        role: Role::Submitter,
        namespace: Some(Namespace::parse("billing").unwrap()),
        expires_at,
    }
}

fn identity(name: &str) -> Identity {
    Identity::parse(name).unwrap()
}

async fn made(world: &World, command: CreateKey) -> AccessKey {
    world.engine.create_key(command).await.unwrap().key
}

/// Another process on the same store.
fn replica(world: &World) -> Engine {
    let store = std::sync::Arc::clone(&world.backend) as _;
    let host = std::sync::Arc::clone(&world.host) as _;
    Engine::new(store, host, Config::new(world.counts))
}

#[tokio::test]
async fn whoever_shows_a_key_is_who_it_was_made_for() {
    let world = World::new();
    assert!(!world.engine.has_keys().await.unwrap());
    let key = made(&world, ann(None)).await;
    assert!(world.engine.has_keys().await.unwrap());
    let caller = world.engine.caller_of(key.expose()).await.unwrap();
    assert_eq!(caller.actor, Actor::Client(identity("ann")));
    assert_eq!(caller.role, Role::Submitter);
    assert_eq!(caller.namespace, Some(Namespace::parse("billing").unwrap()));
    assert_eq!(caller.held, None);
    for wrong in ["", "ff_", "ann", &key.expose()[..20], &key.expose().to_lowercase()] {
        assert_eq!(code(world.engine.caller_of(wrong).await), Code::Unauthenticated);
    }
}

#[tokio::test]
async fn an_expired_key_is_worth_nothing_at_once() {
    let world = World::new();
    let until = super::support::START + Duration::from_secs(10);
    let key = made(&world, ann(Some(until))).await;
    world.engine.caller_of(key.expose()).await.unwrap();
    world.advance(Duration::from_millis(9_999));
    world.engine.caller_of(key.expose()).await.unwrap();
    world.advance(Duration::from_millis(1));
    assert_eq!(code(world.engine.caller_of(key.expose()).await), Code::Unauthenticated);
    assert!(
        world.engine.has_keys().await.unwrap(),
        "nobody gets in without a key for that"
    );
}

#[tokio::test]
async fn a_revoked_key_is_worth_nothing_here_at_once_and_elsewhere_within_five_seconds() {
    let (world, key) = with_key().await;
    let elsewhere = replica(&world);
    elsewhere.caller_of(key.expose()).await.unwrap();
    let revoke = RevokeKey { name: identity("ann") };
    world.engine.revoke_key(revoke).await.unwrap();
    assert_eq!(code(world.engine.caller_of(key.expose()).await), Code::Unauthenticated);
    world.advance(Duration::from_secs(5));
    assert_eq!(code(elsewhere.caller_of(key.expose()).await), Code::Unauthenticated);
}

#[tokio::test]
async fn a_key_made_elsewhere_is_known_a_second_later() {
    let world = World::new();
    let elsewhere = replica(&world);
    assert!(!elsewhere.has_keys().await.unwrap());
    let key = made(&world, ann(None)).await;
    world.advance(Duration::from_secs(1));
    elsewhere.caller_of(key.expose()).await.unwrap();
}

#[tokio::test]
async fn guessing_costs_the_store_one_read_a_second() {
    let (world, key) = with_key().await;
    world.engine.caller_of(key.expose()).await.unwrap();
    world.advance(Duration::from_secs(1));
    let _ = world.engine.caller_of("ff_guess").await;
    let before = world.backend.count(Call::Settings);
    for guess in 0..1_000 {
        let answer = world.engine.caller_of(&format!("ff_{guess}")).await;
        assert_eq!(code(answer), Code::Unauthenticated);
    }
    world.engine.caller_of(key.expose()).await.unwrap();
    assert_eq!(world.backend.count(Call::Settings), before);
}

#[tokio::test]
async fn the_last_use_of_a_key_is_noted_once_a_minute() {
    let (world, key) = with_key().await;
    let used_at = || async {
        let listed = world.engine.list_keys(PageRequest::default()).await.unwrap();
        listed.items[0].last_used_at
    };
    assert_eq!(used_at().await, None);
    world.engine.caller_of(key.expose()).await.unwrap();
    tokio::task::yield_now().await;
    let first = used_at().await.unwrap();
    world.advance(Duration::from_secs(30));
    world.engine.caller_of(key.expose()).await.unwrap();
    tokio::task::yield_now().await;
    assert_eq!(used_at().await, Some(first));
    world.advance(Duration::from_secs(30));
    world.engine.caller_of(key.expose()).await.unwrap();
    tokio::task::yield_now().await;
    assert_eq!(used_at().await, Some(first + Duration::from_secs(60)));
}

async fn with_key() -> (World, AccessKey) {
    let world = World::new();
    let key = made(&world, ann(None)).await;
    (world, key)
}
