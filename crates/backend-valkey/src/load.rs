//! Reading records, counters, blobs and nudges.

use ff_backend::Result;
use ff_backend::codec::counter;
use ff_backend::codec::key::name;
use ff_backend::load::{Load, Snapshot};
use ff_backend::transaction::NudgeStamp;
use ff_core::id::ExecutionId;
use ff_core::name::ContentType;
use ff_core::partition::Partition;
use ff_core::payload::Payload;
use ff_core::record::{BlobKey, Record, RecordKey};
use redis::Value;

use crate::call::Reply;
use crate::error::corrupt;
use crate::keys::{blob, prefix, step_place};
use crate::library::Function;
use crate::record::read_record;
use crate::reply::{bytes, list, number, optional_number, optional_text, text, values};
use crate::shared::Shared;

/// Loads in one call at most.
const CALL_MAX: usize = 64;

impl Shared {
    /// Each partition as it stands, as far as was asked.
    pub(crate) async fn load(&self, loads: Vec<Load>) -> Result<Vec<Snapshot>> {
        let asked = loads.into_iter().map(|load| (load.partition, load));
        let snapshots = self.in_groups(asked, CALL_MAX, |group| self.load_group(group)).await;
        snapshots.into_iter().collect()
    }

    async fn load_group(&self, group: Vec<(Partition, Load)>) -> Result<Vec<Snapshot>> {
        let mut ask = self.ask(1);
        ask.each(group.iter(), |ask, (partition, load)| {
            ask.list(6).text(prefix(*partition));
            ask.texts(load.records.iter().map(name));
            ask.flag(load.with_gates);
            let counters: Vec<_> = load.counters.iter().map(|key| counter::name(*key)).collect();
            let of_one: Vec<_> = counters.chunk_by(|one, other| one.0 == other.0).collect();
            ask.each(of_one.into_iter(), |ask, counters| {
                ask.list(2).text(&counters[0].0);
                ask.texts(counters.iter().map(|(_, field)| field));
            });
            ask.each(load.blobs.iter(), |ask, key| {
                let (owner, field) = blob(*key);
                ask.list(2).text(owner).text(field);
            });
            ask.each(load.steps.iter(), |ask, steps| {
                let id = steps.execution_id;
                ask.list(4).text(id.uuid().to_string());
                ask.text(step_place(id, steps.from_seq));
                ask.text(steps.limit.to_string()).text(steps.output_bytes.to_string());
            });
        });
        let mut reply = self.call(Function::LOAD, group[0].0, ask).await?;
        let answers = std::mem::take(&mut reply.answer);
        let loads = group.into_iter().zip(answers);
        loads
            .map(|((_, load), answer)| snapshot(load, answer, &reply))
            .collect()
    }
}

fn snapshot(load: Load, answer: Value, reply: &Reply) -> Result<Snapshot> {
    let mut snapshot = Snapshot::empty(load.partition, reply.now);
    snapshot.generation = reply.generation;
    let [records, gates, counters, blobs, steps] = values(answer)?;
    for (key, found) in load.records.into_iter().zip(list(records)?) {
        let [head, body, stamp] = values(found)?;
        if let Some(stamp) = optional_number(&stamp)? {
            snapshot.nudges.insert(key.clone(), NudgeStamp(stamp));
        }
        let found = read_record(&key, &head, body)?;
        snapshot.records.extend(found.map(|found| (key, found)));
    }
    for gate in list(gates)? {
        let [flow_id, head, body] = values(gate)?;
        let key = RecordKey::Gate(text(&flow_id)?.parse().map_err(corrupt)?);
        let found = read_record(&key, &head, body)?;
        snapshot.records.extend(found.map(|found| (key, found)));
    }
    for (key, value) in load.counters.into_iter().zip(list(counters)?) {
        snapshot.counters.insert(key, number(&value)?);
    }
    for (key, found) in load.blobs.into_iter().zip(list(blobs)?) {
        let mut found = list(found)?.into_iter();
        if let (Some(content), Some(content_type)) = (found.next(), found.next()) {
            snapshot.blobs.insert(key, payload(content, &content_type)?);
        }
    }
    for (asked, found) in load.steps.into_iter().zip(list(steps)?) {
        for step in list(found)? {
            add_step(&mut snapshot, asked.execution_id, step)?;
        }
    }
    Ok(snapshot)
}

fn add_step(snapshot: &mut Snapshot, id: ExecutionId, found: Value) -> Result<()> {
    let [key, head, body, output, content_type] = values(found)?;
    let key = RecordKey::Step(id, text(&key)?.parse().map_err(corrupt)?);
    let found = read_record(&key, &head, body)?;
    if let (Some((Record::Step(step), _)), true) = (&found, output != Value::Nil) {
        let blob = BlobKey::Step(id, step.seq);
        snapshot.blobs.insert(blob, payload(output, &content_type)?);
    }
    snapshot.records.extend(found.map(|found| (key, found)));
    Ok(())
}

/// Bytes with their content type, which is left out when it is the usual one.
pub(crate) fn payload(content: Value, content_type: &Value) -> Result<Payload> {
    Ok(Payload {
        bytes: bytes(content)?,
        content_type: match optional_text(content_type)? {
            Some(text) => ContentType::parse(text).map_err(corrupt)?,
            None => ContentType::default(),
        },
    })
}
