//! What the demonstration submits. What an earlier one left under the same names goes first, so that a name means one thing;
//! questions that still wait are left as they are.

use std::collections::{BTreeMap, BTreeSet};

use ff_core::command::budget::{CreateBudget, ResetBudget};
use ff_core::command::operator::CancelExecution;
use ff_core::command::quota::CreateQuotaPolicy;
use ff_core::error::{Code, Rejection};
use ff_core::fabric::{Fabric, On};
use ff_core::id::{BudgetId, QuotaPolicyId};
use ff_core::name::{Dimension, Namespace};
use ff_core::record::{HistorySubject, Limits, OnHardLimit};
use ff_core::state::PublicState;
use ff_core::time::Duration;
use ff_core::view::{ExecutionView, ListExecutions, ListFlows, WantedTag};
use ff_sdk::prelude::*;
use uuid::Uuid;

use super::TOKENS;
use super::agent::Agent;
use super::tasks::{Book, Chapter, Letter, Page, Question, Story};
use crate::verbs::id::NAME;

/// The one budget, whatever was shown before.
const BUDGET: Uuid = Uuid::from_u128(0x0192_0000_0000_7000_8000_0000_dead_0001);
/// What it allows.
const TOKENS_MAX: u64 = 1_000;
/// The one quota policy, and what it admits: more than the demonstration asks for.
const QUOTA: Uuid = Uuid::from_u128(0x0192_0000_0000_7000_8000_0000_dead_0002);
const STARTS_MAX: u64 = 30;
const AT_ONCE_MAX: u64 = 4;
/// The flow of twelve: pages, chapters, and the book with its letter.
const PAGES_OF_CHAPTER: usize = 4;
const CHAPTERS: usize = 2;

/// The questions, each with what is done after a yes.
const QUESTIONS: [(&str, &str, &str); 2] = [
    ("demo-refund", "Refund 120 EUR to Ana?", "120 EUR were sent to Ana"),
    ("demo-publish", "Publish \"What is durable?\"", "it was published"),
];
/// What is streamed.
const STORIES: [(&str, &str); 2] = [
    (
        "demo-haiku",
        "an old silent pond a frog jumps into the pond splash silence again",
    ),
    (
        "demo-proverb",
        "what was written down survives who wrote it and who was to read it",
    ),
];
const AGENT: &str = "demo-agent";
const FLOW: &str = "demo-book";
/// Why what an earlier one left is cancelled.
const ANEW: &str = "the demonstration begins anew";

/// A store without remains of earlier demonstrations, but for questions that wait.
pub(super) struct Stage<'c> {
    client: &'c Client,
    waiting: BTreeSet<String>,
}

/// Everything that was submitted.
pub(super) struct Cast {
    pub(super) budget: BudgetId,
    pub(super) runs: Vec<HistorySubject>,
    /// Those that were asked just now.
    pub(super) questions: Vec<HistorySubject>,
    pub(super) flows: Vec<HistorySubject>,
}

impl<'c> Stage<'c> {
    pub(super) async fn clear(client: &'c Client) -> anyhow::Result<Self> {
        let mut waiting = BTreeSet::new();
        let streams = STORIES.iter().map(|(name, _)| *name).chain([AGENT]);
        for name in streams.chain(QUESTIONS.iter().map(|(name, ..)| *name)) {
            for view in named(client, name).await? {
                if view.state.public_state == PublicState::Suspended {
                    waiting.insert(name.to_owned());
                    continue;
                }
                remove(client, &view).await?;
            }
        }
        let left = ListFlows {
            tag: Some((NAME.to_owned(), FLOW.to_owned())),
            ..ListFlows::default()
        };
        for flow in client.list_flows(left).await?.items {
            if flow.counts.open > 0 {
                client.flow(flow.flow_id).cancel(ANEW).await?;
            }
            client.delete_flow(flow.flow_id).await.map(drop).or_else(gone_later)?;
        }
        Ok(Self { client, waiting })
    }

