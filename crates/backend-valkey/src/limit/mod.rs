//! What budgets and quota policies share: plain fields, few calls for many questions, and changes that find what they read.

mod ask;
mod fields;
mod put;
mod waves;

pub(crate) use ask::{Item, Listed, member};
pub(crate) use fields::Fields;
pub(crate) use put::{Put, TRIES_MAX, contended, pause};
pub(crate) use waves::{Chain, Kind, waves};

#[cfg(test)]
mod tests {
    use ff_core::limits::GRANT_TTL_MAX;
    use ff_core::machine::quota::WINDOW_MAX;
    use ff_core::record::{AMOUNT_MAX, DIMENSIONS_MAX};

    use crate::library::LIBRARY;

    #[test]
    fn the_library_has_the_numbers_of_the_rules() {
        for line in [
            format!("local AMOUNT_MAX = {AMOUNT_MAX}"),
            format!("local DIMENSIONS_MAX = {DIMENSIONS_MAX}"),
            format!("local GRANT_TTL_MAX_MS = {}", GRANT_TTL_MAX.as_millis()),
            format!("local WINDOW_MAX_MS = {}", WINDOW_MAX.as_millis()),
        ] {
            assert!(LIBRARY.text.lines().any(|found| found == line), "{line}");
        }
    }
}
