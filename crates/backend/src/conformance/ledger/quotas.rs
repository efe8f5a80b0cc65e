//! Calls about quota policies, answered over accounts and by the rules as they were: random calls are answered the same.

use ff_core::error::Rejection;
use ff_core::id::QuotaPolicyId;
use ff_core::ledger::{AccountKey, AccountView, Amend, Expected, Give, LedgerAnswer, LedgerCall, ReadHolds};
use ff_core::limits::GRANT_TTL_MAX;
use ff_core::machine::admission::Headroom;
use ff_core::machine::quota::{self, Admit, Quota, QuotaAdmission, SlotReleased, account};
use ff_core::record::{QuotaPolicy, QuotaUsage, Slot};
use ff_core::time::{Duration, Timestamp};
use uuid::Uuid;

use super::super::build::Random;
use super::super::quota_model::{answer as by_the_rules, random_call};
use super::Asked;
use crate::ledger::{Ledger, LedgerReply};
use crate::quota::{QuotaAnswer, QuotaCall};

const SEEDS: u64 = 60;
const CALLS: u64 = 250;

/// Compares what accounts come to with what the rules say, call by call.
pub async fn quotas_over_accounts_answer_what_the_rules_say(ledger: &dyn Ledger, advance: &(dyn Fn(Duration) + Sync)) {
    for seed in 0..SEEDS {
        let mut random = Random::new(seed << 44);
        let mut model: Option<Quota> = None;
        let id = QuotaPolicyId::from_uuid(Uuid::from_u128(u128::from(seed) + 1));
        let accounts = Asked {
            ledger,
            account: AccountKey::Quota(id),
        };
        for number in 0..CALLS {
            let asked = random_call(model.as_ref(), id, &mut random);
            let (now, answered) = accounts.answer_of_quota(&asked).await;
            forget_what_has_stopped_counting(model.as_mut(), &asked, now);
            let wanted = by_the_rules(&mut model, &asked, now);
            let code = |answer: Result<QuotaAnswer, Rejection>| answer.map_err(|rejection| rejection.code);
            assert_eq!(code(answered), code(wanted), "seed {seed}, call {number}: {asked:?}");
            if random.below(4) == 0 {
                advance(Duration::from_millis(random.below(4_000)));
            }
        }
    }
}

/// The one difference: a place that has stopped counting never counts again, also when nobody asked before the window grew.
fn forget_what_has_stopped_counting(model: Option<&mut Quota>, asked: &QuotaCall, now: Timestamp) {
    if let (Some(quota), QuotaCall::Update { .. }) = (model, asked) {
        quota.usage.window.slide(quota.policy.window, now);
    }
}

