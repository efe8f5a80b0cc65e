//! A quota policy with what the rules look at beside it.

use ff_backend::Result;
use ff_core::command::quota::QuotaPolicyView;
use ff_core::id::QuotaPolicyId;
use ff_core::machine::admission::Headroom;
use ff_core::machine::quota::{self, Outlook, Quota};
use ff_core::record::{QuotaPolicy, QuotaUsage};
use ff_core::time::Timestamp;
use redis::Value;

use super::fields::decode;
use crate::limit::Fields;
use crate::reply::{number, optional_text, values};

/// A policy as it was read.
pub(super) struct Found {
    pub(super) now: Timestamp,
    /// Empty: there is none.
    pub(super) revision: String,
    pub(super) policy: Option<QuotaPolicy>,
    pub(super) taken: Taken,
}

/// How much of a policy is taken.
#[derive(Clone, Copy)]
pub(super) struct Taken {
    /// Places taken at the time of the reading.
    pub(super) places: u64,
    pub(super) outlook: Outlook,
}

impl Found {
    pub(super) fn parse(id: QuotaPolicyId, state: Value, now: Timestamp) -> Result<Self> {
        let [fields, slots, places, free_at, unpromised_free_at] = values(state)?;
        let fields = Fields::parse(fields)?;
        let outlook = Outlook {
            slots: number(&slots)?,
            place_free_at: moment(&free_at)?,
            unpromised_place_free_at: moment(&unpromised_free_at)?,
        };
        let places = number(&places)?;
        Ok(Self {
            now,
            revision: fields
                .as_ref()
                .map_or_else(|| Ok(String::new()), |fields| fields.get("revision"))?,
            policy: fields.map(|fields| decode(id, &fields)).transpose()?,
            taken: Taken { places, outlook },
        })
    }
}

impl Taken {
    /// [`quota::view`].
    pub(super) fn view(&self, policy: &QuotaPolicy, now: Timestamp) -> QuotaPolicyView {
        QuotaPolicyView {
            in_use: self.outlook.slots,
            requests_in_window: self.places,
            ..quota::view(&bare(policy.clone()), now)
        }
    }

    /// [`quota::headroom`].
    pub(super) fn headroom(&self, policy: &QuotaPolicy) -> Headroom {
        quota::headroom_beside(policy, self.outlook.slots, self.places)
    }
}

/// The policy for functions that look at nothing that is taken of it.
pub(super) fn bare(policy: QuotaPolicy) -> Quota {
    let usage = QuotaUsage::default();
    Quota { policy, usage }
}

fn moment(value: &Value) -> Result<Option<Timestamp>> {
    let millis = optional_text(value)?.map(|_| number(value)).transpose()?;
    Ok(millis.map(Timestamp::from_millis))
}
