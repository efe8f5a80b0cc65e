//! Admissions, releases and readings, many in one call of the library.

use ff_backend::Result;
use ff_backend::quota::{QuotaAnswer as Answer, QuotaCall as Call, QuotaReply};
use ff_core::error::Rejection;
use ff_core::id::QuotaPolicyId;
use ff_core::machine::quota::{self, Admit, CAP_RETRY_AFTER, QuotaAdmission, SlotReleased};
use ff_core::partition::Partition;
use ff_core::time::{Duration, Timestamp};
use redis::Value;

use super::Numbered;
use super::state::Found;
use crate::error::corrupt;
use crate::keys::prefix;
use crate::library::Function;
use crate::limit::{Chain, Item, Kind};
use crate::pack::Pack;
use crate::reply::{list, number, optional_text, text, values};
use crate::shared::Shared;

/// Readings that find the same, or one admission or release.
struct QuotaItem {
    partition: Partition,
    id: QuotaPolicyId,
    calls: Vec<(usize, Call)>,
}

/// What a call came to by the rules.
type Answered = std::result::Result<Answer, Rejection>;

impl Shared {
    /// Admits, releases and reads; the calls of each chain in order.
    pub(super) async fn use_quotas(&self, chains: Vec<Chain<QuotaPolicyId, Call>>) -> Vec<Numbered> {
        let writes = chains.iter().any(|chain| chain.kind == Kind::Use);
        let function = if writes {
            Function::UseQuotas
        } else {
            Function::ReadQuotas
        };
        let items = chains
            .into_iter()
            .filter_map(|chain| Some(self.quota_items(chain.about?, chain.calls)));
        let answers = self.ask_items(function, items.flatten().collect()).await;
        answers
            .into_iter()
            .flat_map(|(item, answer)| replies(item, answer))
            .collect()
    }

    /// Policies as they stand.
    pub(super) async fn read_quotas(&self, ids: impl Iterator<Item = QuotaPolicyId>) -> Result<Vec<Found>> {
        let items = ids.map(|id| self.quota_item(id, Vec::new())).collect();
        let answers = self.ask_items(Function::ReadQuotas, items).await.into_iter();
        let found = answers.map(|(item, answer)| {
            let (answer, now) = answer?;
            Found::parse(item.id, answer, now)
        });
        found.collect()
    }

    /// Readings with nothing between them are one.
    fn quota_items(&self, id: QuotaPolicyId, calls: Vec<(usize, Call)>) -> Vec<QuotaItem> {
        let mut items: Vec<QuotaItem> = Vec::new();
        for (number, call) in calls {
            match items.last_mut().filter(|last| reads(&call) && last.is_reading()) {
                Some(reading) => reading.calls.push((number, call)),
                None => items.push(self.quota_item(id, vec![(number, call)])),
            }
        }
        items
    }

    fn quota_item(&self, id: QuotaPolicyId, calls: Vec<(usize, Call)>) -> QuotaItem {
        let partition = self.counts.of_quota(id);
        QuotaItem { partition, id, calls }
    }
}

impl QuotaItem {
    fn is_reading(&self) -> bool {
        self.calls.iter().all(|(_, call)| reads(call))
    }
}

impl Item for QuotaItem {
    fn partition(&self) -> Partition {
        self.partition
    }

    fn pack(&self, pack: &mut Pack) {
        let (prefix, id) = (prefix(self.partition), self.id.to_string());
        match self.calls.first() {
            Some((_, Call::Admit { ask, .. })) => {
                pack.list(8)
                    .text(prefix)
                    .text(id)
                    .text("admit")
                    .text(ask.grant_id.to_string());
                pack.text(ask.execution_id.to_string()).number(ask.attempt_index);
                pack.text(ask.execution_id.partition().index.to_string())
                    .flag(ask.continues);
            }
            Some((_, Call::Release { grant_id, .. })) => {
                pack.list(4)
                    .text(prefix)
                    .text(id)
                    .text("release")
                    .text(grant_id.to_string());
            }
            _ => {
                pack.list(2).text(prefix).text(id);
            }
        }
    }
}

