//! Non-empty queues of partitions with their heads and lengths.

use ff_backend::Result;
use ff_backend::codec::cursor::{Cut, QueueText};
use ff_backend::codec::key::record_key;
use ff_backend::query::{QueueHead, Rows};
use ff_core::machine::placement::QueueKey;
use ff_core::partition::Partition;
use redis::Value;

use super::Found;
use super::partitions::Row;
use super::reader::{Command, Reader};
use crate::error::corrupt;
use crate::keys::{QUEUES, QueueName};
use crate::record::parse_score;
use crate::reply::{list, number, text, whole_score};

pub(super) async fn queues(reader: &mut Reader<'_>, partitions: &[Partition], cut: &Cut) -> Found {
    let after = cut
        .after::<Row<QueueText>>()?
        .map(|(partition, queue)| (partition, queue.0));
    let command = || Command::new("ZRANGE", QUEUES).args(["0", "-1"]);
    let queues = reader.rows((partitions, after), cut, command, |reply| {
        let registrations = list(reply)?;
        let keys = registrations
            .iter()
            .map(|registration| Ok(QueueName::registered(text(registration)?)?.1));
        keys.collect()
    });
    let (queues, next) = cut.first(queues.await?, |(partition, queue)| {
        (*partition, QueueText(queue.clone()))
    });
    Ok((Rows::Queues(heads(reader, queues).await?), next))
}

/// The queues with their heads. Whatever was emptied meanwhile is left out.
async fn heads(reader: &mut Reader<'_>, queues: Vec<Row<QueueKey>>) -> Result<Vec<QueueHead>> {
    let questions = queues.iter().map(|(partition, queue)| {
        let set = QueueName::of(queue).set;
        let head = Command::new("ZRANGE", &*set).args(["0", "0", "WITHSCORES"]);
        (*partition, vec![head, Command::new("ZCARD", set)])
    });
    let answers = reader.ask(questions.collect()).await?;
    let heads = queues.into_iter().zip(answers);
    let heads = heads.filter_map(|(row, answer)| queue_head(row, answer).transpose());
    heads.collect()
}

fn queue_head((partition, queue): Row<QueueKey>, answer: Vec<Value>) -> Result<Option<QueueHead>> {
    let [head, length] = <[Value; 2]>::try_from(answer).map_err(|_| corrupt("a queue has a head and a length"))?;
    let [name, at] = match <[Value; 2]>::try_from(list(head)?) {
        Ok(found) => found,
        Err(_) => return Ok(None),
    };
    let ff_core::record::RecordKey::Execution(id) = record_key(partition, text(&name)?)? else {
        return Err(corrupt("something that is no execution is in a queue"));
    };
    Ok(Some(QueueHead {
        partition,
        queue,
        head: parse_score(whole_score(&at)?, id)?,
        length: number(&length)?,
    }))
}
