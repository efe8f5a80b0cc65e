//! Every payload comes back byte for byte.

use ff_core::command::lease::Complete;
use ff_core::command::submit::CreateExecution;
use ff_core::id::SignalId;
use ff_core::limits::{FRAME_BYTES_MAX, PAYLOAD_BYTES_DEFAULT, SIGNAL_PAYLOAD_BYTES_MAX};
use ff_core::machine::lease;
use ff_core::name::ContentType;
use ff_core::payload::Payload;
use ff_core::record::{BlobKey, Record};

use super::build::{Random, Store, fence, signal};
use super::frames::{a_frame, everything};
use crate::frames::Keep;
use crate::load::Load;
use crate::transaction::Transaction;

pub(super) async fn an_input_comes_back_byte_for_byte(store: &Store<'_>) {
    for input in samples(PAYLOAD_BYTES_DEFAULT) {
        let id = store
            .submit(CreateExecution {
                input: input.clone(),
                ..store.command()
            })
            .await
            .id;
        same(&loaded(store, BlobKey::Input(id)).await, &input);
        same(&store.take().await.input, &input);
    }
}

pub(super) async fn a_result_comes_back_byte_for_byte(store: &Store<'_>) {
    for result in samples(PAYLOAD_BYTES_DEFAULT) {
        let task = store.leased().await;
        let complete = Complete {
            fence: Some(fence(&task)),
            result: Some(result.clone()),
            ..Complete::default()
        };
        store
            .apply(task.execution.id, |execution, context| {
                lease::complete(execution, &complete, context)
            })
            .await;
        same(&loaded(store, BlobKey::Result(task.execution.id)).await, &result);
    }
}

pub(super) async fn a_signal_comes_back_byte_for_byte(store: &Store<'_>) {
    let id = store.submit(store.command()).await.id;
    for payload in samples(SIGNAL_PAYLOAD_BYTES_MAX) {
        let record = signal(SignalId::from_uuid(store.uuid()), id);
        let blob = BlobKey::Signal(record.execution_id, record.id);
        let creation = store.creation(store.home(), [Record::from(record)]);
        store
            .commit(Transaction {
                blobs: vec![(blob, payload.clone())],
                ..creation
            })
            .await;
        same(&loaded(store, blob).await, &payload);
    }
}

pub(super) async fn a_frame_comes_back_byte_for_byte(store: &Store<'_>) {
    let task = store.leased().await;
    let samples = samples(FRAME_BYTES_MAX);
    for payload in &samples {
        let mut frame = a_frame(&task, "");
        frame.frame.payload = payload.clone();
        store
            .backend()
            .append(vec![frame])
            .await
            .remove(0)
            .expect("the lease is live");
    }
    let frames = store
        .backend()
        .read(everything(task.execution.id, 0))
        .await
        .expect("the store answers")
        .frames;
    assert_eq!(frames.len(), samples.len());
    for (frame, payload) in frames.iter().zip(&samples) {
        same(&frame.payload, payload);
    }
}

pub(super) async fn a_summary_comes_back_byte_for_byte(store: &Store<'_>) {
    let task = store.leased().await;
    let mut revision = 0;
    for payload in samples(FRAME_BYTES_MAX) {
        let mut frame = a_frame(&task, "");
        frame.frame.mode = Keep::Summary {
            document: payload.bytes.clone(),
            revision,
        };
        store
            .backend()
            .append(vec![frame])
            .await
            .remove(0)
            .expect("the revision is right");
        let frames = store
            .backend()
            .read(everything(task.execution.id, 0))
            .await
            .expect("the store answers");
        let (document, now) = frames.summary.expect("a summary");
        assert!(document == payload.bytes, "{} bytes are the same", payload.len());
        revision = now;
    }
}

/// Payloads that a store which thinks of text, of lengths or of ends would change.
fn samples(bytes_max: usize) -> Vec<Payload> {
    let mut random = Random::new(4);
    let largest: Vec<u8> = (0..bytes_max).map(|_| random.next().to_le_bytes()[0]).collect();
    let json = Payload {
        content_type: ContentType::json(),
        ..Payload::binary("{ \"a\" : 1.0e3 }")
    };
    vec![
        Payload::binary(""),
        Payload::binary((0..=255).collect::<Vec<u8>>()),
        Payload::binary("a\0b\0\0"),
        Payload::binary(vec![0xff, 0xfe, 0xc3, 0x28, 0xed, 0xa0, 0x80]),
        Payload::binary("\r\n\t \\ \" ' \u{feff}größe\u{1f980}"),
        json,
        Payload::binary(largest),
    ]
}

async fn loaded(store: &Store<'_>, blob: BlobKey) -> Payload {
    let mut snapshot = store.load(Load::records(store.home(), []).with_blobs([blob])).await;
    snapshot.blobs.remove(&blob).expect("the blob is stored")
}

/// Payloads do not print themselves, so neither does a difference.
fn same(found: &Payload, wanted: &Payload) {
    assert_eq!(found.content_type, wanted.content_type);
    assert!(
        found.bytes == wanted.bytes,
        "{} bytes came back as {} others",
        wanted.len(),
        found.len()
    );
}
