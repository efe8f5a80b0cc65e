//! Asking about many limits at once.

use std::fmt::Display;
use std::str::FromStr;

use ff_backend::Result;
use ff_backend::codec::key::escaped;
use ff_core::name::Namespace;
use ff_core::partition::{Family, Partition};
use ff_core::time::Timestamp;
use futures::future::{join_all, try_join_all};
use redis::Value;

use crate::error::corrupt;
use crate::keys::prefix;
use crate::library::Function;
use crate::pack::Pack;
use crate::reply::{list, text};
use crate::shared::Shared;

/// Items in one call at most: each of them may read and write a limit.
const CALL_MAX: usize = 256;
/// Partitions in one call at most.
const PARTITIONS_MAX: usize = 1_024;

/// Something asked about one limit, as the library takes it.
pub(crate) trait Item {
    /// Where the limit lives.
    fn partition(&self) -> Partition;
    /// Packs it as one value.
    fn pack(&self, pack: &mut Pack);
}

/// What an item was answered.
type Answered<T> = (T, Result<(Value, Timestamp)>);

/// Which limits a listing is about.
pub(crate) struct Listed<'a, I> {
    pub(crate) family: Family,
    pub(crate) set: &'a str,
    pub(crate) namespace: &'a Namespace,
    pub(crate) after: Option<I>,
}

impl Shared {
    /// Asks all items in few calls. Those of one partition are answered in their order.
    pub(crate) async fn ask_items<T: Item>(&self, function: Function, items: Vec<T>) -> Vec<Answered<T>> {
        let mut answers = Vec::with_capacity(items.len());
        let mut items = items.into_iter().peekable();
        while items.peek().is_some() {
            let chunk = items
                .by_ref()
                .take(CALL_MAX)
                .map(|item| (item.partition(), item))
                .collect();
            let calls = self
                .groups(chunk, CALL_MAX)
                .into_iter()
                .map(|group| self.ask_group(function, group));
            answers.extend(join_all(calls).await.into_iter().flatten());
        }
        answers
    }

    async fn ask_group<T: Item>(&self, function: Function, group: Vec<(Partition, T)>) -> Vec<Answered<T>> {
        let mut ask = self.ask(1);
        ask.each(group.iter(), |ask, (_, item)| item.pack(ask));
        let partition = group[0].0;
        let items = group.into_iter().map(|(_, item)| item);
        let answers = async {
            let reply = self.call(function, partition, ask).await?;
            self.was_told(reply.now);
            let answers = list(reply.answer)?;
            if answers.len() != items.len() {
                return Err(corrupt("not every item was answered"));
            }
            Ok((answers, reply.now))
        };
        match answers.await {
            Ok((answers, now)) => items.zip(answers.into_iter().map(|answer| Ok((answer, now)))).collect(),
            Err(error) => items.map(|item| (item, Err(error.clone()))).collect(),
        }
    }

    /// The first ids of a namespace over all partitions and in order, at most `most`.
    pub(crate) async fn listed<I>(&self, listed: &Listed<'_, I>, most: usize) -> Result<Vec<I>>
    where
        I: Display + FromStr<Err: Display> + Ord,
    {
        let all = self
            .counts
            .all(listed.family)
            .map(|partition| (partition, ()))
            .collect();
        let calls = self.groups(all, PARTITIONS_MAX).into_iter();
        let found = try_join_all(calls.map(|group| self.listed_in(listed, most, group))).await?;
        let mut ids: Vec<I> = found.into_iter().flatten().collect();
        ids.sort_unstable();
        ids.truncate(most);
        Ok(ids)
    }

    async fn listed_in<I>(&self, listed: &Listed<'_, I>, most: usize, group: Vec<(Partition, ())>) -> Result<Vec<I>>
    where
        I: Display + FromStr<Err: Display>,
    {
        let namespace = escaped(listed.namespace);
        let from = match &listed.after {
            Some(id) => format!("({}", member(listed.namespace, id)),
            None => format!("[{namespace} "),
        };
        // Names hold no white space, and "!" comes right after it.
        let (to, most) = (format!("({namespace}!"), most.to_string());
        let mut ask = self.ask(1);
        ask.each(group.iter(), |ask, (partition, ())| {
            let key = format!("{}{}", prefix(*partition), listed.set);
            let words = ["ZRANGEBYLEX", &key, &from, &to, "LIMIT", "0", &most];
            ask.each(words.into_iter(), |ask, word| {
                ask.text(word);
            });
        });
        let reply = self.call(Function::Read, group[0].0, ask).await?;
        self.was_told(reply.now);
        let mut ids = Vec::new();
        for found in list(reply.answer)? {
            for name in list(found)? {
                let (_, id) = text(&name)?
                    .split_once(' ')
                    .ok_or_else(|| corrupt("a limit is listed without its id"))?;
                ids.push(id.parse().map_err(corrupt)?);
            }
        }
        Ok(ids)
    }
}

/// How a limit is named in the set of those that are not deleted.
pub(crate) fn member(namespace: &Namespace, id: impl Display) -> String {
    format!("{} {id}", escaped(namespace))
}
