//! create_flow_graph.

use std::collections::BTreeMap;

use ff_backend::load::{Load, Snapshot};
use ff_core::command::flow::{Assembly, CreateFlow, FlowGraph, GraphCreated, GraphPart};
use ff_core::command::submit::LaneState;
use ff_core::error::{Code, Rejection};
use ff_core::fabric::{Flows, Result};
use ff_core::id::FlowId;
use ff_core::machine::graph::{self, Chunk, ChunkLoaded, Plan};
use ff_core::machine::submit::{self, Known};
use ff_core::machine::{Step, flow};
use ff_core::name::LaneId;
use ff_core::record::{Record, RecordKey};

use super::create;
use crate::engine::Engine;

/// Adds members and dependencies. A repeated call goes on where the first one was interrupted.
pub(super) async fn create_flow_graph(engine: &Engine, command: FlowGraph) -> Result<GraphCreated> {
    engine.check_namespace(&command.flow.definition.namespace)?;
    let flow_id = create::id_of(engine, command.flow.flow_id).await?;
    let part = GraphPart {
        flow_id,
        members: command.members,
        edges: command.edges,
    };
    let builder = Builder {
        engine,
        plan: graph::plan(&part, engine.home_of(flow_id))?,
        part,
        definition: CreateFlow {
            assembly: Assembly::Assembling,
            ..command.flow.definition
        },
    };
    let site = builder.look().await?;
    let missing = builder.missing(&site)?;
    if !missing.is_empty() {
        let lanes = builder.check_members(missing, &site).await?;
        create::create_under(engine, flow_id, &builder.definition).await?;
        for chunk in missing {
            builder.write(chunk, &lanes).await?;
        }
    }
    if command.open && !(missing.is_empty() && was_opened(&site, flow_id)) {
        engine.open_flow(flow_id).await?;
    }
    Ok(GraphCreated {
        flow_id,
        execution_ids: builder.plan.ids,
    })
}

/// Whether a repeated call finds the flow opened by the first one, whatever became of it since.
fn was_opened(site: &Snapshot, flow_id: FlowId) -> bool {
    let flow = site.flow(&RecordKey::Flow(flow_id));
    flow.is_some_and(|flow| flow.opened_at.is_some())
}

/// States of the lanes the members of a part go to.
type Lanes = BTreeMap<LaneId, LaneState>;

/// A part of a graph and the flow it belongs to.
struct Builder<'e> {
    engine: &'e Engine,
    part: GraphPart,
    plan: Plan,
    definition: CreateFlow,
}

