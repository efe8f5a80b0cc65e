//! A crash after every step of a scenario.

use std::fmt::Debug;

use futures::future::LocalBoxFuture;

use super::records::Recording;
use super::{TestBuilder, TestEngine};

/// A scenario whose worker is to crash after each of its steps; await it.
#[must_use = "nothing runs until it is awaited"]
pub struct CrashEverywhere<'a, T> {
    make: Box<dyn Fn() -> TestBuilder + 'a>,
    scenario: Box<dyn Fn(TestEngine) -> LocalBoxFuture<'a, T> + 'a>,
}

/// Runs a scenario once as it is, then once for each step it records, with a worker that dies as soon as that step is recorded.
/// Every run must come to the same, and nothing that was recorded may be done again. It gives what the first run came to.
///
/// # Panics
///
/// When a run comes to something else, repeats what was recorded, or does not come by the same steps.
pub fn crash_everywhere<'a, T, Fut>(
    make: impl Fn() -> TestBuilder + 'a,
    scenario: impl Fn(TestEngine) -> Fut + 'a,
) -> CrashEverywhere<'a, T>
where
    Fut: Future<Output = T> + 'a,
{
    CrashEverywhere {
        make: Box::new(make),
        scenario: Box::new(move |test| Box::pin(scenario(test))),
    }
}

impl<T> CrashEverywhere<'_, T> {
    /// Compares only what `part` gives of what the runs come to: where it holds times or ids, which differ each time.
    pub async fn compare<P: PartialEq + Debug>(self, part: impl Fn(&T) -> P) -> T {
        let same = |came: &T, expected: &T, crash: &Recording| {
            assert_eq!(part(came), part(expected), "{}", told(crash));
        };
        self.run(same).await
    }

    async fn run(self, same: impl Fn(&T, &T, &Recording)) -> T {
        let test = (self.make)().start().await;
        let expected = (self.scenario)(test.clone()).await;
        let steps = test.inner.records.recorded();
        for crash in &steps {
            let test = (self.make)().start().await;
            test.inner.records.crash_after(crash.clone());
            let came = (self.scenario)(test.clone()).await;
            let records = &test.inner.records;
            assert!(
                !records.is_armed(),
                "not repeatable: step {crash} did not turn up when the scenario ran again"
            );
            same(&came, &expected, crash);
            let others: Vec<_> = records
                .recorded()
                .into_iter()
                .filter(|step| !steps.contains(step))
                .collect();
            assert!(
                others.is_empty(),
                "not repeatable: with a crash after {crash} there are steps that were not there before: {}",
                listed(&others)
            );
            let repeated = records.repeated();
            assert!(
                repeated.is_empty(),
                "with a crash after {crash} what was recorded was done again: {repeated:?}"
            );
        }
        expected
    }
}

impl<'a, T: PartialEq + Debug + 'a> IntoFuture for CrashEverywhere<'a, T> {
    type Output = T;
    type IntoFuture = LocalBoxFuture<'a, T>;

    fn into_future(self) -> Self::IntoFuture {
        let same = |came: &T, expected: &T, crash: &Recording| assert_eq!(came, expected, "{}", told(crash));
        Box::pin(self.run(same))
    }
}

fn listed(steps: &[Recording]) -> String {
    let steps: Vec<String> = steps.iter().map(ToString::to_string).collect();
    steps.join(", ")
}

fn told(crash: &Recording) -> String {
    format!("with a crash after {crash} the scenario comes to something else")
}