fn reads(call: &Call) -> bool {
    matches!(call, Call::Get(_) | Call::Headroom(_))
}

fn replies(item: QuotaItem, answer: Result<(Value, Timestamp)>) -> Vec<Numbered> {
    let answers = answer.and_then(|(answer, now)| Ok((answers(&item, answer, now)?, now)));
    let numbers = item.calls.into_iter().map(|(number, _)| number);
    match answers {
        Ok((answers, now)) => {
            let replies = answers.into_iter().map(|answer| Ok(QuotaReply { now, answer }));
            numbers.zip(replies).collect()
        }
        Err(error) => numbers.map(|number| (number, Err(error.clone()))).collect(),
    }
}

fn answers(item: &QuotaItem, answer: Value, now: Timestamp) -> Result<Vec<Answered>> {
    match item.calls.first() {
        Some((_, Call::Admit { ask, .. })) => Ok(vec![admitted(item.id, answer, ask, now)?]),
        Some((_, Call::Release { .. })) => Ok(vec![released(item.id, answer)?]),
        _ => {
            let found = Found::parse(item.id, answer, now)?;
            Ok(item.calls.iter().map(|(_, call)| read(&found, item.id, call)).collect())
        }
    }
}

fn read(found: &Found, id: QuotaPolicyId, call: &Call) -> Answered {
    let policy = found.policy.as_ref().ok_or_else(|| quota::not_found(id))?;
    Ok(match call {
        Call::Headroom(_) => Answer::Headroom(found.taken.headroom(policy)),
        _ => Answer::Policy(Box::new(found.taken.view(policy, found.now))),
    })
}

fn released(id: QuotaPolicyId, answer: Value) -> Result<Answered> {
    let [outcome] = values(answer)?;
    let released = match text(&outcome)? {
        "not_found" => return Ok(Err(quota::not_found(id))),
        "freed" => SlotReleased::Freed,
        "unknown" => SlotReleased::Unknown,
        "gone" => SlotReleased::Gone,
        other => return Err(corrupt(format!("a release came to {other:?}"))),
    };
    Ok(Ok(Answer::Released(released)))
}

fn admitted(id: QuotaPolicyId, answer: Value, ask: &Admit, now: Timestamp) -> Result<Answered> {
    let answer = list(answer)?;
    let outcome = text(
        answer
            .first()
            .ok_or_else(|| corrupt("an admission without an outcome"))?,
    )?
    .to_owned();
    let admission = match outcome.as_str() {
        "not_found" => return Ok(Err(quota::not_found(id))),
        "admitted" => QuotaAdmission::Admitted,
        "already_admitted" => QuotaAdmission::AlreadyAdmitted,
        "unlimited" => QuotaAdmission::Unlimited,
        "late" => QuotaAdmission::Late,
        _ => refused(answer, ask, now)?,
    };
    Ok(Ok(Answer::Admission(admission)))
}

/// The refusal of [`quota::judge`]. The dice do not fit into a number of the library, so jitter is added here.
fn refused(answer: Vec<Value>, ask: &Admit, now: Timestamp) -> Result<QuotaAdmission> {
    let [outcome, taken, limit, free_at, generation, jitter_ms, window_ms] = values(Value::Array(answer))?;
    let (taken, limit, generation) = (number(&taken)?, number(&limit)?, number(&generation)?);
    let jitter = Duration::from_millis(ask.dice % (number::<u64>(&jitter_ms)? + 1));
    match text(&outcome)? {
        "cap_full" => Ok(QuotaAdmission::CapFull {
            in_use: taken,
            max_concurrent: limit,
            retry_after: (limit > 0).then_some(CAP_RETRY_AFTER + jitter),
            generation,
        }),
        "window_full" => {
            let free_at: Option<u64> = optional_text(&free_at)?.map(|_| number(&free_at)).transpose()?;
            Ok(QuotaAdmission::WindowFull {
                taken,
                max_requests_per_window: limit,
                window: Duration::from_millis(number(&window_ms)?),
                retry_after: free_at.map(|at| Timestamp::from_millis(at).since(now) + jitter),
                generation,
            })
        }
        other => Err(corrupt(format!("an admission came to {other:?}"))),
    }
}
