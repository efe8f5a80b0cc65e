//! What the worker of the lane `demo` does. Fakes stand for models and other systems.

use std::time::Duration;

use ff_sdk::WorkerBuilder;
use ff_sdk::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How long a word takes.
const WORD: Duration = Duration::from_millis(120);
/// How long a page takes.
const PAGE: Duration = Duration::from_millis(150);

/// The handlers of everything below.
pub(super) fn all(worker: WorkerBuilder) -> WorkerBuilder {
    let worker = worker.task(greet).task(story).task(question);
    worker.task(page).task(chapter).task(book).task(letter)
}

/// Writes so many words.
#[derive(Serialize, Deserialize, Task)]
#[task(kind = "demo.greet", output = String, lane = "demo")]
pub(super) struct Greet {
    words: u32,
}

async fn greet(Input(job): Input<Greet>, ctx: Ctx) -> Result<String, TaskError> {
    let words = vec!["hello"; usize::try_from(job.words.min(20))?];
    tell(&ctx, &words.join(" ")).await
}

/// Tells a text, word by word.
#[derive(Serialize, Deserialize, Task)]
#[task(kind = "demo.story", output = String, lane = "demo")]
pub(super) struct Story {
    pub(super) text: String,
}

async fn story(Input(job): Input<Story>, ctx: Ctx) -> Result<String, TaskError> {
    tell(&ctx, &job.text).await
}

async fn tell(ctx: &Ctx, text: &str) -> Result<String, TaskError> {
    let mut out = ctx.frames("token");
    for word in text.split(' ') {
        out.push(word).await?;
        tokio::time::sleep(WORD).await;
    }
    Ok(text.to_owned())
}

/// Does something once a person has agreed.
#[derive(Serialize, Deserialize, Task)]
#[task(kind = "demo.question", output = String, lane = "demo")]
pub(super) struct Question {
    pub(super) question: String,
    pub(super) then: String,
}

/// It starts again from its first line when somebody has decided; what it prepared comes from the journal.
async fn question(Input(job): Input<Question>, ctx: Ctx) -> Result<String, TaskError> {
    let asked = ctx.step("prepare", |_| async { Ok(job.question.clone()) }).await?;
    let decided = ctx.approval::<Value>("review").show(&asked).await?;
    if !decided.approved {
        return Ok(format!("nothing was done: rejected by {}", decided.by));
    }
    ctx.step("act", |_| async { Ok(job.then.clone()) }).await
}

/// A page of a book; it gives its words.
#[derive(Serialize, Deserialize, Task)]
#[task(kind = "demo.page", output = usize, lane = "demo")]
pub(super) struct Page {
    pub(super) number: usize,
}

async fn page(Input(job): Input<Page>) -> usize {
    tokio::time::sleep(PAGE).await;
    200 + job.number
}

/// Some pages, together.
#[derive(Serialize, Deserialize, Task)]
#[task(kind = "demo.chapter", output = usize, inputs = ChapterInputs, lane = "demo")]
pub(super) struct Chapter {}

#[derive(FromInputs)]
pub(super) struct ChapterInputs {
    pages: Vec<usize>,
}

async fn chapter(_: Input<Chapter>, Inputs(up): Inputs<Chapter>) -> usize {
    tokio::time::sleep(PAGE).await;
    up.pages.iter().sum()
}

/// The chapters, together.
#[derive(Serialize, Deserialize, Task)]
#[task(kind = "demo.book", output = usize, inputs = BookInputs, lane = "demo")]
pub(super) struct Book {}

#[derive(FromInputs)]
pub(super) struct BookInputs {
    chapters: Vec<usize>,
}

async fn book(_: Input<Book>, Inputs(up): Inputs<Book>) -> usize {
    tokio::time::sleep(PAGE).await;
    up.chapters.iter().sum()
}

/// What is written to who wanted the book.
#[derive(Serialize, Deserialize, Task)]
#[task(kind = "demo.letter", output = String, inputs = LetterInputs, lane = "demo")]
pub(super) struct Letter {}

#[derive(FromInputs)]
pub(super) struct LetterInputs {
    words: usize,
}

async fn letter(_: Input<Letter>, Inputs(up): Inputs<Letter>) -> String {
    format!("Your book has {} words.", up.words)
}
