//! Whether two clocks agree.

use std::time::SystemTime;

use ff_core::time::{Duration, Timestamp};

use super::Finding;
use crate::at::{About, Opened};
use crate::verbs::when;

/// What a request may take: no sign of clocks that differ.
const USUAL: Duration = Duration::from_secs(2);

/// The store's clock beside this machine's.
pub(super) fn compare(opened: &Opened) -> Finding {
    if matches!(&opened.about, About::Server(info) if info.clock == "virtual") {
        return Finding::good("clock", "virtual: whoever tests moves it");
    }
    let since_1970 = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    let own = Timestamp::from_millis(u64::try_from(since_1970.as_millis()).unwrap_or(u64::MAX));
    judge(opened.now, own)
}

fn judge(store: Timestamp, own: Timestamp) -> Finding {
    let (apart, which) = match store >= own {
        true => (store.since(own), "ahead of"),
        false => (own.since(store), "behind"),
    };
    if apart <= USUAL {
        return Finding::good("clock", "the store and this machine agree");
    }
    let detail = format!("the store is {} {which} this machine", when::span(apart));
    let advice = "Let both machines follow a time server. Moments that clients name mean something else to the store until then.";
    Finding::doubtful("clock", detail, advice)
}

#[cfg(test)]
mod tests {
    use super::super::Verdict;
    use super::*;

    #[test]
    fn clocks_that_differ_are_told_with_the_direction() {
        let at = |millis: u64| Timestamp::from_millis(1_800_000_000_000 + millis);
        assert!(judge(at(0), at(1_500)).verdict == Verdict::Good);
        assert!(judge(at(90_000), at(0)).detail.contains("1 min ahead of"));
        assert!(judge(at(0), at(3_000)).detail.contains("3.0 s behind"));
    }
}
