//! Telling what happens, from the feed of events.

use std::collections::{BTreeSet, HashMap};

use ff_core::command::page::PageRequest;
use ff_core::command::steps::ReadSteps;
use ff_core::command::stream::AttemptRef;
use ff_core::fabric::{Fabric, On};
use ff_core::id::{ExecutionId, FlowId};
use ff_core::limits::PAGE_MAX;
use ff_core::name::StepKey;
use ff_core::record::{Actor, Happening, HistoryLine, HistorySubject, ReasonCode};
use ff_core::time::Timestamp;
use ff_core::view::GetResult;
use ff_sdk::{Client, Events, Observed};
use serde_json::Value;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::banner::Shown;
use super::names::Names;
use super::voice::Voice;
use crate::verbs::id;
use crate::verbs::output::{Ink, cut};

/// What the kinds of the demonstration begin with.
const DEMO: &str = "demo.";
/// As much of a text as fits beside what is said about it.
const SHOWN: usize = 50;
/// The kind of the demonstration's agent.
const AGENT: &str = "demo.agent";

/// Tells what happens until it is dropped.
pub(crate) struct Narrator {
    told: watch::Receiver<Told>,
    telling: JoinHandle<()>,
}

/// What happened to each execution and flow of the demonstration, as far as it was told.
type Told = HashMap<HistorySubject, BTreeSet<Happening>>;

impl Narrator {
    /// Tells what happens from `now` on: the feed begins a little before, so that nothing is missed.
    pub(crate) async fn start(client: Client, now: Timestamp, shown: Shown, voice: Voice) -> anyhow::Result<Self> {
        let mut events = client.events(Events::all()).await?;
        let (tell, told) = watch::channel(Told::new());
        let mut teller = Teller {
            names: Names::new(client.clone()),
            client,
            shown,
            voice,
        };
        let telling = tokio::spawn(async move {
            while let Some(observed) = events.next().await {
                match observed {
                    Ok(Observed::Event(event)) if event.line.at < now => {}
                    Ok(Observed::Event(event)) => {
                        let line = &event.line;
                        teller.tell(line).await;
                        if line.kind.starts_with(DEMO) {
                            tell.send_modify(|told| _ = told.entry(line.subject).or_default().insert(line.what));
                        }
                    }
                    Ok(Observed::Gap) => voice.add("(too much happened at once: some of it is not told)"),
                    Err(error) => tracing::warn!(%error, "what happens cannot be told any more"),
                }
            }
        });
        Ok(Self { told, telling })
    }

    /// Waits until something that `is_so` was told of each of these.
    pub(crate) async fn until(
        &self,
        subjects: &[HistorySubject],
        is_so: impl Fn(Happening) -> bool,
    ) -> anyhow::Result<()> {
        let all = |told: &Told| {
            let of = |subject| {
                told.get(subject)
                    .is_some_and(|told| told.iter().any(|what| is_so(*what)))
            };
            subjects.iter().all(of)
        };
        self.told.clone().wait_for(all).await?;
        Ok(())
    }
}

impl Drop for Narrator {
    fn drop(&mut self) {
        self.telling.abort();
    }
}

struct Teller {
    names: Names,
    client: Client,
    shown: Shown,
    voice: Voice,
}

impl Teller {
    async fn tell(&mut self, line: &HistoryLine) {
        // The flow of the demonstration is told as a whole.
        let is_member = line.flow_id.is_some() && matches!(line.subject, HistorySubject::Execution(_));
        if is_member && line.kind.starts_with(DEMO) && line.what != Happening::Failed {
            return;
        }
        let Some((ink, what)) = self.words(line).await else {
            return;
        };
        let who = self.names.of(line.subject).await;
        self.voice.tell(&who, ink, what);
        if let (Happening::Failed, HistorySubject::Execution(id)) = (line.what, line.subject) {
            self.tell_how_to_go_on(id).await;
        }
    }

    /// What is told of a line; most lines say nothing new to a person.
    async fn words(&self, line: &HistoryLine) -> Option<(Ink, String)> {
        let by = actor(&line.actor);
        let told = match (line.what, line.subject) {
            (Happening::Created, _) => (Ink::Plain, submitted(line)),
            // The process of the agent says so itself, in time with what it does.
            (Happening::Claimed, _) if line.kind == AGENT => return None,
            (Happening::Claimed, _) => (Ink::Busy, format!("runs in {by}")),
            (Happening::Completed, HistorySubject::Execution(id)) => (Ink::Good, self.gave(id).await),
            (Happening::RetryScheduled, HistorySubject::Execution(id)) => {
                let why = self.why(id, line.attempt_index).await;
                (Ink::Warning, format!("failed, and is tried again: {why}"))
            }
            (Happening::Failed, HistorySubject::Execution(id)) => {
                (Ink::Bad, format!("failed: {}", self.why(id, line.attempt_index).await))
            }
            (Happening::Cancelled, _) => (Ink::Warning, format!("cancelled by {by}")),
            (Happening::Expired, _) => (Ink::Bad, "expired: its deadline has come".to_owned()),
            (Happening::Released, _) => (Ink::Plain, format!("given back by {by}: another worker goes on")),
            (Happening::LeaseExpired, _) => (Ink::Warning, "its worker is gone: the lease has run out".to_owned()),
            (Happening::Delayed, _) => (Ink::Plain, "sleeps; nobody holds it".to_owned()),
            (Happening::Suspended, HistorySubject::Execution(id)) => (Ink::Warning, self.waits(id).await),
            (Happening::Blocked, HistorySubject::Execution(id)) => (Ink::Warning, self.blocked(id).await),
            (Happening::Resumed, _) => (Ink::Plain, "goes on".to_owned()),
            (Happening::Replayed, _) => (Ink::Plain, format!("runs again, asked for by {by}")),
            (Happening::FlowEnded, HistorySubject::Flow(id)) => self.ended(id).await?,
            _ => return None,
        };
        Some(told)
    }

