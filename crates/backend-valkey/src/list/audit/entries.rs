//! The entries that the sets themselves hold for records. Which sets to look into is read first, then all of it at one
//! moment: whatever moved in between is read once more.

use ff_backend::Result;
use ff_backend::codec::cause;
use ff_backend::codec::key::name;
use ff_backend::query::AuditRow;
use ff_core::id::BudgetId;
use ff_core::machine::placement::{Placement, QueueKey, Score, queue_key};
use ff_core::partition::Partition;
use ff_core::record::{Execution, Record, RecordKey};
use ff_core::state::PublicState;
use ff_core::time::Timestamp;
use redis::Value;

use super::super::reader::{Command, Reader};
use super::super::records::{FIELDS, if_readable, record};
use crate::error::corrupt;
use crate::keys::{DUE, INDEX, QUEUES, QueueName};
use crate::record::parse_score;
use crate::reply::{list, moment, optional_text, text, whole_score};

/// How often a record is read that moves meanwhile.
const READS_MAX: usize = 4;

/// Where the record itself says it was put.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Signpost {
    /// The queue or blocked set.
    set: Option<String>,
    /// The members of the index that list it as leased.
    leased: Vec<String>,
}

/// The rows of records, those that exist.
pub(super) async fn audited(
    reader: &mut Reader<'_>,
    partition: Partition,
    keys: Vec<RecordKey>,
) -> Result<Vec<AuditRow>> {
    let mut rows: Vec<Option<AuditRow>> = keys.iter().map(|_| None).collect();
    let mut rest: Vec<usize> = (0..keys.len()).collect();
    for _ in 0..READS_MAX {
        let signposts = signposts(reader, partition, rest.iter().map(|nth| &keys[*nth])).await?;
        let asked = rest.iter().zip(&signposts);
        let questions = asked.map(|(nth, signpost)| (partition, signpost.question(&keys[*nth])));
        let answers = reader.ask(questions.collect()).await?;
        let now = reader.now().unwrap_or_default();
        let mut moved = Vec::new();
        for ((nth, signpost), answer) in rest.into_iter().zip(signposts).zip(answers) {
            match if_readable(Entries::read(&keys[nth], &signpost, answer, now))? {
                None | Some(Read::Gone) => {}
                Some(Read::Moved) => moved.push(nth),
                Some(Read::Found(entries)) => rows[nth] = Some(entries.row(&signpost)?),
            }
        }
        rest = moved;
        if rest.is_empty() {
            break;
        }
    }
    Ok(rows.into_iter().flatten().collect())
}

async fn signposts(
    reader: &mut Reader<'_>,
    partition: Partition,
    keys: impl Iterator<Item = &RecordKey>,
) -> Result<Vec<Signpost>> {
    let commands = keys.map(|key| (partition, Command::new("HMGET", name(key)).args(["place", "listed"])));
    let replies = reader.ask_each(commands.collect()).await?;
    replies
        .into_iter()
        .map(|reply| Signpost::parse(&list(reply)?))
        .collect()
}

impl Signpost {
    /// Reads it from the fields `place` and `listed`.
    fn parse(fields: &[Value]) -> Result<Self> {
        let [place, listed] = fields else {
            return Err(corrupt("a place has two fields"));
        };
        let set = optional_text(place)?.and_then(|place| place.split(' ').next());
        let lines = optional_text(listed)?.unwrap_or_default().lines();
        let members = lines.filter_map(|line| line.rsplit(' ').next());
        Ok(Self {
            set: set.map(str::to_owned),
            leased: members
                .filter(|member| member.starts_with("leased:"))
                .map(str::to_owned)
                .collect(),
        })
    }

    /// Everything there is to know of a record, at one moment.
    fn question(&self, key: &RecordKey) -> Vec<Command> {
        let name = name(key);
        let fields = Command::new("HMGET", &*name)
            .args(FIELDS)
            .args(["place", "listed", "state"]);
        let mut commands = vec![fields, Command::new("ZSCORE", DUE).arg(&name)];
        if let Some(set) = &self.set {
            commands.push(Command::new("ZSCORE", &**set).arg(&name));
            let registration = QueueName::registration_of(set).unwrap_or_default();
            let range = Command::new("ZRANGE", QUEUES).args([format!("[{registration}"), format!("({registration}~")]);
            commands.push(range.args(["BYLEX", "LIMIT", "0", "1"]));
        }
        let leased = self
            .leased
            .iter()
            .map(|member| Command::new("ZSCORE", INDEX).arg(member));
        commands.extend(leased);
        commands
    }
}

