//! Taking and giving back slots and places.

use ff_core::id::GrantId;
use ff_core::limits::GRANT_TTL_MAX;
use ff_core::machine::quota::{self, Admit, Quota, QuotaAdmission, SlotReleased, Standing};
use ff_core::record::{QuotaUsage, Slot};
use ff_core::time::Timestamp;
use rusqlite::{Connection, OptionalExtension};

use super::ledger::{Ledger, over_since};
use crate::batch::Batch;
use crate::error::corrupt;

/// Places deleted at most when one may be taken: more than one, so that what no longer counts goes away with use.
const PAST_PLACES_PER_CALL: u64 = 4;

impl Batch<'_> {
    /// [`quota::admit`].
    pub(super) fn admit(&self, ledger: &mut Ledger, ask: &Admit) -> rusqlite::Result<QuotaAdmission> {
        self.forget_the_past(ledger)?;
        let standing = self.standing(ledger, ask)?;
        let decision = quota::decide(&mut ledger.policy, &standing, ask, self.now);
        let (id, execution_id, now) = (ledger.id(), ask.execution_id.to_string(), self.now.as_millis());
        if decision.answer == QuotaAdmission::Admitted {
            let params = (&id, ask.grant_id.to_string(), &execution_id, now);
            self.run(include_str!("../../sql/insert_slot.sql"), params)?;
            ledger.slots += 1;
        }
        if decision.takes_place {
            let params = (&id, ledger.next_place, now, &execution_id, ask.attempt_index);
            self.run(include_str!("../../sql/take_place.sql"), params)?;
            ledger.next_place += 1;
        }
        Ok(decision.answer)
    }

    fn standing(&self, ledger: &Ledger, ask: &Admit) -> rusqlite::Result<Standing> {
        let connection = self.connection;
        let mut statement = self.statement(include_str!("../../sql/find_tombstone.sql"))?;
        let params = (
            ledger.id(),
            ask.grant_id.to_string(),
            over_since(GRANT_TTL_MAX, self.now),
        );
        Ok(Standing {
            released: statement.query_row(params, |row| row.get(0))?,
            holds_slot: slot(connection, ledger, ask.grant_id)?.is_some(),
            in_use: ledger.slots,
            holds_place: ledger.holds_place(connection, ask.window_request(), self.now)?,
            // The past is forgotten: whatever is left counts.
            taken: ledger.next_place - ledger.first_place,
            place_free_at: ledger.place_free_at(connection, 0)?,
        })
    }

    /// [`quota::release`], given the one slot it looks at.
    pub(super) fn release_slot(&self, ledger: &mut Ledger, grant_id: GrantId) -> rusqlite::Result<SlotReleased> {
        let held = slot(self.connection, ledger, grant_id)?;
        let slots = held.map(|slot| (grant_id, slot)).into_iter().collect();
        let usage = QuotaUsage {
            slots,
            ..QuotaUsage::default()
        };
        let mut quota = Quota {
            policy: ledger.policy.clone(),
            usage,
        };
        let released = quota::release(&mut quota, grant_id, self.now);
        let grant = (ledger.id(), grant_id.to_string());
        match released {
            SlotReleased::Gone => return Ok(released),
            SlotReleased::Freed => {
                self.run(include_str!("../../sql/delete_slot.sql"), grant)?;
                ledger.slots = ledger.slots.saturating_sub(1);
            }
            SlotReleased::Unknown => {
                let params = (grant.0, grant.1, self.now.as_millis());
                self.run(include_str!("../../sql/put_tombstone.sql"), params)?;
            }
        }
        self.forget_the_past(ledger)?;
        ledger.policy = quota.policy;
        Ok(released)
    }

    /// Places that stopped counting never count again, not even in a longer window.
    fn forget_the_past(&self, ledger: &mut Ledger) -> rusqlite::Result<()> {
        ledger.first_place = ledger.first_place_at(self.connection, self.now)?;
        if ledger.first_place == 0 {
            return Ok(());
        }
        let params = (ledger.id(), ledger.first_place, PAST_PLACES_PER_CALL);
        self.run(include_str!("../../sql/delete_past_places.sql"), params)
    }
}

/// The slot of a grant, if it holds one. Those of a deleted policy are left over and count no more.
fn slot(connection: &Connection, ledger: &Ledger, grant_id: GrantId) -> rusqlite::Result<Option<Slot>> {
    if ledger.slots == 0 {
        return Ok(None);
    }
    let mut statement = connection.prepare_cached(include_str!("../../sql/load_slot.sql"))?;
    let found = statement.query_row((ledger.id(), grant_id.to_string()), |row| {
        Ok(Slot {
            execution_id: row.get_ref(0)?.as_str()?.parse().map_err(corrupt)?,
            taken_at: Timestamp::from_millis(row.get(1)?),
        })
    });
    found.optional()
}
