//! Quota policies: each call is the function of the same name in [`ff_core::machine::quota`], given what it depends on.

mod admit;
mod ledger;
mod read;

use ff_backend::Result;
use ff_backend::hint::Hint;
use ff_backend::quota::{QuotaAnswer as Answer, QuotaCall as Call, QuotaReply};
use ff_core::command::budget::Deleted;
use ff_core::command::quota::{CreateQuotaPolicy, UpdateQuotaPolicy};
use ff_core::error::Rejection;
use ff_core::id::QuotaPolicyId;
use ff_core::machine::quota::{self, Quota};
use ff_core::record::{Cause, QuotaPolicy, QuotaUsage};
use ff_core::time::Timestamp;

use crate::backend::SqliteBackend;
use crate::batch::Batch;
use crate::quota::ledger::Ledger;
use crate::quota::read::Asked;

/// What a call came to, if the store did not fail.
type Answered = rusqlite::Result<std::result::Result<Answer, Rejection>>;

impl SqliteBackend {
    /// Runs calls in order. Reading alone does not wait for the writer.
    pub(crate) async fn quota_calls(&self, calls: Vec<Call>) -> Vec<Result<QuotaReply>> {
        let count = calls.len();
        let replies: Result<Vec<QuotaReply>> = if calls.iter().all(read::only_reads) {
            self.read_store(move |connection, now| {
                let answers = calls.iter().filter_map(|call| read::answer(connection, call, now));
                answers.map(|answer| Ok(QuotaReply { now, answer: answer? })).collect()
            })
            .await
        } else {
            self.write(move |batch| {
                let now = batch.now;
                let replies = calls.into_iter().map(|call| {
                    Ok(QuotaReply {
                        now,
                        answer: batch.quota(&call)?,
                    })
                });
                replies.collect()
            })
            .await
        };
        match replies {
            Ok(replies) => replies.into_iter().map(Ok).collect(),
            Err(error) => vec![Err(error); count],
        }
    }
}

