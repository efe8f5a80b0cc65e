//! A number for each partition that changes when its feed or one of its streams has.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use ff_backend::query::Rows;
use ff_core::partition::Partition;

use super::{Found, flow_numbers};
use crate::call::call;
use crate::error::corrupt;
use crate::shared::{Shared, partition};

impl Shared {
    pub(super) async fn list_marks(&self, asked: &[Partition]) -> Found {
        let (caller, numbers) = (self.caller(), flow_numbers(asked));
        let row = self
            .connections
            .row(call!(reading marks(caller: &caller, partitions: &numbers)))
            .await?;
        let now = self.was_told(row.try_get("now").map_err(corrupt)?);
        let found: Vec<String> = row.try_get("answer").map_err(corrupt)?;
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
