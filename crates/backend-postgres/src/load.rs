//! Reading records, counters and blobs at one moment.

use ff_backend::Result;
use ff_backend::codec::{counter, key, record};
use ff_backend::load::{Load, Snapshot};
use ff_backend::transaction::NudgeStamp;
use ff_core::id::{ExecutionId, FlowId};
use ff_core::name::ContentType;
use ff_core::payload::Payload;
use ff_core::record::{BlobKey, Record, RecordKey};

use crate::call::{Answer, asked_at, call};
use crate::error::corrupt;
use crate::rows::{
    AskedCounter, AskedExecution, AskedPayload, AskedRecord, AskedSteps, FoundGate, FoundPayload, FoundRecord,
    FoundStep, some,
};
use crate::shared::{Shared, count, number, version};

/// What is asked of some partitions, and whose question each part of it is.
#[derive(Default)]
struct Ask {
    executions: Vec<AskedExecution>,
    execution_keys: Vec<(usize, RecordKey)>,
    records: Vec<AskedRecord>,
    record_keys: Vec<(usize, RecordKey)>,
    counters: Vec<AskedCounter>,
    payloads: Vec<AskedPayload>,
    payload_keys: Vec<(usize, BlobKey)>,
    steps: Vec<AskedSteps>,
    step_keys: Vec<(usize, ExecutionId)>,
}

impl Ask {
    fn of(loads: &[Load]) -> Self {
        let mut ask = Self::default();
        for (nth, load) in loads.iter().enumerate() {
            ask.add(nth, load);
        }
        ask
    }

    fn add(&mut self, nth: usize, load: &Load) {
        let partition = number(load.partition);
        for key in &load.records {
            if let RecordKey::Execution(id) = key {
                let (uuid, with_gate) = (id.uuid(), load.with_gates);
                self.executions.push(AskedExecution {
                    partition,
                    uuid,
                    with_gate,
                });
                self.execution_keys.push((nth, key.clone()));
            } else {
                self.records.push(AskedRecord {
                    partition,
                    key: key::name(key),
                });
                self.record_keys.push((nth, key.clone()));
            }
        }
        self.counters.extend(load.counters.iter().map(|key| {
            let (owner, name) = counter::name(*key);
            AskedCounter { partition, owner, name }
        }));
        for key in &load.blobs {
            let (uuid, name) = (key.execution_id().uuid(), key::blob(*key));
            self.payloads.push(AskedPayload { partition, uuid, name });
            self.payload_keys.push((nth, *key));
        }
        for steps in &load.steps {
            self.steps.push(AskedSteps {
                partition,
                uuid: steps.execution_id.uuid(),
                from_seq: steps.from_seq.cast_signed(),
                at_most: count(steps.limit),
                output_bytes: steps.output_bytes.cast_signed(),
            });
            self.step_keys.push((nth, steps.execution_id));
        }
    }
}

impl Shared {
    /// Each partition as it stands, as far as was asked.
    pub(crate) async fn load(&self, loads: Vec<Load>) -> Result<Vec<Snapshot>> {
        let ask = Ask::of(&loads);
        let (now, answer) = self
            .ask(call!(reading load(
                executions: &some(&ask.executions),
                records: &some(&ask.records),
                counters: &some(&ask.counters),
                payloads: &some(&ask.payloads),
                steps: &some(&ask.steps),
            )))
            .await?;
        let generation = self
            .generation(answer.get("generation")?, answer.get("reached")?)
            .await?;
        let mut snapshots: Vec<Snapshot> = loads
            .iter()
            .map(|load| Snapshot {
                generation,
                ..Snapshot::empty(load.partition, now)
            })
            .collect();
        fill(&mut snapshots, &loads, &ask, &answer)?;
        Ok(snapshots)
    }
}

fn fill(snapshots: &mut [Snapshot], loads: &[Load], ask: &Ask, answer: &Answer) -> Result<()> {
    add_records(snapshots, &ask.execution_keys, answer.list("found_executions")?)?;
    add_records(snapshots, &ask.record_keys, answer.list("found_records")?)?;
    for gate in answer.list::<FoundGate>("found_gates")? {
        let (nth, _) = asked_at(&ask.execution_keys, gate.nth)?;
        let key = RecordKey::Gate(FlowId::from_uuid(gate.flow_id));
        let found = record::read(&key, &gate.body)?;
        snapshots[*nth]
            .records
            .insert(key, (found, version(gate.version, gate.tag)));
    }
    let mut counters = answer.list::<i64>("found_counters")?.into_iter();
    for (snapshot, load) in snapshots.iter_mut().zip(loads) {
        snapshot.counters = load.counters.iter().copied().zip(counters.by_ref()).collect();
    }
    for found in answer.list::<FoundPayload>("found_payloads")? {
        let (nth, key) = asked_at(&ask.payload_keys, found.nth)?;
        snapshots[*nth]
            .blobs
            .insert(*key, payload(found.bytes, &found.content_type)?);
    }
    for step in answer.list::<FoundStep>("found_steps")? {
        let (nth, id) = asked_at(&ask.step_keys, step.nth)?;
        add_step(&mut snapshots[*nth], *id, step)?;
    }
    Ok(())
}

fn add_records(snapshots: &mut [Snapshot], asked: &[(usize, RecordKey)], found: Vec<FoundRecord>) -> Result<()> {
    for row in found {
        let (nth, key) = asked_at(asked, row.nth)?;
        let snapshot = &mut snapshots[*nth];
        if let Some(stamp) = row.stamp {
            snapshot.nudges.insert(key.clone(), NudgeStamp(stamp.cast_unsigned()));
        }
        if let (Some(counter), Some(tag), Some(body)) = (row.version, row.tag, row.body) {
            let found = record::read_with_claim(key, &body, &row.claim.unwrap_or_default())?;
            snapshot.records.insert(key.clone(), (found, version(counter, tag)));
        }
    }
    Ok(())
}

fn add_step(snapshot: &mut Snapshot, id: ExecutionId, row: FoundStep) -> Result<()> {
    let key = key::record_key(id.partition(), &row.key)?;
    let found = record::read(&key, &row.body)?;
    if let (Record::Step(step), Some(bytes), Some(content_type)) = (&found, row.bytes, row.content_type) {
        snapshot
            .blobs
            .insert(BlobKey::Step(id, step.seq), payload(bytes, &content_type)?);
    }
    snapshot.records.insert(key, (found, version(row.version, row.tag)));
    Ok(())
}

/// Bytes with their content type.
pub(crate) fn payload(bytes: Vec<u8>, content_type: &str) -> Result<Payload> {
    Ok(Payload {
        bytes: bytes.into(),
        content_type: ContentType::parse(content_type).map_err(corrupt)?,
    })
}