impl Asked<'_> {
    async fn policy(&self) -> (Timestamp, Option<(AccountView, QuotaPolicy)>) {
        let (now, view) = self.read().await;
        let Some(view) = view else { return (now, None) };
        let policy = account::policy(&view).expect("a policy");
        let look = account::look(self.account, &policy);
        match self.call(LedgerCall::Read(look)).await.answer {
            LedgerAnswer::Account(view) => (now, Some((*view, policy))),
            other => panic!("{other:?} instead of an account"),
        }
    }

    async fn answer_of_quota(&self, asked: &QuotaCall) -> (Timestamp, Result<QuotaAnswer, Rejection>) {
        let (now, found) = self.policy().await;
        let answer = match (asked, found) {
            (QuotaCall::Create { .. }, found) => self.create_quota(asked, found.map(|(_, policy)| policy), now).await,
            (_, None) => Err(quota::not_found(QuotaPolicyId::from_uuid(Uuid::nil()))),
            (_, Some((view, policy))) => self.answer_about(asked, view, policy, now).await,
        };
        (now, answer)
    }

    async fn create_quota(
        &self,
        asked: &QuotaCall,
        existing: Option<QuotaPolicy>,
        now: Timestamp,
    ) -> Result<QuotaAnswer, Rejection> {
        let QuotaCall::Create {
            quota_policy_id,
            command,
        } = asked
        else {
            panic!("{asked:?} creates nothing");
        };
        let is_new = existing.is_none();
        let mut slot = existing.map(|policy| Quota {
            policy,
            usage: QuotaUsage::default(),
        });
        let created = quota::create(&mut slot, *quota_policy_id, command, now)?;
        if let Some(Quota { policy, .. }) = slot.filter(|_| is_new) {
            let amend = Amend {
                body: Some(account::body(&policy).expect("a body")),
                redefines: true,
                ..Amend::new(self.account, Expected::Absent)
            };
            self.amend(amend).await;
        }
        Ok(QuotaAnswer::Created(created))
    }

    async fn answer_about(
        &self,
        asked: &QuotaCall,
        view: AccountView,
        policy: QuotaPolicy,
        now: Timestamp,
    ) -> Result<QuotaAnswer, Rejection> {
        let is_deleted = policy.deleted_at.is_some();
        let places = view.places[0].count;
        Ok(match asked {
            QuotaCall::Get(_) => {
                let taken = |taken: u64| if is_deleted { 0 } else { taken };
                let bare = Quota {
                    policy: policy.clone(),
                    usage: QuotaUsage::default(),
                };
                let mut shown = quota::view(&bare, now);
                (shown.in_use, shown.requests_in_window) = (taken(account::slots(&view)), taken(places));
                QuotaAnswer::Policy(Box::new(shown))
            }
            QuotaCall::Update { command, .. } => {
                let mut changed = Quota {
                    policy: policy.clone(),
                    usage: QuotaUsage::default(),
                };
                let updated = quota::update(&mut changed, command, now)?;
                if changed.policy != policy {
                    self.redefine(&view, &policy, &changed.policy, now).await;
                }
                QuotaAnswer::Updated(updated)
            }
            QuotaCall::Delete(_) => {
                let mut changed = Quota {
                    policy: policy.clone(),
                    usage: QuotaUsage::default(),
                };
                let deleted = quota::delete(&mut changed, now);
                if !is_deleted {
                    self.redefine(&view, &policy, &changed.policy, now).await;
                }
                QuotaAnswer::Deleted(deleted)
            }
            QuotaCall::Admit { ask, .. } => QuotaAnswer::Admission(self.admit(&view, &policy, ask).await),
            QuotaCall::Release { grant_id, .. } => {
                let give = Give {
                    path: vec![self.account],
                    grant: *grant_id,
                    undo: false,
                    back: Vec::new(),
                };
                QuotaAnswer::Released(match is_deleted {
                    true => SlotReleased::Gone,
                    false if self.call(LedgerCall::Give(give)).await.answer == LedgerAnswer::Given => {
                        SlotReleased::Freed
                    }
                    false => SlotReleased::Unknown,
                })
            }
            QuotaCall::SlotsToCheck { after, limit, .. } => {
                let ask = ReadHolds {
                    account: self.account,
                    older_than: GRANT_TTL_MAX,
                    after: *after,
                    limit: *limit,
                };
                let LedgerAnswer::Holds(holds) = self.call(LedgerCall::Holds(ask)).await.answer else {
                    panic!("holds are answered");
                };
                let slot = |hold: ff_core::ledger::Hold| Slot {
                    execution_id: hold.holder,
                    taken_at: hold.taken_at,
                };
                let slots = holds.into_iter().map(|hold| (hold.grant, slot(hold)));
                QuotaAnswer::Slots(slots.filter(|_| !is_deleted).collect())
            }
            QuotaCall::Headroom(_) => {
                let room = quota::headroom_beside(&policy, account::slots(&view), places);
                QuotaAnswer::Headroom(if is_deleted { Headroom::UNLIMITED } else { room })
            }
            QuotaCall::Advance(_) => {
                let (release, amend) = account::advance(&view, &policy, now).expect("a body");
                self.amend(amend).await;
                QuotaAnswer::Work(release)
            }
            QuotaCall::MarkBlocked {
                partition, continues, ..
            } => {
                let mark = account::mark(self.account, (*partition, *continues), view.head.generation);
                self.amend(mark).await;
                QuotaAnswer::Done
            }
            QuotaCall::ForgetBlocked { partition, round, .. } => {
                self.amend(account::forget(self.account, *partition, *round, false))
                    .await;
                QuotaAnswer::Done
            }
            QuotaCall::ForgetContinuing { partition, round, .. } => {
                self.amend(account::forget(self.account, *partition, *round, true))
                    .await;
                QuotaAnswer::Done
            }
            other => panic!("{other:?} is not part of this comparison"),
        })
    }

    async fn redefine(&self, view: &AccountView, before: &QuotaPolicy, after: &QuotaPolicy, now: Timestamp) {
        let amend = account::redefine(view, before, after, now).expect("a body");
        self.amend(amend).await;
    }

    async fn admit(&self, view: &AccountView, policy: &QuotaPolicy, ask: &Admit) -> QuotaAdmission {
        if policy.deleted_at.is_some() {
            return QuotaAdmission::Unlimited;
        }
        let take = account::take(self.account, view.head.revision, policy, ask);
        let LedgerReply { now, answer, .. } = self.call(LedgerCall::Take(take)).await;
        account::judged(policy, ask, &answer, now).unwrap_or_else(|| panic!("{answer:?} is no admission"))
    }
}
