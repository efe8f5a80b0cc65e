//! A codec that encrypts: what is submitted, recorded, streamed and returned is plain only in processes that have the key. The
//! server, its store and its backups have bytes.
//!
//! What the engine works with stays readable: kinds, tags, the names of steps, reasons of failures, and what an approval shows.
//!
//! `cargo run --example encrypting_codec` runs an engine inside this process; with `FF_URL=http://127.0.0.1:7117` it talks to a
//! server.

#![allow(clippy::print_stdout, reason = "an example shows what happens")]

use std::error::Error;

use async_trait::async_trait;
use ff_sdk::ff_core::name::ContentType;
use ff_sdk::prelude::*;
use ff_sdk::{Codec, CodecError, ExecutionId, Payload, embedded};
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use serde::{Deserialize, Serialize};

/// AES-256-GCM: whoever lacks the key can neither read a value nor change one unnoticed.
struct Sealed(LessSafeKey);

impl Sealed {
    fn new(key: [u8; 32]) -> Self {
        let key = UnboundKey::new(&AES_256_GCM, &key).expect("AES-256 has keys of 32 bytes");
        Self(LessSafeKey::new(key))
    }
}

#[async_trait]
impl Codec for Sealed {
    /// A nonce, and behind it the sealed value.
    async fn encode(&self, payload: Payload) -> Result<Payload, CodecError> {
        // Chosen at random, none comes twice while one key seals fewer than 2^32 values.
        let nonce: [u8; NONCE_LEN] = rand::random();
        let mut value = payload.bytes.to_vec();
        self.0
            .seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::empty(), &mut value)
            .map_err(|_| CodecError::permanent("there are too many of them"))?;
        Ok(Payload::binary([&nonce[..], &value].concat()))
    }

    async fn decode(&self, payload: Payload) -> Result<Payload, CodecError> {
        let refused = || CodecError::permanent("they were not sealed with this key, or have changed since");
        let (nonce, sealed) = payload.bytes.split_first_chunk().ok_or_else(refused)?;
        let mut sealed = sealed.to_vec();
        let value = self
            .0
            .open_in_place(Nonce::assume_unique_for_key(*nonce), Aad::empty(), &mut sealed)
            .map_err(|_| refused())?;
        Ok(Payload {
            bytes: value.to_vec().into(),
            // What the SDK writes is JSON.
            content_type: ContentType::json(),
        })
    }
}

#[derive(Serialize, Deserialize, Task)]
#[task(kind = "triage", output = String)]
struct Triage {
    patient: String,
    notes: String,
}

/// It notices nothing: its input, what its step left, its frame and its result are plain here.
async fn triage(Input(visit): Input<Triage>, ctx: Ctx) -> Result<String, TaskError> {
    println!("the worker reads: {}, {}", visit.patient, visit.notes);
    let verdict = ctx
        .step("judge", |_| async { Ok(format!("{}: today", visit.notes)) })
        .await?;
    ctx.emit("verdict", &verdict).await?;
    Ok(format!("{}, {verdict}", visit.patient))
}

/// What is seen of a visit.
#[derive(Debug)]
pub struct Seen {
    /// Which execution it was.
    pub id: ExecutionId,
    /// What whoever has the key reads.
    pub verdict: String,
    /// What whoever has another key is told.
    pub refused: String,
}

/// Submits and works with one key, and looks at it with another and with none.
pub async fn run(ff: Client) -> Result<Seen, Box<dyn Error>> {
    // Yours comes from where your secrets are, and is the same wherever something is submitted, done or read. This one is gone with
    // the process: nobody will ever read again what it sealed.
    let with_key = ff.codec(Sealed::new(rand::random()));
    // A worker has the codec of its client.
    let worker = Worker::new(with_key.clone()).task(triage).build()?;
    let seen = async {
        let visit = Triage {
            patient: "Ana".to_owned(),
            notes: "a broken leg".to_owned(),
        };
        let run = with_key.submit(visit).await?;
        let id = run.id();
        println!("submitted {id}");
        let verdict = run.result().await?;
        println!("with the key: {verdict}");

        let with_another = ff.codec(Sealed::new(rand::random()));
        let refused = with_another.run::<Triage>(id).result().await.err();
        let refused = refused.ok_or("another key opens it")?.to_string();
        println!("with another: {refused}");
        let stored = ff.get_input(id).await?.bytes;
        println!("with none: {} bytes, {}…", stored.len(), stored[..12].escape_ascii());
        Ok(Seen { id, verdict, refused })
    };
    tokio::select! {
        ended = worker.run() => Err(format!("the worker has ended: {ended:?}").into()),
        seen = seen => seen,
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let ff = match std::env::var_os("FF_URL") {
        Some(_) => Client::from_env()?,
        None => Client::local(embedded::open("memory:").await?),
    };
    run(ff).await?;
    Ok(())
}
