//! create_flow_graph.

use std::collections::BTreeMap;

use ff_backend::load::Load;
use ff_core::command::flow::{Assembly, CreateFlow, FlowGraph, GraphCreated};
use ff_core::command::submit::LaneState;
use ff_core::error::Code;
use ff_core::fabric::Result;
use ff_core::machine::graph::{self, Chunk, ChunkLoaded, GraphPart, Plan};
use ff_core::machine::submit::{self, Known};
use ff_core::machine::{Context, Decided, flow};
use ff_core::name::LaneId;
use ff_core::record::{CounterKey, FlowCounter, RecordKey};

use super::create;
use super::existing_part::ExistingPart;
use crate::directory::{lanes, limits};
use crate::engine::Engine;
use crate::transact::Decision;

/// Adds the members and dependencies that are missing. A repeated call goes on where the first one was interrupted.
pub(crate) async fn create_flow_graph(engine: &Engine, command: FlowGraph) -> Result<GraphCreated> {
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
    if command.open && builder.create_opened().await? {
        return Ok(builder.created());
    }
    let existing = builder.look().await?;
    let missing = builder.plan.missing(&builder.part, &existing.found())?;
    if !missing.is_empty() {
        builder.add(&missing, &existing).await?;
    }
    if command.open && !(missing.is_empty() && existing.was_opened()) {
        super::open_flow(engine, flow_id).await?;
    }
    Ok(builder.created())
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
    fn created(self) -> GraphCreated {
        GraphCreated {
            flow_id: self.part.flow_id,
            execution_ids: self.plan.ids,
        }
    }

    /// Creates a graph that fits into one transaction, open, if its flow is not there. One try: otherwise, or if somebody was
    /// in the way, nothing was done, and what is there is looked at.
    async fn create_opened(&self) -> Result<bool> {
        let ([chunk], flow_id) = (&self.plan.chunks[..], self.part.flow_id) else {
            return Ok(false);
        };
        let (engine, key) = (self.engine, RecordKey::Flow(flow_id));
        let locked = engine.lock(key.clone()).await;
        // With a counter it is known in which generation all of them are zero.
        let counter = CounterKey::Flow(flow_id, FlowCounter::Members);
        let load = Load::records(engine.home_of(flow_id), [key.clone()]).with_counters([counter]);
        let decide = async {
            let snapshot = locked.look(load).await?;
            if snapshot.flow(&key).is_some() {
                return Ok(Decision::Undecided);
            }
            let context = engine.context(snapshot.now);
            let lanes = self.check_members(std::slice::from_ref(chunk), &context).await?;
            let draft = graph::draft_opened(chunk, &self.part, &self.definition, &self.known(&lanes), &context)?;
            Ok(Decision::Commit(snapshot, Decided { outcome: (), draft }))
        };
        Ok(locked.transact_once(decide).await?.is_some())
    }

    /// What is there before anything is written.
    async fn look(&self) -> Result<ExistingPart> {
        let flow_id = self.part.flow_id;
        let existing = ExistingPart::look(self.engine, flow_id, &self.plan.chunks).await?;
        let flow = existing.snapshot.flow(&RecordKey::Flow(flow_id));
        flow::create(
            flow,
            flow_id,
            &self.definition,
            &self.engine.context(existing.snapshot.now),
        )?;
        Ok(existing)
    }

    /// Writes what is missing, or refuses all of it.
    async fn add(&self, missing: &[Chunk], existing: &ExistingPart) -> Result<()> {
        if let Some(read) = existing.flow() {
            graph::check_assembling(read.loaded())?;
        }
        let context = self.engine.context(existing.snapshot.now);
        let lanes = self.check_members(missing, &context).await?;
        existing.check_acyclic(self.engine, missing).await?;
        create::create_under(self.engine, self.part.flow_id, &self.definition).await?;
        let mut checked = existing.flow().map_or(0, |read| read.flow.graph_revision);
        for chunk in missing {
            checked = self.write(chunk, &lanes, checked).await?;
        }
        Ok(())
    }

    /// Refuses members that could not be submitted, before anything is written.
    async fn check_members(&self, missing: &[Chunk], context: &Context) -> Result<Lanes> {
        let mut lanes = Lanes::new();
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
                None => lanes::find_or_create(self.engine, namespace, &submission.lane_id).await?,
            };
            lanes.insert(submission.lane_id.clone(), lane);
            limits::check(self.engine, namespace, &submission.policy).await?;
            let mut submission = submission.clone();
            submission.flow_id = Some(self.part.flow_id);
            let known = Known {
                lane,
                ..Known::default()
            };
            submit::create(&submission, self.plan.ids[position], known, context)?;
        }
        Ok(lanes)
    }

    /// Writes what of a chunk is still missing. `checked` is the graph revision for which the whole part is known to fit,
    /// and the answer the one for which it is then; of a graph that others have changed, each chunk is checked on its own.
    async fn write(&self, chunk: &Chunk, lanes: &Lanes, checked: u64) -> Result<u64> {
        let (engine, flow_id) = (self.engine, self.part.flow_id);
        let known = self.known(lanes);
        let locked = engine.lock(RecordKey::Flow(flow_id)).await;
        let decide = || async {
            let mut existing =
                ExistingPart::of(flow_id, locked.look(ExistingPart::load(engine, flow_id, chunk)).await?);
            let read = engine.visible_flow(&existing.snapshot, flow_id)?;
            let graph_revision = read.flow.graph_revision;
            if graph_revision != checked {
                existing.read_other_edges(engine, std::slice::from_ref(chunk)).await?;
            }
            let missing = chunk.missing(&self.part, &existing.found())?;
            if graph_revision != checked {
                existing.check_acyclic(engine, std::slice::from_ref(&missing)).await?;
            }
            let read = engine.visible_flow(&existing.snapshot, flow_id)?;
            let executions = chunk.executions();
            let executions: Vec<_> = executions
                .iter()
                .filter_map(|id| existing.snapshot.execution(&RecordKey::Execution(*id)))
                .collect();
            let loaded = ChunkLoaded {
                flow: read.loaded(),
                executions: &executions,
                known: &known,
            };
            let context = engine.context_of_flow(&existing.snapshot, &read);
            let outcome = if graph_revision == checked {
                checked + missing.dependencies().count() as u64
            } else {
                checked
            };
            let decided = Decided {
                outcome,
                draft: graph::draft(&missing, &self.part, loaded, &context)?,
            };
            Ok(Decision::Commit(existing.snapshot, decided))
        };
        locked.transact(decide).await
    }

    /// What is known about the submission of each member that is missing, in the order of the part.
    fn known(&self, lanes: &Lanes) -> Vec<Known<'static>> {
        let members = self.part.members.iter();
        let known = members.map(|member| Known {
            lane: lanes.get(&member.submission.lane_id).copied().unwrap_or_default(),
            ..Known::default()
        });
        known.collect()
    }
}