    /// What came of it, as far as it fits into a line.
    async fn gave(&self, id: ExecutionId) -> String {
        let result = self.client.get_result(On::new(id, GetResult::default())).await;
        let result = result.unwrap_or_default();
        match std::str::from_utf8(&result.bytes) {
            Ok("") | Err(_) => "completed".to_owned(),
            Ok(text) => format!("completed: {}", cut(text, SHOWN)),
        }
    }

    /// What keeps it from being handed out.
    async fn blocked(&self, id: ExecutionId) -> String {
        let view = self.client.get_execution(id).await;
        let why = view.ok().and_then(|view| view.state.blocking_detail);
        format!("may not run now: {}", why.as_deref().unwrap_or("a limit is reached"))
    }

    /// What it waits for.
    async fn waits(&self, id: ExecutionId) -> String {
        let Ok(view) = self.client.get_execution(id).await else {
            return "waits".to_owned();
        };
        let asks = view
            .suspension
            .is_some_and(|waits| waits.reason_code == ReasonCode::WaitingForApproval);
        if !asks {
            return "waits for a signal; nobody holds it".to_owned();
        }
        match self.question(id, view.attempt_index.unwrap_or(0)).await {
            Some(question) => format!("asks you: {}", cut(&question, SHOWN)),
            None => "waits for a person; nobody holds it".to_owned(),
        }
    }

    /// What a handler shows to whoever decides.
    async fn question(&self, execution_id: ExecutionId, attempt_index: u32) -> Option<String> {
        let attempt = AttemptRef {
            execution_id,
            attempt_index,
        };
        let summary = self.client.read_summary(attempt).await.ok()??;
        let summary: Value = serde_json::from_slice(&summary.bytes).ok()?;
        let shown = summary.get("approvals")?.as_object()?.values().next_back()?;
        Some(shown.as_str().map_or_else(|| shown.to_string(), str::to_owned))
    }

    /// How a flow ended.
    async fn ended(&self, id: FlowId) -> Option<(Ink, String)> {
        let flow = self.client.get_flow(id).await.ok()?;
        let states: Vec<String> = flow
            .counts
            .states
            .iter()
            .map(|(state, members)| format!("{members} {state}"))
            .collect();
        let well = flow.counts.states.len() == 1;
        let ink = if well { Ink::Good } else { Ink::Warning };
        Some((ink, format!("flow of {}: {}", flow.counts.members, states.join(", "))))
    }

    /// Why an attempt failed: the first line of what its worker said.
    async fn why(&self, id: ExecutionId, attempt: Option<u32>) -> String {
        let all = PageRequest {
            cursor: None,
            limit: Some(PAGE_MAX),
        };
        let attempts = self.client.list_attempts(On::new(id, all)).await;
        let attempts = attempts.map(|page| page.items).unwrap_or_default();
        let failed = attempts.into_iter().find(|found| Some(found.index) == attempt);
        let failure = failed.and_then(|attempt| attempt.end).and_then(|end| end.failure);
        let reason = failure.map_or_else(|| "it says not why".to_owned(), |failure| failure.reason);
        reason.lines().next().unwrap_or_default().to_owned()
    }

    /// What to do about an execution that failed: from where it can go on.
    async fn tell_how_to_go_on(&self, id: ExecutionId) {
        let replay = format!("replay {}", id::short(id.uuid()));
        match self.last_step(id).await {
            None => self.voice.add(self.shown.command(&replay)),
            Some(key) => {
                let command = self.shown.command(&replay);
                self.voice.add(format_args!("{command}   goes on after {key}"));
                let command = self.shown.command(&format!("{replay} --before '{key}'"));
                self.voice.add(format_args!("{command}   does {key} again, too"));
            }
        }
    }

    /// The step that was recorded last.
    async fn last_step(&self, id: ExecutionId) -> Option<StepKey> {
        let (mut last, mut from_seq) = (None, Some(0));
        while from_seq.is_some() {
            let read = ReadSteps {
                from_seq,
                limit: Some(PAGE_MAX),
                outputs: false,
                forgotten: false,
            };
            let page = self.client.read_steps(On::new(id, read)).await.ok()?;
            last = page.items.into_iter().next_back().map(|step| step.key).or(last);
            from_seq = page.next;
        }
        last
    }
}

fn submitted(line: &HistoryLine) -> String {
    let lane = line.lane.as_ref().map_or("", |lane| lane.as_str());
    format!("submitted: {}, lane {lane}", line.kind)
}

fn actor(actor: &Actor) -> &str {
    match actor {
        Actor::Engine => "the engine",
        Actor::Worker(instance) => instance.as_str(),
        Actor::Client(identity) => identity.as_str(),
        Actor::Anonymous => "you",
    }
}
