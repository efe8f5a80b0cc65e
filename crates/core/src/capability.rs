//! Capabilities: what an execution requires and a worker offers, and the queue that follows from it.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize, Serializer};

use crate::digest::Digest;
use crate::error::{Code, Rejection};
use crate::id::{BudgetId, QuotaPolicyId};

/// Most tokens in one set.
pub const CAPABILITIES_MAX: usize = 256;
/// Most bytes of a set joined by commas.
pub const CAPABILITY_BYTES_MAX: usize = 4_096;

/// A set of opaque tokens: sorted, without duplicates, cheap to clone.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(transform = crate::schema::text::capabilities)
)]
#[serde(try_from = "Vec<String>")]
pub struct CapabilitySet(Arc<[Box<str>]>);

impl CapabilitySet {
    /// Checks `tokens` against the limits; order and repetitions do not matter.
    pub fn parse<T: AsRef<str>>(tokens: impl IntoIterator<Item = T>) -> Result<Self, Rejection> {
        let mut set = BTreeSet::new();
        for (position, token) in tokens.into_iter().enumerate() {
            check_token(position, token.as_ref())?;
            set.insert(Box::from(token.as_ref()));
        }
        check_size(&set)?;
        Ok(Self(set.into_iter().collect()))
    }

    /// The tokens in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> + Clone {
        self.0.iter().map(AsRef::as_ref)
    }

    /// How many tokens there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a worker that offers this set may run what requires `required`.
    pub fn covers(&self, required: &CapabilitySet) -> bool {
        required.missing(self).next().is_none()
    }

    /// What of this (required) set `offered` lacks.
    pub fn missing_from<'a>(&'a self, offered: &'a CapabilitySet) -> Vec<&'a str> {
        self.missing(offered).collect()
    }

    /// 8 hex digits that stand for the set in logs.
    pub fn digest(&self) -> String {
        self.full_digest().short()
    }

    fn full_digest(&self) -> Digest {
        Digest::of("capabilities", self.iter().map(str::as_bytes))
    }

    /// Both sets are sorted, so one walk over the two finds the difference.
    fn missing<'a>(&'a self, offered: &'a CapabilitySet) -> impl Iterator<Item = &'a str> {
        let mut offered = offered.iter().peekable();
        self.iter().filter(move |required| {
            while let Some(token) = offered.peek() {
                match token.cmp(required) {
                    Ordering::Less => offered.next(),
                    Ordering::Equal => return false,
                    Ordering::Greater => return true,
                };
            }
            true
        })
    }
}

impl TryFrom<Vec<String>> for CapabilitySet {
    type Error = Rejection;

    fn try_from(tokens: Vec<String>) -> Result<Self, Rejection> {
        Self::parse(tokens)
    }
}

impl Serialize for CapabilitySet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl fmt::Debug for CapabilitySet {
    /// Logs carry the digest of a set, not the set.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CapabilitySet({} tokens, {})", self.len(), self.digest())
    }
}

/// Names a bad token by its position: what it says is not for logs.
fn check_token(position: usize, token: &str) -> Result<(), Rejection> {
    let fault = if token.is_empty() {
        "is empty"
    } else if token.contains(',') {
        "contains a comma"
    } else if token.chars().any(|c| c.is_whitespace() || c.is_control()) {
        "contains whitespace or a control character"
    } else {
        return Ok(());
    };
    Err(Code::InvalidCapabilities.because(format!("capability {position} (counted from 0) {fault}")))
}

fn check_size(tokens: &BTreeSet<Box<str>>) -> Result<(), Rejection> {
    let count = tokens.len();
    if count > CAPABILITIES_MAX {
        let detail = format!("{count} capabilities given, more than {CAPABILITIES_MAX}");
        return Err(Code::InvalidCapabilities.because(detail));
    }
    let commas = count.saturating_sub(1);
    let bytes = tokens.iter().map(|token| token.len()).sum::<usize>() + commas;
    if bytes > CAPABILITY_BYTES_MAX {
        let detail = format!("capabilities joined by commas have {bytes} bytes, more than {CAPABILITY_BYTES_MAX}");
        return Err(Code::InvalidCapabilities.because(detail));
    }
    Ok(())
}

/// What must be true of a worker and of the counters for work to be handed out: the key of an eligible queue.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Signature {
    /// What the worker must offer.
    #[serde(skip_serializing_if = "CapabilitySet::is_empty")]
    pub capabilities: CapabilitySet,
    /// Budgets that must be open.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub budgets: BTreeSet<BudgetId>,
    /// The quota policy that must have room.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quota: Option<QuotaPolicyId>,
}

