//! While servers are replaced, an older one works on what a newer one wrote: it refuses nothing, and what it has no field for is
//! still there when it is done. Here the newer server's fields are written into the stored rows by hand.

use ff_core::command::lease::{Release, Renew};
use ff_core::fabric::{Fabric, On};
use ff_core::id::ExecutionId;
use ff_core::record::stored::FORMAT;
use ff_core::state::PublicState;
use serde_json::{Value, json};

use crate::behind::World;
use crate::support::{claim, complete_all};

impl World {
    async fn body(&self, id: ExecutionId) -> Value {
        serde_json::from_str(&self.bodies.read(id).await).unwrap()
    }

    /// Adds a member to these parts of an execution, as a server of the next format would have.
    async fn add_by_hand(&self, id: ExecutionId, parts: &[&str]) {
        let mut body = self.body(id).await;
        for part in parts {
            let part = body.pointer_mut(part).and_then(Value::as_object_mut).unwrap();
            part.insert("later".to_owned(), json!({ "n": 1 }));
        }
        body.as_object_mut().unwrap().remove("format");
        let body = body.to_string();
        let marked = format!("{{\"format\":{},{}", FORMAT + 1, &body[1..]);
        self.bodies.write(id, &marked).await;
    }

    async fn nothing_is_refused_and_nothing_is_lost(&self) {
        let engine = &self.harness.engine;
        let id = self.submit(1).await;
        self.add_by_hand(id, &["", "/definition", "/phase/runnable/next_claim"])
            .await;
        let tasks = engine.claim(claim(1, 1)).await.unwrap();
        let [task] = &tasks[..] else {
            panic!("one task, not {tasks:?}")
        };
        let renew = Renew {
            fence: Some(task.fence),
            ttl: None,
            doing: Vec::new(),
        };
        engine.renew(On { id, command: renew }).await.unwrap();
        let leased = self.body(id).await;
        assert_eq!(leased["format"], FORMAT + 1);
        for part in ["", "/definition"] {
            assert_eq!(leased.pointer(part).unwrap()["later"], json!({ "n": 1 }), "{part:?}");
        }
        let next_claim = leased.pointer("/phase/runnable/next_claim");
        assert_eq!(next_claim, None, "what was said of the next claim went with it");
        complete_all(engine, &tasks).await;
        let ended = self.body(id).await;
        assert_eq!(ended["later"], json!({ "n": 1 }));
        assert_eq!(engine.get_state(id).await.unwrap().public_state, PublicState::Completed);
    }

    async fn an_attempt_keeps_what_was_said_of_it(&self) {
        let engine = &self.harness.engine;
        let id = self.submit(1).await;
        let tasks = engine.claim(claim(1, 1)).await.unwrap();
        let release = Release {
            fence: Some(tasks[0].fence),
            ..Release::default()
        };
        engine.release(On { id, command: release }).await.unwrap();
        self.add_by_hand(id, &["", "/attempt"]).await;
        let tasks = engine.claim(claim(1, 1)).await.unwrap();
        complete_all(engine, &tasks).await;
        let ended = self.body(id).await;
        for part in ["", "/attempt"] {
            assert_eq!(ended.pointer(part).unwrap()["later"], json!({ "n": 1 }), "{part:?}");
        }
        assert!(ended.pointer("/phase/terminal").is_some());
    }
}

#[tokio::test]
async fn a_row_of_a_file_keeps_what_a_newer_server_wrote() {
    World::in_a_file().nothing_is_refused_and_nothing_is_lost().await;
    World::in_a_file().an_attempt_keeps_what_was_said_of_it().await;
}

#[tokio::test]
async fn a_row_of_a_server_keeps_what_a_newer_server_wrote() {
    World::on_a_server()
        .await
        .nothing_is_refused_and_nothing_is_lost()
        .await;
    World::on_a_server().await.an_attempt_keeps_what_was_said_of_it().await;
}
