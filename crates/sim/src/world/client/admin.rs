//! Lanes, signing keys and keys of callers.

use ff_core::caller::Role;
use ff_core::command::key::{CreateKey, RevokeKey};
use ff_core::command::lane::SetLaneState;
use ff_core::command::page::PageRequest;
use ff_core::command::submit::LaneState;
use ff_core::keyring::{RotateWaitpointSecret, Secret};
use ff_core::name::{Identity, Kid};

use crate::world::actor::{Actor, call};
use crate::world::{names, policies};

impl Actor {
    /// Lets a lane rest for a while.
    pub(super) async fn pause_lane(&self) {
        let mut command = SetLaneState {
            namespace: names::some_namespace(&self.luck),
            lane_id: names::some_lane(&self.luck),
            state: self
                .luck
                .choose([LaneState::Paused, LaneState::Draining, LaneState::Disabled]),
        };
        call!(self, set_lane_state, command.clone()).await;
        self.pause(500, 6_000).await;
        command.state = LaneState::Active;
        call!(self, set_lane_state, command).await;
    }

    /// Makes a key, or takes one away.
    pub(super) async fn change_keys(&self) {
        let number = self.luck.below(6);
        let name = Identity::parse(format!("caller-{number}")).expect("a good name");
        if self.luck.flip() {
            let command = CreateKey {
                name: name.clone(),
                role: self.luck.choose(Role::ALL),
                namespace: self.luck.flip().then(|| names::some_namespace(&self.luck)),
                expires_at: None,
            };
            call!(self, create_key, command).await;
        }
        call!(self, list_keys, PageRequest::default()).await;
        if self.luck.flip() {
            call!(self, revoke_key, RevokeKey { name }).await;
        }
    }

    pub(super) async fn rotate_key(&self) {
        let mut secret = [0; 32];
        secret[..16].copy_from_slice(&self.luck.bits().to_be_bytes());
        let number = self.luck.below(6);
        let command = RotateWaitpointSecret {
            new_kid: Kid::parse(format!("k{number}")).expect("a good kid"),
            new_secret: Secret::from_random(secret),
            grace: policies::seconds(&self.luck, 0, 600),
            compromised: self.luck.one_in(4),
        };
        call!(self, rotate_waitpoint_secret, command.clone()).await;
        if self.luck.flip() {
            call!(self, rotate_waitpoint_secret, command).await;
        }
    }
}
