//! Quota slots that belong to the wrong thing, and limits that seem never to move.

use std::collections::BTreeMap;

use ff_backend::quota::{QuotaAnswer, QuotaCall, QuotaReply};
use ff_core::id::GrantId;
use ff_core::machine::quota::QuotaAdmission;

/// The name under which each grant has its slot: that of its execution.
#[derive(Default)]
pub(super) struct Aliases(BTreeMap<GrantId, GrantId>);

impl Aliases {
    /// Puts the execution in place of the grant.
    pub(super) fn rename(&mut self, calls: &mut [QuotaCall]) {
        for call in calls {
            match call {
                QuotaCall::Admit { ask, .. } => {
                    let alias = GrantId::from_uuid(ask.execution_id.uuid());
                    self.0.insert(ask.grant_id, alias);
                    ask.grant_id = alias;
                }
                QuotaCall::Release { grant_id, .. } => {
                    *grant_id = self.0.get(grant_id).copied().unwrap_or(*grant_id);
                }
                _ => {}
            }
        }
    }
}

/// The quota as if nothing had ever moved.
pub(super) fn freeze_generation(reply: &mut QuotaReply) {
    match &mut reply.answer {
        Ok(QuotaAnswer::Policy(view)) => view.generation = 1,
        Ok(QuotaAnswer::Admission(
            QuotaAdmission::CapFull { generation, .. } | QuotaAdmission::WindowFull { generation, .. },
        )) => *generation = 1,
        _ => {}
    }
}