impl Batch<'_> {
    fn quota(&mut self, call: &Call) -> Answered {
        let now = self.now;
        match call {
            Call::Get(id) => read::get(self.connection, *id, now),
            Call::Headroom(id) => read::headroom(self.connection, *id, now),
            Call::SlotsToCheck {
                quota_policy_id,
                after,
                limit,
            } => {
                let asked = Asked {
                    after: *after,
                    limit: *limit,
                    now,
                };
                read::slots_to_check(self.connection, *quota_policy_id, &asked)
            }
            Call::List {
                namespace,
                after,
                limit,
            } => {
                let asked = Asked {
                    after: *after,
                    limit: *limit,
                    now,
                };
                read::list(self.connection, namespace, &asked)
            }
            Call::Create {
                quota_policy_id,
                command,
            } => self.create_quota(*quota_policy_id, command),
            Call::Update {
                quota_policy_id,
                command,
            } => self.change_quota(*quota_policy_id, |_, ledger| Ok(update(ledger, command, now))),
            Call::Delete(id) => self.change_quota(*id, |batch, ledger| {
                batch.delete_quota(ledger).map(|deleted| Ok(Answer::Deleted(deleted)))
            }),
            Call::Admit { quota_policy_id, ask } => self.change_quota(*quota_policy_id, |batch, ledger| {
                batch
                    .admit(ledger, ask)
                    .map(|admission| Ok(Answer::Admission(admission)))
            }),
            Call::Release {
                quota_policy_id,
                grant_id,
            } => self.change_quota(*quota_policy_id, |batch, ledger| {
                batch
                    .release_slot(ledger, *grant_id)
                    .map(|released| Ok(Answer::Released(released)))
            }),
            Call::Advance(id) => self.change_quota(*id, |batch, ledger| {
                let (outlook, places) = (ledger.outlook(batch.connection)?, ledger.places(batch.connection, now)?);
                Ok(Ok(Answer::Work(quota::release_when_due(
                    &mut ledger.policy,
                    &outlook,
                    places,
                    now,
                ))))
            }),
            Call::MarkBlocked {
                quota_policy_id,
                partition,
                continues,
            } => self.mark_quota(*quota_policy_id, |policy| {
                quota::mark_blocked(policy, *partition, *continues);
            }),
            Call::ForgetBlocked {
                quota_policy_id,
                partition,
                round,
            } => self.mark_quota(*quota_policy_id, |policy| {
                quota::forget_blocked(policy, *partition, *round);
            }),
            Call::ForgetContinuing {
                quota_policy_id,
                partition,
                round,
            } => self.mark_quota(*quota_policy_id, |policy| {
                quota::forget_continuing(policy, *partition, *round);
            }),
        }
    }

    fn create_quota(&mut self, id: QuotaPolicyId, command: &CreateQuotaPolicy) -> Answered {
        let before = Ledger::load(self.connection, id)?;
        let mut slot = before.as_ref().map(bare);
        let created = quota::create(&mut slot, id, command, self.now);
        if let (None, Some(quota)) = (&before, slot) {
            self.put_quota(None, Ledger::new(quota.policy))?;
        }
        Ok(created.map(Answer::Created))
    }

    fn change_quota(&mut self, id: QuotaPolicyId, change: impl FnOnce(&Self, &mut Ledger) -> Answered) -> Answered {
        let Some(before) = Ledger::load(self.connection, id)? else {
            return Ok(Err(quota::not_found(id)));
        };
        let mut ledger = before.clone();
        let answer = change(self, &mut ledger)?;
        self.put_quota(Some(&before), ledger)?;
        Ok(answer)
    }

    fn mark_quota(&mut self, id: QuotaPolicyId, mark: impl FnOnce(&mut QuotaPolicy)) -> Answered {
        self.change_quota(id, |_, ledger| {
            mark(&mut ledger.policy);
            Ok(Ok(Answer::Done))
        })
    }

    /// What is taken may be much: it stops counting now and is deleted later, little by little.
    fn delete_quota(&self, ledger: &mut Ledger) -> rusqlite::Result<Deleted> {
        let mut quota = bare(ledger);
        let deleted = quota::delete(&mut quota, self.now);
        if deleted == Deleted::Now {
            *ledger = Ledger {
                policy: quota.policy,
                slots: 0,
                first_place: ledger.next_place,
                ..ledger.clone()
            };
            self.run(include_str!("../../sql/insert_leftover.sql"), [ledger.id()])?;
        }
        Ok(deleted)
    }

    /// Writes a policy that changed, and tells what that does to its timer and generation.
    fn put_quota(&mut self, before: Option<&Ledger>, mut ledger: Ledger) -> rusqlite::Result<()> {
        if before == Some(&ledger) {
            return Ok(());
        }
        let id = ledger.policy.id;
        let partition = self.shared.counts.of_quota(id);
        ledger.due_at = quota::due_when(&ledger.policy, &ledger.outlook(self.connection)?);
        ledger.put(self, partition)?;
        if before.is_some_and(|before| before.policy.generation != ledger.policy.generation) {
            self.hint(Hint::Cause(Cause::Quota(id)));
        }
        if before.and_then(|before| before.due_at) != ledger.due_at {
            self.note_due(partition, ledger.due_at);
        }
        Ok(())
    }
}

fn update(ledger: &mut Ledger, command: &UpdateQuotaPolicy, now: Timestamp) -> std::result::Result<Answer, Rejection> {
    let mut quota = bare(ledger);
    let updated = quota::update(&mut quota, command, now)?;
    ledger.policy = quota.policy;
    Ok(Answer::Updated(updated))
}

/// The policy for functions that look at nothing that is taken of it.
fn bare(ledger: &Ledger) -> Quota {
    Quota {
        policy: ledger.policy.clone(),
        usage: QuotaUsage::default(),
    }
}