/// What came of reading a record.
enum Read {
    Gone,
    /// It is not where it was a moment ago.
    Moved,
    Found(Entries),
}

/// A record, and what the sets hold for it.
struct Entries {
    record: Record,
    state: String,
    due_at: Option<Timestamp>,
    /// Its number in the set of its place.
    score: Option<i64>,
    /// How the queue of its place is registered.
    registration: Option<String>,
    /// Whether each of the members that list it as leased is there.
    leased: Vec<bool>,
}

impl Entries {
    fn read(key: &RecordKey, signpost: &Signpost, answer: Vec<Value>, now: Timestamp) -> Result<Read> {
        let mut answer = answer.into_iter();
        let mut next = || answer.next().unwrap_or(Value::Nil);
        let mut fields = list(next())?;
        let rest = fields.split_off(FIELDS.len().min(fields.len()));
        let Some((record, _)) = record(key, fields, now)? else {
            return Ok(Read::Gone);
        };
        let [places @ .., state] = rest.as_slice() else {
            return Err(corrupt("a record has a state"));
        };
        if Signpost::parse(places)? != *signpost {
            return Ok(Read::Moved);
        }
        let due_at = present(&next()).map(moment).transpose()?;
        let (mut score, mut registration) = (None, None);
        if signpost.set.is_some() {
            score = present(&next()).map(whole_score).transpose()?;
            let found = list(next())?;
            registration = found.first().map(text).transpose()?.map(str::to_owned);
        }
        Ok(Read::Found(Self {
            record,
            state: optional_text(state)?.unwrap_or_default().to_owned(),
            due_at,
            score,
            registration,
            leased: answer.map(|found| present(&found).is_some()).collect(),
        }))
    }

    fn row(self, signpost: &Signpost) -> Result<AuditRow> {
        let placement = match &self.record {
            Record::Execution(execution) => Some(self.placement(execution, signpost)?),
            _ => None,
        };
        Ok(AuditRow {
            placement,
            due_at: self.due_at,
            record: self.record,
        })
    }

    /// The index an execution is in.
    fn placement(&self, execution: &Execution, signpost: &Signpost) -> Result<Placement> {
        if let (Some(set), Some(number)) = (&signpost.set, self.score) {
            let score = parse_score(number, execution.id)?;
            if let Some(cause) = set.strip_prefix("blocked:") {
                let cause = cause::parse(cause)?;
                return Ok(Placement::Blocked { cause, score });
            }
            if let Some(registration) = &self.registration {
                return eligible(registration, execution, score);
            }
        }
        if self.state != PublicState::Active.as_str() {
            return Ok(Placement::Nowhere);
        }
        let listed = signpost
            .leased
            .iter()
            .zip(&self.leased)
            .filter(|(_, is_there)| **is_there);
        let budgets = listed.map(|(member, _)| budget_of(member));
        let budgets = budgets.collect::<Result<_>>()?;
        Ok(Placement::Leased { budgets })
    }
}

/// In a queue. Very many budget sets share one without budgets: then it is the queue the execution asks for.
fn eligible(registration: &str, execution: &Execution, score: Score) -> Result<Placement> {
    let (_, queue) = QueueName::registered(registration)?;
    let wanted = queue_key(execution);
    let mut shared = wanted.clone();
    shared.signature.budgets.clear();
    let queue: QueueKey = if queue == shared { wanted } else { queue };
    Ok(Placement::Eligible { queue, score })
}

/// The budget of `leased:<budget>:<uuid>`.
fn budget_of(member: &str) -> Result<BudgetId> {
    let budget = member.split(':').nth(1).unwrap_or_default();
    budget.parse().map_err(corrupt)
}

/// A value, if there is one.
fn present(value: &Value) -> Option<&Value> {
    (*value != Value::Nil).then_some(value)
}
