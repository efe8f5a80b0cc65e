//! What is submitted and read through a codec.

use std::sync::atomic::{AtomicU8, Ordering};

use async_trait::async_trait;
use ff_core::fabric::On;
use ff_core::payload::Payload;
use ff_sdk::{Client, Codec, CodecError, Error, Fabric, Flow, Task, json};
use serde::{Deserialize, Serialize};

use crate::scene::Scene;

/// Writes every value behind another byte, as ciphers do: the same value never looks the same twice.
#[derive(Default)]
struct Sealed {
    written: AtomicU8,
}

#[async_trait]
impl Codec for Sealed {
    async fn encode(&self, payload: Payload) -> Result<Payload, CodecError> {
        let nonce = self.written.fetch_add(1, Ordering::Relaxed);
        let sealed: Vec<u8> = std::iter::once(nonce)
            .chain(payload.bytes.iter().map(|byte| !byte))
            .collect();
        Ok(Payload::binary(sealed))
    }

    async fn decode(&self, payload: Payload) -> Result<Payload, CodecError> {
        match payload.bytes.split_first() {
            Some((_, sealed)) if payload.content_type.as_str() == "application/octet-stream" => {
                Ok(Payload::binary(sealed.iter().map(|byte| !byte).collect::<Vec<_>>()))
            }
            _ => Err(CodecError::permanent("these bytes were not sealed")),
        }
    }
}

#[derive(Serialize, Deserialize, Task)]
#[task(kind = "secret", output = String)]
struct Secret {
    text: String,
}

fn secret() -> Secret {
    Secret {
        text: "hush".to_owned(),
    }
}

fn sealing(scene: &Scene) -> Client {
    scene.client.codec(Sealed::default())
}

#[tokio::test]
async fn what_is_stored_is_what_the_codec_wrote() {
    for scene in Scene::each() {
        let client = sealing(&scene);
        let run = client.submit(secret()).await.unwrap();
        let task = scene.claim_one().await;
        assert!(!task.input.bytes.windows(4).any(|bytes| bytes == b"hush"));
        let opened = Sealed::default().decode(task.input.clone()).await.unwrap();
        assert_eq!(json::read::<Secret>(&opened).unwrap().text, "hush");
        let result = Sealed::default().encode(json::write("done").unwrap()).await.unwrap();
        let complete = ff_core::command::lease::Complete {
            fence: Some(task.fence),
            result: Some(result),
            steps: Vec::new(),
        };
        scene
            .engine
            .complete(On::new(task.execution_id, complete))
            .await
            .unwrap();
        assert_eq!(run.result().await.unwrap(), "done");
    }
}

#[tokio::test]
async fn members_of_flows_go_through_it_too() {
    let scene = Scene::local();
    let mut flow = Flow::new("secrets");
    flow.add(secret());
    sealing(&scene).submit_flow(flow).await.unwrap();
    assert!(
        !scene
            .claim_one()
            .await
            .input
            .bytes
            .windows(4)
            .any(|bytes| bytes == b"hush")
    );
}

#[tokio::test]
async fn bytes_of_another_codec_are_an_error_that_names_them() {
    let scene = Scene::local();
    let run = sealing(&scene).submit(secret()).await.unwrap();
    let task = scene.claim_one().await;
    scene.complete(&task, &"plain").await;
    let error = run.result().await.unwrap_err();
    assert!(
        matches!(&error, Error::Codec { source, .. } if !source.is_transient()),
        "{error}"
    );
    let text = error.to_string();
    let expected = format!(
        "the result of execution {}: the codec refuses the bytes: these bytes were not sealed",
        run.id()
    );
    assert_eq!(text, expected);
}