impl Signature {
    /// 16 hex digits, the same in every process and release, to be part of a store's key.
    pub fn key(&self) -> String {
        let capabilities = self.capabilities.full_digest();
        // Capabilities and quota always come first, so the number of budgets needs no mark of its own.
        let quota = self.quota.map(|id| id.uuid().into_bytes().to_vec()).unwrap_or_default();
        let budgets = self.budgets.iter().map(|id| id.uuid().into_bytes().to_vec());
        Digest::of(
            "signature",
            [capabilities.as_bytes().to_vec(), quota].into_iter().chain(budgets),
        )
        .key()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use uuid::Uuid;

    use super::*;

    fn set(tokens: &[&str]) -> CapabilitySet {
        CapabilitySet::parse(tokens).unwrap()
    }

    #[test]
    fn order_and_repetitions_do_not_matter() {
        assert_eq!(set(&["gpu", "eu", "gpu"]), set(&["eu", "gpu"]));
        assert_eq!(set(&["gpu", "eu"]).iter().collect::<Vec<_>>(), ["eu", "gpu"]);
    }

    #[test]
    fn a_token_is_not_empty_and_has_no_comma_whitespace_or_control_character() {
        for bad in ["", "a,b", "a b", "a\tb", "a\u{2003}b", "a\u{7f}"] {
            let refused = CapabilitySet::parse(["ok", bad]).unwrap_err();
            assert_eq!(refused.code, Code::InvalidCapabilities, "{bad:?}");
            assert!(refused.detail.contains("capability 1"));
        }
        assert!(CapabilitySet::parse(["größe", "模型:v2"]).is_ok());
    }

    #[test]
    fn a_set_has_at_most_256_tokens() {
        let tokens = |count: usize| CapabilitySet::parse((0..count).map(|n| format!("t{n}")));
        assert_eq!(tokens(256).unwrap().len(), 256);
        assert_eq!(tokens(257).unwrap_err().code, Code::InvalidCapabilities);
    }

    #[test]
    fn a_set_has_at_most_4096_bytes_joined_by_commas() {
        let tokens = |second: usize| CapabilitySet::parse(["a".repeat(2_000), "b".repeat(second)]);
        assert!(tokens(2_095).is_ok());
        assert_eq!(tokens(2_096).unwrap_err().code, Code::InvalidCapabilities);
    }

    #[test]
    fn a_worker_matches_when_it_offers_all_that_is_required() {
        let offered = set(&["cuda", "eu", "gpu"]);
        for covered in [set(&[]), set(&["eu"]), set(&["cuda", "gpu"]), offered.clone()] {
            assert!(offered.covers(&covered), "{:?}", covered.0);
        }
        let required = set(&["a", "eu", "f", "z"]);
        assert!(!offered.covers(&required));
        assert_eq!(required.missing_from(&offered), ["a", "f", "z"]);
        assert_eq!(required.missing_from(&set(&[])), ["a", "eu", "f", "z"]);
    }

    proptest! {
        #[test]
        fn missing_is_the_difference_of_sets(
            required in prop::collection::btree_set("[a-d]{1,2}", 0..8),
            offered in prop::collection::btree_set("[a-d]{1,2}", 0..8),
        ) {
            let (left, right) = (CapabilitySet::parse(&required).unwrap(), CapabilitySet::parse(&offered).unwrap());
            let expected: Vec<&str> = required.difference(&offered).map(String::as_str).collect();
            prop_assert_eq!(left.missing_from(&right), expected);
            prop_assert_eq!(right.covers(&left), required.is_subset(&offered));
        }
    }

    #[test]
    fn debug_shows_a_digest_and_no_token() {
        let capabilities = set(&["secret-model"]);
        let shown = format!("{capabilities:?}");
        assert!(!shown.contains("secret") && shown.contains(&capabilities.digest()));
        assert_eq!(capabilities.digest().len(), 8);
        assert_ne!(set(&["ab", "c"]).digest(), set(&["a", "bc"]).digest());
    }

    #[test]
    fn a_set_is_stored_as_a_list_and_checked_when_read() {
        let capabilities = set(&["gpu", "eu"]);
        let json = serde_json::to_string(&capabilities).unwrap();
        assert_eq!(json, r#"["eu","gpu"]"#);
        assert_eq!(serde_json::from_str::<CapabilitySet>(&json).unwrap(), capabilities);
        let refused = serde_json::from_str::<CapabilitySet>(r#"["a b"]"#).unwrap_err();
        assert!(refused.to_string().contains("invalid_capabilities"));
    }

    #[test]
    fn every_part_of_a_signature_changes_its_key() {
        let (one, two) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let signature = |tokens: &[&str], budgets: &[Uuid], quota: Option<Uuid>| Signature {
            capabilities: set(tokens),
            budgets: budgets.iter().copied().map(BudgetId::from_uuid).collect(),
            quota: quota.map(QuotaPolicyId::from_uuid),
        };
        let keys = [
            signature(&[], &[], None),
            signature(&["gpu"], &[], None),
            signature(&["gpu"], &[one], None),
            signature(&["gpu"], &[one, two], None),
            signature(&["gpu"], &[], Some(one)),
            signature(&["gpu"], &[two], Some(one)),
        ]
        .map(|signature| signature.key());
        assert_eq!(BTreeSet::from(keys).len(), 6);
    }

    #[test]
    fn the_key_of_a_signature_is_the_same_in_every_release() {
        assert_eq!(Signature::default().key(), "d943c8aec0eb9c18");
        let signature: Signature =
            serde_json::from_str(r#"{"capabilities":["gpu"],"budgets":["00000000-0000-0000-0000-000000000001"]}"#)
                .unwrap();
        assert_eq!(signature.key(), "dad16f4731fb23d4");
    }
}
