//! Slots so old that their grant must have become a lease.

use ff_backend::Result;
use ff_backend::quota::{QuotaAnswer as Answer, QuotaReply};
use ff_core::id::{GrantId, QuotaPolicyId};
use ff_core::limits::{GRANT_TTL_MAX, PAGE_MAX};
use ff_core::machine::quota;
use ff_core::record::Slot;
use ff_core::time::Timestamp;

use crate::error::corrupt;
use crate::keys::prefix;
use crate::library::Function;
use crate::reply::{list, number, text, values};
use crate::shared::Shared;

/// Slots one call reads. Those that are passed over are of the last minute, so they are never very many.
const CALL_MAX: usize = 1_000;

/// Some slots of a policy, in order.
struct Page {
    now: Timestamp,
    /// There is such a policy.
    exists: bool,
    slots: Vec<(GrantId, Slot)>,
}

impl Shared {
    /// [`quota::slots_to_check`].
    pub(super) async fn slots_to_check(
        &self,
        id: QuotaPolicyId,
        mut after: Option<GrantId>,
        limit: usize,
    ) -> Result<QuotaReply> {
        let limit = limit.clamp(1, PAGE_MAX);
        let mut old = Vec::new();
        loop {
            let page = self.slots(id, after).await?;
            let now = page.now;
            if !page.exists {
                let answer = Err(quota::not_found(id));
                return Ok(QuotaReply { now, answer });
            }
            let is_last = page.slots.len() < CALL_MAX;
            after = page.slots.last().map(|(grant_id, _)| *grant_id);
            old.extend(
                page.slots
                    .into_iter()
                    .filter(|(_, slot)| (slot.taken_at + GRANT_TTL_MAX).has_come(now)),
            );
            if is_last || old.len() >= limit {
                old.truncate(limit);
                let answer = Ok(Answer::Slots(old));
                return Ok(QuotaReply { now, answer });
            }
        }
    }

    async fn slots(&self, id: QuotaPolicyId, after: Option<GrantId>) -> Result<Page> {
        let partition = self.counts.of_quota(id);
        let prefix = prefix(partition);
        // A member goes on with a space after its grant, and "!" comes right after that.
        let from = after.map_or_else(|| "-".to_owned(), |grant_id| format!("({grant_id}!"));
        let (slots, most) = (format!("{prefix}slots:{id}"), CALL_MAX.to_string());
        let mut ask = self.ask(1);
        ask.list(2).list(2).text("EXISTS").text(format!("{prefix}quota:{id}"));
        ask.each(
            ["ZRANGEBYLEX", &slots, &from, "+", "LIMIT", "0", &most].into_iter(),
            |ask, word| {
                ask.text(word);
            },
        );
        let reply = self.call(Function::Read, partition, ask).await?;
        self.was_told(reply.now);
        let [exists, slots] = values(reply.answer)?;
        let slots = list(slots)?;
        Ok(Page {
            now: reply.now,
            exists: number::<u64>(&exists)? == 1,
            slots: slots.iter().map(|slot| held(text(slot)?)).collect::<Result<_>>()?,
        })
    }
}

/// Reads `<grant> <execution> <taken at>`.
fn held(member: &str) -> Result<(GrantId, Slot)> {
    let parts: Vec<&str> = member.split(' ').collect();
    let [grant_id, execution_id, taken_at] = parts[..] else {
        return Err(corrupt(format!("slot {member:?}")));
    };
    let slot = Slot {
        execution_id: execution_id.parse().map_err(corrupt)?,
        taken_at: Timestamp::from_millis(taken_at.parse().map_err(corrupt)?),
    };
    Ok((grant_id.parse().map_err(corrupt)?, slot))
}
