//! The agent: it asks a model, looks things up, and pays for every answer. Its process may be told to die on the way.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ff_sdk::BudgetId;
use ff_sdk::prelude::*;
use serde::{Deserialize, Serialize};

use super::TOKENS;

/// How long a word takes.
const WORD: Duration = Duration::from_millis(60);

/// A turn of the agent: what it does, what comes of it, and what that costs.
struct Turn {
    name: &'static str,
    text: &'static str,
    tokens: u64,
}

/// What happens, instead of a model and the world.
const TURNS: [Turn; 5] = [
    Turn {
        name: "llm",
        text: "Ana has three orders. I look them up.",
        tokens: 310,
    },
    Turn {
        name: "search",
        text: "17: sent, 18: sent, 19: late",
        tokens: 0,
    },
    Turn {
        name: "llm",
        text: "19 is late. I ask the carrier.",
        tokens: 240,
    },
    Turn {
        name: "search",
        text: "19 comes tomorrow",
        tokens: 0,
    },
    Turn {
        name: "llm",
        text: "Your order 19 comes tomorrow.",
        tokens: 250,
    },
];

/// Answers a question.
#[derive(Serialize, Deserialize, Task)]
#[task(kind = "demo.agent", output = String, lane = "demo.agent")]
pub(super) struct Agent {
    pub(super) question: String,
    pub(super) budget: BudgetId,
}

/// What its process says.
#[derive(Serialize, Deserialize)]
pub(super) enum Said {
    /// It begins, from its first line.
    Begins,
    Stepped(Stepped),
}

/// What it says of a step: that it was done, or that it was found.
#[derive(Serialize, Deserialize)]
pub(super) struct Stepped {
    pub(super) step: String,
    pub(super) text: String,
    pub(super) tokens: u64,
    pub(super) from_journal: bool,
}

/// What the handler does besides: say what it did, and die after a step.
#[derive(Clone)]
pub(super) struct Fate {
    pub(super) say: fn(&Said),
    /// The key of the step after which the process dies.
    pub(super) dies_after: Option<String>,
    pub(super) die: fn(),
}

/// After its process has died it starts again from its first line, and what was recorded answers at once.
pub(super) async fn agent(Input(job): Input<Agent>, State(fate): State<Fate>, ctx: Ctx) -> Result<String, TaskError> {
    (fate.say)(&Said::Begins);
    let (mut llms, mut searches) = (0, 0);
    let mut answer = job.question;
    for turn in &TURNS {
        let number = if turn.name == "llm" { &mut llms } else { &mut searches };
        let step = format!("{}#{number}", turn.name);
        *number += 1;
        let ran = AtomicBool::new(false);
        let call = ctx.step(turn.name, |_| {
            ran.store(true, Ordering::Relaxed);
            speak(&ctx, turn)
        });
        answer = match turn.tokens {
            0 => call.await?,
            tokens => call.charge(job.budget, move |_| [(TOKENS, tokens)]).await?,
        };
        (fate.say)(&Said::Stepped(Stepped {
            from_journal: !ran.load(Ordering::Relaxed),
            text: answer.clone(),
            tokens: turn.tokens,
            step: step.clone(),
        }));
        if fate.dies_after.as_deref() == Some(step.as_str()) {
            (fate.die)();
        }
    }
    Ok(answer)
}

/// Streams a text and gives it.
async fn speak(ctx: &Ctx, turn: &Turn) -> Result<String, TaskError> {
    let mut out = ctx.frames("token");
    for word in turn.text.split(' ') {
        out.push(word).await?;
        tokio::time::sleep(WORD).await;
    }
    Ok(turn.text.to_owned())
}
