//! Causes as words: `budget:<id>` and `quota:<id>`.

use ff_core::record::Cause;

use super::{Result, Unreadable};

/// The text that stands for a cause.
pub fn text(cause: Cause) -> String {
    match cause {
        Cause::Budget(id) => format!("budget:{id}"),
        Cause::Quota(id) => format!("quota:{id}"),
    }
}

/// The cause a text stands for.
pub fn parse(text: &str) -> Result<Cause> {
    match text.split_once(':') {
        Some(("budget", id)) => id.parse().map(Cause::Budget).map_err(Unreadable::new),
        Some(("quota", id)) => id.parse().map(Cause::Quota).map_err(Unreadable::new),
        _ => Err(Unreadable::new(format_args!("cause {text:?}"))),
    }
}

#[cfg(test)]
mod tests {
    use ff_core::id::{BudgetId, QuotaPolicyId};
    use uuid::Uuid;

    use super::*;

    #[test]
    fn a_cause_reads_as_it_was_written() {
        let uuid = Uuid::from_u128(7);
        for cause in [
            Cause::Budget(BudgetId::from_uuid(uuid)),
            Cause::Quota(QuotaPolicyId::from_uuid(uuid)),
        ] {
            assert_eq!(parse(&text(cause)), Ok(cause));
        }
    }

    #[test]
    fn what_is_no_cause_is_refused() {
        for text in [
            "",
            "budget",
            "budget:",
            "quota:x",
            "slot:00000000-0000-0000-0000-000000000007",
        ] {
            assert!(parse(text).is_err(), "{text:?}");
        }
    }
}
