//! Why a handler did not do its work.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use ff_core::limits::TEXT_BYTES_MAX;
use ff_core::name::Category;
use ff_core::record::Failure;

use crate::ctx::Stop;

/// Why a task failed, as its handler says it.
///
/// Made from any error by `?`, which is then worth another try (category `transient`) if the policy has one left.
///
/// ```
/// use ff_sdk::{TaskError, secs};
///
/// let busy = std::io::Error::other("come back later");
/// let error = TaskError::category("rate_limited", busy).retry_after(secs(30));
/// assert_eq!(error.to_string(), "come back later");
/// assert!(!error.is_permanent());
/// ```
pub struct TaskError {
    category: Category,
    retry_after: Option<Duration>,
    source: Source,
}

/// What is told: an error with its causes, or a sentence.
enum Source {
    Error(Box<dyn Error + Send + Sync>),
    Recorded(String),
    Stopped(Stop),
}

/// What stands for an error or for a sentence: `&str`, `String` and every error.
type Cause = Box<dyn Error + Send + Sync>;

impl TaskError {
    /// A failure that another try may mend.
    pub fn transient(cause: impl Into<Cause>) -> Self {
        Self::of(named("transient"), cause.into())
    }

    /// A failure that no retry will mend.
    pub fn permanent(cause: impl Into<Cause>) -> Self {
        Self::of(Category::permanent(), cause.into())
    }

    /// A failure of a category that the retry policy can name: 1 to 64 of `a-z`, `0-9` and `_`. A word that is none becomes one:
    /// a failure must not fail.
    pub fn category(category: &str, cause: impl Into<Cause>) -> Self {
        Self::of(named(category), cause.into())
    }

    /// A retry comes neither before this much time has passed nor before its backoff is over.
    #[must_use]
    pub const fn retry_after(mut self, pause: Duration) -> Self {
        self.retry_after = Some(pause);
        self
    }

    /// A handler that panicked.
    pub(crate) fn panicked(message: &str) -> Self {
        Self::of(named("panic"), format!("the handler panicked: {message}").into())
    }

    /// What was recorded of a failure before.
    pub(crate) fn recorded(failure: Failure) -> Self {
        Self {
            category: failure.category,
            retry_after: None,
            source: Source::Recorded(failure.reason),
        }
    }

    fn of(category: Category, cause: Cause) -> Self {
        Self {
            category,
            retry_after: None,
            source: Source::Error(cause),
        }
    }

    /// What the retry policy goes by.
    pub fn category_name(&self) -> &str {
        self.category.as_str()
    }

    /// Whether no retry will mend it.
    pub fn is_permanent(&self) -> bool {
        self.category == Category::permanent()
    }

    /// The pause that was asked for.
    pub const fn pause(&self) -> Option<Duration> {
        self.retry_after
    }

    /// The error itself, if it is of this type.
    pub fn downcast_ref<E: Error + 'static>(&self) -> Option<&E> {
        match &self.source {
            Source::Error(error) => error.downcast_ref(),
            Source::Recorded(_) | Source::Stopped(_) => None,
        }
    }

    /// Why the handler was asked to stop, if that is all it says.
    pub(crate) const fn stop(&self) -> Option<&Stop> {
        match &self.source {
            Source::Stopped(stop) => Some(stop),
            Source::Error(_) | Source::Recorded(_) => None,
        }
    }

    /// As it is stored: what is told, with its causes, in 4 KiB.
    pub(crate) fn into_failure(self) -> Failure {
        Failure {
            reason: cut(self.told(), TEXT_BYTES_MAX),
            category: self.category,
        }
    }

    /// The error and its causes in one line; a cause that is repeated by what it caused is told once.
    fn told(&self) -> String {
        let error = match &self.source {
            Source::Recorded(reason) => return reason.clone(),
            Source::Stopped(stop) => return stop.to_string(),
            Source::Error(error) => error,
        };
        let mut told = error.to_string();
        let mut cause = error.source();
        while let Some(inner) = cause {
            let words = inner.to_string();
            if !told.contains(&words) {
                told = format!("{told}: {words}");
            }
            cause = inner.source();
        }
        told
    }
}

/// The category of these letters, or of what can be made of them.
fn named(category: &str) -> Category {
    let letters = category.chars().map(|letter| match letter.to_ascii_lowercase() {
        letter @ ('a'..='z' | '0'..='9') => letter,
        _ => '_',
    });
    let name: String = letters.take(ff_core::name::CATEGORY_BYTES_MAX).collect();
    Category::parse(&name).unwrap_or_else(|_| Category::permanent())
}

/// The first `bytes_max` bytes of a text, in whole letters.
pub(crate) fn cut(mut text: String, bytes_max: usize) -> String {
    if text.len() > bytes_max {
        let mut end = bytes_max - "…".len();
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
        text.push('…');
    }
    text
}

/// Not an error itself, as then it could not be made from every error.
impl<E: Error + Send + Sync + 'static> From<E> for TaskError {
    fn from(error: E) -> Self {
        Self::transient(error)
    }
}

/// A handler that stops because it was asked to has not failed.
impl From<Stop> for TaskError {
    fn from(stop: Stop) -> Self {
        Self {
            category: named("cancelled"),
            retry_after: None,
            source: Source::Stopped(stop),
        }
    }
}

impl fmt::Display for TaskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.told())
    }
}

impl fmt::Debug for TaskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.category, self.told())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::duration::secs;

    #[derive(Debug, thiserror::Error)]
    #[error("the page cannot be read")]
    struct Page(#[source] std::io::Error);

    fn read() -> Result<(), TaskError> {
        Err(Page(std::io::Error::other("no route to host")))?;
        Ok(())
    }

    #[test]
    fn any_error_is_worth_another_try_and_keeps_its_causes() {
        let failure = read().unwrap_err().into_failure();
        assert_eq!(failure.category.as_str(), "transient");
        assert_eq!(failure.reason, "the page cannot be read: no route to host");
    }

    #[test]
    fn a_category_that_is_none_becomes_one() {
        let error = TaskError::category("Rate limited!", "x").retry_after(secs(3));
        assert_eq!(error.category_name(), "rate_limited_");
        assert_eq!(error.pause(), Some(secs(3)));
        assert_eq!(TaskError::category("", "x").category_name(), "permanent");
        assert_eq!(
            TaskError::category(&"é".repeat(100), "x").category_name(),
            "_".repeat(64)
        );
    }

    #[test]
    fn a_long_reason_is_cut_between_letters() {
        let failure = TaskError::permanent("é".repeat(4_000)).into_failure();
        assert!(failure.reason.len() <= 4_096, "{}", failure.reason.len());
        assert!(failure.reason.ends_with("é…"));
    }

    #[test]
    fn the_error_itself_can_be_asked_for() {
        let error = read().unwrap_err();
        assert!(error.downcast_ref::<Page>().is_some());
        assert!(error.downcast_ref::<fmt::Error>().is_none());
    }
}
