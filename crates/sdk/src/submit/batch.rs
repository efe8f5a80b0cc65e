//! Many submissions in few calls.

use ff_core::fabric::Fabric;
use ff_core::limits::{BATCH_ITEMS_MAX, BODY_BATCH_BYTES_MAX};

use super::{Draft, IntoSubmission};
use crate::client::Client;
use crate::error::{Error, Result};
use crate::run::Run;
use crate::task::Task;

/// The run of what is submitted.
pub type RunOf<S> = Run<<<S as IntoSubmission>::Task as Task>::Output>;

impl Client {
    /// Submits many tasks of one kind, a thousand per call, and answers for each in their order.
    ///
    /// One that is refused does not fail the others. Where a call as a whole fails, each of its tasks has that error: they
    /// may have been submitted, and those with an idempotency key can be submitted again.
    pub async fn submit_all<S: IntoSubmission>(
        &self,
        tasks: impl IntoIterator<Item = S>,
    ) -> Result<Vec<Result<RunOf<S>>>> {
        let drafts: Vec<_> = tasks
            .into_iter()
            .map(|task| Draft::of(task.into_submission()))
            .collect();
        self.send_all(drafts).await
    }

    async fn send_all<O>(&self, drafts: Vec<Result<Draft>>) -> Result<Vec<Result<Run<O>>>> {
        self.ready().await?;
        let mut answers: Vec<Option<Result<Run<O>>>> = drafts.iter().map(|_| None).collect();
        let mut good = Vec::with_capacity(drafts.len());
        for (index, draft) in drafts.into_iter().enumerate() {
            match draft {
                Ok(draft) => good.push((index, draft)),
                Err(error) => answers[index] = Some(Err(error)),
            }
        }
        for part in parts(&good) {
            for (index, answer) in self.send_part(part).await {
                answers[index] = Some(answer);
            }
        }
        Ok(answers.into_iter().flatten().collect())
    }

    /// Sends one call's worth.
    async fn send_part<O>(&self, part: &[(usize, Draft)]) -> Vec<(usize, Result<Run<O>>)> {
        let (mut commands, mut sent, mut answers) = (Vec::new(), Vec::new(), Vec::new());
        for (index, draft) in part {
            match draft.command(self).await {
                Ok(command) => {
                    commands.push(command);
                    sent.push((*index, draft));
                }
                Err(error) => answers.push((*index, Err(error))),
            }
        }
        if commands.is_empty() {
            return answers;
        }
        let results = match self.create_executions(commands).await {
            Ok(results) => results,
            Err(rejection) => sent.iter().map(|_| Err(rejection.clone())).collect(),
        };
        answers.extend(sent.into_iter().zip(results).map(|((index, draft), result)| {
            let accepted = result.map_err(Error::from).and_then(|created| draft.accept(created));
            (index, accepted.map(|id| self.run_of(id)))
        }));
        answers
    }
}

/// Cuts drafts into parts that one call takes.
fn parts(mut drafts: &[(usize, Draft)]) -> Vec<&[(usize, Draft)]> {
    let mut parts = Vec::new();
    while !drafts.is_empty() {
        let (part, rest) = drafts.split_at(part_length(drafts.iter().map(|(_, draft)| draft.size())));
        parts.push(part);
        drafts = rest;
    }
    parts
}

/// How many of these sizes fit into one call; one does, however large it is: the server says better what is wrong with it.
fn part_length(sizes: impl Iterator<Item = usize>) -> usize {
    let mut bytes = 0;
    let fitting = sizes.take(BATCH_ITEMS_MAX).take_while(|size| {
        bytes += size;
        bytes <= BODY_BATCH_BYTES_MAX
    });
    fitting.count().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_takes_a_thousand_or_as_many_as_its_bytes_allow() {
        assert_eq!(part_length(std::iter::repeat_n(100, 2_500)), 1_000);
        assert_eq!(part_length(std::iter::repeat_n(1024 * 1024, 100)), 16);
        assert_eq!(part_length([BODY_BATCH_BYTES_MAX + 1, 1].into_iter()), 1);
    }
}
