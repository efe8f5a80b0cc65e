//! A number for each partition that changes when its feed or one of its streams has.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use ff_backend::query::Rows;
use ff_core::partition::Partition;

use super::{Found, flow_numbers};
use crate::call::call;
use crate::shared::{Shared, partition};

impl Shared {
    pub(super) async fn list_marks(&self, asked: &[Partition]) -> Found {
        let numbers = flow_numbers(asked);
        let (now, answer) = self.ask(call!(reading marks(partitions: &numbers))).await?;
        let found: Vec<String> = answer.get("answer")?;
        let mark = |(own, found): (&i16, &String)| {
            let mut hasher = DefaultHasher::new();
            found.hash(&mut hasher);
            (partition(*own), hasher.finish())
        };
        let marks: BTreeMap<Partition, u64> = numbers.iter().zip(&found).map(mark).collect();
        let marks = asked.iter().map(|own| (*own, marks.get(own).copied().unwrap_or(0)));
        Ok((now, Rows::Marks(marks.collect()), None))
    }
}