impl Builder<'_> {
    /// What is there before anything is written: the flow, and what shows how far an earlier call came.
    async fn look(&self) -> Result<Snapshot> {
        let flow_id = self.part.flow_id;
        let mut load = self.engine.load_of_flow(flow_id);
        load.records.extend(self.plan.chunks.iter().filter_map(Chunk::witness));
        let site = self.engine.store().load(load).await?;
        let existing = site.flow(&RecordKey::Flow(flow_id));
        flow::create(existing, flow_id, &self.definition, &self.engine.context(site.now))?;
        Ok(site)
    }

    /// The chunks that have not been written.
    fn missing(&self, site: &Snapshot) -> Result<&[Chunk]> {
        let mut written = 0;
        for chunk in &self.plan.chunks {
            let witness = chunk.witness().and_then(|key| site.records.get(&key));
            let Some((record, _)) = witness else { break };
            self.check_ours(record)?;
            written += 1;
        }
        Ok(&self.plan.chunks[written..])
    }

    /// An execution that has a member's id but is not of this flow does not show that anything was written.
    fn check_ours(&self, record: &Record) -> Result<()> {
        match record {
            Record::Execution(execution) if execution.definition.flow != Some(self.part.flow_id) => {
                Err(foreign(record))
            }
            Record::Edge(edge) if edge.flow_id != self.part.flow_id => Err(foreign(record)),
            _ => Ok(()),
        }
    }

    /// Refuses members that could not be submitted, before anything is written.
    async fn check_members(&self, missing: &[Chunk], site: &Snapshot) -> Result<Lanes> {
        let mut lanes = Lanes::new();
        let context = self.engine.context(site.now);
        for position in missing.iter().flat_map(Chunk::creates) {
            let member = &self.part.members[position];
            let submission = &member.submission;
            let namespace = &self.definition.namespace;
            if submission.namespace != *namespace {
                let detail = format!("member {:?} is not of the flow's namespace {namespace}", member.key);
                return Err(Code::InvalidInput.because(detail));
            }
            let lane = match lanes.get(&submission.lane_id) {
                Some(state) => *state,
                None => self.engine.use_lane(namespace, &submission.lane_id).await?,
            };
            lanes.insert(submission.lane_id.clone(), lane);
            self.engine.check_limits(namespace, &submission.policy).await?;
            let mut submission = submission.clone();
            submission.flow_id = Some(self.part.flow_id);
            let known = Known {
                lane,
                ..Known::default()
            };
            submit::create(&submission, self.plan.ids[position], known, &context)?;
        }
        Ok(lanes)
    }

    /// Writes one chunk, unless somebody who makes the same call did.
    async fn write(&self, chunk: &Chunk, lanes: &Lanes) -> Result<()> {
        let (engine, flow_id) = (self.engine, self.part.flow_id);
        let witness = chunk.witness();
        let mut tries = engine.tries(RecordKey::Flow(flow_id)).await;
        loop {
            let snapshot = tries.read(self.load_of_chunk(chunk)).await?;
            if let Some((record, _)) = witness.as_ref().and_then(|key| snapshot.records.get(key)) {
                return self.check_ours(record);
            }
            let read = engine.visible_flow(&snapshot, flow_id)?;
            let needed = chunk.needs();
            let executions: Vec<_> = needed
                .iter()
                .filter_map(|id| snapshot.execution(&RecordKey::Execution(*id)))
                .collect();
            let known = self.known(&snapshot, lanes);
            let loaded = ChunkLoaded {
                flow: read.loaded(),
                executions: &executions,
                known: &known,
            };
            let context = engine.context_of_flow(&snapshot, &read);
            let step = Step {
                outcome: (),
                draft: graph::draft(chunk, &self.part, loaded, &context)?,
            };
            if tries.commit(&snapshot, step).await?.is_some() {
                return Ok(());
            }
        }
    }

    fn load_of_chunk(&self, chunk: &Chunk) -> Load {
        let mut load = self.engine.load_of_flow(self.part.flow_id);
        let created = chunk.creates().map(|position| self.plan.ids[position]);
        // An upstream of another partition is of no flow of this one, which the rules find out by its absence.
        let needed = chunk.needs().into_iter().filter(|id| id.partition() == load.partition);
        load.records = std::mem::take(&mut load.records)
            .into_iter()
            .chain(created.chain(needed).map(RecordKey::Execution))
            .chain(chunk.witness().filter(|key| matches!(key, RecordKey::Edge(_))))
            .collect();
        load
    }

    /// What is known about the submission of each member, in the order of the part.
    fn known<'s>(&self, snapshot: &'s Snapshot, lanes: &Lanes) -> Vec<Known<'s>> {
        let members = self.part.members.iter().zip(&self.plan.ids);
        let known = members.map(|(member, id)| Known {
            existing: snapshot.execution(&RecordKey::Execution(*id)),
            key: None,
            lane: lanes.get(&member.submission.lane_id).copied().unwrap_or_default(),
        });
        known.collect()
    }
}

fn foreign(record: &Record) -> Rejection {
    let what = match record {
        Record::Execution(execution) => format!("execution {}", execution.id),
        Record::Edge(edge) => format!("edge {}", edge.id),
        _ => "a record".to_owned(),
    };
    Code::AlreadyExists.because(format!("{what} exists outside of this graph"))
}
