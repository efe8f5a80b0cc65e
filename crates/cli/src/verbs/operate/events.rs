//! `ff events`.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use ff_core::error::Code;
use ff_core::name::LaneId;
use ff_core::record::{Happening, HistoryLine};
use ff_core::time::Duration;
use ff_core::view::{EventFilter, EventsFrom, ReadEvents};

use crate::say;
use crate::verbs::happened::{actor, ink};
use crate::verbs::output::{Ink, Out, clean, cut};
use crate::verbs::patience::{WAIT, patiently};
use crate::verbs::session::{Common, Session};
use crate::verbs::{id, when};

/// Events read at once.
const PAGE: usize = 500;
/// Columns before the kind.
const HEAD: usize = 49;

/// Follow what happens, as it happens
#[derive(clap::Args)]
pub(crate) struct Events {
    /// Where to begin: `now`, `oldest`, or a moment such as 2h (ago) or 2026-11-16T09:30 [default: now; with --no-follow, oldest]
    #[arg(long, value_name = "WHEN", value_parser = from)]
    from: Option<From>,
    /// Stop when everything that has happened so far is told
    #[arg(long)]
    no_follow: bool,
    /// Of executions of this lane
    #[arg(long)]
    lane: Option<LaneId>,
    /// Of this flow and its members
    #[arg(long)]
    flow: Option<String>,
    /// Of this kind of execution or flow
    #[arg(long)]
    kind: Option<String>,
    /// Of this execution
    #[arg(long)]
    execution: Option<String>,
    /// Only this, such as failed. May be repeated
    #[arg(long, value_parser = happening_parser(), hide_possible_values = true)]
    what: Vec<Happening>,
    #[command(flatten)]
    common: Common,
}

#[derive(Clone, Copy)]
enum From {
    Oldest,
    Now,
    Moment(when::Moment),
}

fn from(text: &str) -> Result<From, String> {
    match text {
        "oldest" => Ok(From::Oldest),
        "now" => Ok(From::Now),
        _ => when::parse_moment(text).map(From::Moment),
    }
}

fn happening_parser() -> impl TypedValueParser<Value = Happening> {
    let names = PossibleValuesParser::new(Happening::ALL.iter().map(|what| what.as_str()));
    names.try_map(|name| {
        let found = Happening::ALL.iter().find(|what| what.as_str() == name);
        found.copied().ok_or("there is no such event")
    })
}

impl Events {
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        let session = self.common.open().await?;
        let from = match self.from {
            Some(From::Now) => EventsFrom::Now,
            None if !self.no_follow => EventsFrom::Now,
            None | Some(From::Oldest) => EventsFrom::Oldest,
            Some(From::Moment(moment)) => EventsFrom::At(moment.seen_from(session.now)),
        };
        let mut request = ReadEvents {
            from: Some(from),
            filter: self.filter(&session).await?,
            limit: Some(PAGE),
            wait: if self.no_follow { Duration::ZERO } else { WAIT },
            ..ReadEvents::default()
        };
        let mut is_told = false;
        loop {
            let read = patiently(async || session.fabric.events(request.clone()).await).await;
            let page = match read {
                // Only who was reading already has missed something.
                Err(refusal) if refusal.code == Code::CursorExpired && request.cursor.is_some() => {
                    say::aside(
                        "Events were forgotten before they could be told; this goes on with the oldest one kept.",
                    );
                    (request.cursor, request.from) = (None, Some(EventsFrom::Oldest));
                    continue;
                }
                read => read?,
            };
            let is_all = page.events.is_empty();
            is_told |= !is_all;
            for event in &page.events {
                match session.out.is_table() {
                    true => session.out.text(&line(&event.line, session.out))?,
                    false => session.out.json(event)?,
                }
            }
            (request.cursor, request.from) = (Some(page.next), None);
            if self.no_follow && is_all {
                if !is_told && session.out.is_table() {
                    say::aside("Nothing like that has happened, as far as events are kept.");
                }
                return Ok(());
            }
        }
    }

    async fn filter(&self, session: &Session) -> anyhow::Result<EventFilter> {
        Ok(EventFilter {
            namespace: session.namespace.clone(),
            lane: self.lane.clone(),
            flow_id: match &self.flow {
                Some(flow) => Some(id::flow(session, flow).await?),
                None => None,
            },
            kind: self.kind.clone(),
            execution_id: match &self.execution {
                Some(execution) => Some(id::execution(session, execution).await?),
                None => None,
            },
            what: self.what.clone(),
        })
    }
}

/// One event on one line: a table would have to know how wide the next ones are.
fn line(line: &HistoryLine, out: Out) -> String {
    let what = out.paint.paint(ink(line.what), &format!("{:<16}", line.what.as_str()));
    let subject = out.paint.paint(Ink::Strong, &id::short_subject(line.subject));
    let at = out.paint.paint(Ink::Faint, &when::moment(line.at));
    let lane = line.lane.as_ref().map_or("", LaneId::as_str);
    let rest = format!("{:<10}  {:<8}  {lane}", clean(&line.kind), clean(actor(&line.actor)));
    let rest = out
        .width
        .map_or(rest.clone(), |width| cut(&rest, width.saturating_sub(HEAD)));
    format!("{at}  {subject}  {what}  {}\n", rest.trim_end())
}