    /// Submits everything.
    pub(super) async fn set(&self) -> anyhow::Result<Cast> {
        let budget = self.budget().await?;
        let question = "Where is my order?".to_owned();
        let agent = Agent { question, budget };
        let agent = self.client.submit(agent).tag(NAME, AGENT).budget(budget).await?;
        let quota = self.quota().await?;
        let mut runs = vec![HistorySubject::Execution(agent.id())];
        for (name, text) in STORIES {
            let text = text.to_owned();
            let run = self.client.submit(Story { text }).tag(NAME, name).quota(quota).await?;
            runs.push(HistorySubject::Execution(run.id()));
        }
        let mut questions = Vec::new();
        for (name, question, then) in QUESTIONS {
            if self.waiting.contains(name) {
                continue;
            }
            let (question, then) = (question.to_owned(), then.to_owned());
            let run = self.client.submit(Question { question, then }).tag(NAME, name).await?;
            questions.push(HistorySubject::Execution(run.id()));
        }
        let flow = self.client.submit_flow(flow()).await?;
        Ok(Cast {
            budget,
            runs,
            questions,
            flows: vec![HistorySubject::Flow(flow.id())],
        })
    }

    async fn quota(&self) -> anyhow::Result<QuotaPolicyId> {
        let create = CreateQuotaPolicy {
            quota_policy_id: Some(QuotaPolicyId::from_uuid(QUOTA)),
            namespace: Namespace::default_namespace(),
            window: Duration::from_secs(60),
            max_requests_per_window: Some(STARTS_MAX),
            max_concurrent: Some(AT_ONCE_MAX),
            jitter: Duration::ZERO,
        };
        Ok(self.client.create_quota_policy(create).await?.quota_policy_id)
    }

    /// The budget, with nothing spent.
    async fn budget(&self) -> anyhow::Result<BudgetId> {
        let hard = Limits {
            soft: None,
            hard: Some(TOKENS_MAX),
        };
        let create = CreateBudget {
            budget_id: Some(BudgetId::from_uuid(BUDGET)),
            namespace: Namespace::default_namespace(),
            scope: "demo".to_owned(),
            dimensions: BTreeMap::from([(Dimension::parse(TOKENS)?, hard)]),
            reset_interval: None,
            on_hard_limit: OnHardLimit::default(),
        };
        let budget = self.client.create_budget(create).await?.budget_id;
        self.client
            .reset_budget(On::new(budget, ResetBudget::default()))
            .await?;
        Ok(budget)
    }
}

/// Pages that become chapters, that become a book, about which a letter is written.
fn flow() -> Flow {
    let mut flow = Flow::new("demo.book").tag(NAME, FLOW);
    let mut chapters = Vec::new();
    for chapter in 0..CHAPTERS {
        let first = chapter * PAGES_OF_CHAPTER;
        let pages: Vec<_> = (first..first + PAGES_OF_CHAPTER)
            .map(|number| flow.add(Page { number }))
            .collect();
        chapters.push(flow.add(Chapter {}).collect("pages", &pages));
    }
    let book = flow.add(Book {}).collect("chapters", &chapters);
    let _letter = flow.add(Letter {}).input("words", &book);
    flow
}

async fn named(client: &Client, name: &str) -> anyhow::Result<Vec<ExecutionView>> {
    let list = ListExecutions {
        tag: vec![WantedTag {
            key: NAME.to_owned(),
            value: name.to_owned(),
        }],
        ..ListExecutions::default()
    };
    Ok(client.list_executions(list).await?.items)
}

async fn remove(client: &Client, view: &ExecutionView) -> anyhow::Result<()> {
    let id = view.execution_id;
    if !view.state.public_state.is_terminal() {
        let cancel = CancelExecution {
            reason: ANEW.to_owned(),
            fence: None,
        };
        client.cancel_execution(On::new(id, cancel)).await?;
    }
    Ok(client.delete_execution(id).await.or_else(gone_later)?)
}

/// Members of a flow that is being cancelled end one after the other: then its retention deletes it, a day later.
fn gone_later(refused: Rejection) -> Result<(), Rejection> {
    match refused.code {
        Code::ExecutionNotTerminal => Ok(()),
        _ => Err(refused),
    }
}
