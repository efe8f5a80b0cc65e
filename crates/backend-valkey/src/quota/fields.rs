//! A quota policy as the fields of its hash, which the library reads and writes too. `revision`, `due` and `places_over`
//! belong to the library alone.

use ff_backend::Result;
use ff_core::id::QuotaPolicyId;
use ff_core::name::Namespace;
use ff_core::record::{Promise, QuotaPolicy};
use ff_core::time::{Duration, Timestamp};

use crate::error::corrupt;
use crate::limit::Fields;

/// The fields of a policy.
pub(super) fn encode(policy: &QuotaPolicy) -> Fields {
    Fields::default()
        .with("namespace", &policy.namespace)
        .with("window_ms", &policy.window.as_millis())
        .with_some("max_requests_per_window", policy.max_requests_per_window)
        .with_some("max_concurrent", policy.max_concurrent)
        .with("jitter_ms", &policy.jitter.as_millis())
        .with("created_at", &policy.created_at)
        .with("definition_digest", &policy.definition_digest)
        .with("generation", &policy.generation)
        .with("generation_at", &policy.generation_at)
        .with_some("deleted_at", policy.deleted_at)
        .with_document("blocked_in", &policy.blocked_in)
        .with_document("continuing_in", &policy.continuing_in)
        .with_some("promise_count", policy.promise.map(|promise| promise.count))
        .with_some("promise_until", policy.promise.map(|promise| promise.until))
}

/// The policy of fields.
pub(super) fn decode(id: QuotaPolicyId, fields: &Fields) -> Result<QuotaPolicy> {
    let moment = |name| fields.get(name).map(Timestamp::from_millis);
    let span = |name| fields.get(name).map(Duration::from_millis);
    let promise = |count| -> Result<Promise> {
        let until = moment("promise_until")?;
        Ok(Promise { count, until })
    };
    Ok(QuotaPolicy {
        id,
        namespace: fields.get::<Namespace>("namespace")?,
        window: span("window_ms")?,
        max_requests_per_window: fields.find("max_requests_per_window")?,
        max_concurrent: fields.find("max_concurrent")?,
        jitter: span("jitter_ms")?,
        created_at: moment("created_at")?,
        definition_digest: fields.get::<String>("definition_digest")?.try_into().map_err(corrupt)?,
        generation: fields.get("generation")?,
        generation_at: moment("generation_at")?,
        deleted_at: fields.moment("deleted_at")?,
        blocked_in: fields.document("blocked_in")?,
        continuing_in: fields.document("continuing_in")?,
        promise: fields.find("promise_count")?.map(promise).transpose()?,
        carried: Default::default(),
    })
}

#[cfg(test)]
mod tests {
    use ff_core::digest::Digest;
    use ff_core::partition::Partition;
    use ff_core::record::BlockedIn;
    use uuid::Uuid;

    use super::*;

    /// Every bit of `bits` says whether a policy has one of the things it may have.
    fn policy(bits: u32) -> QuotaPolicy {
        let has = |bit: u32| bits & (1 << bit) != 0;
        let blocked = |is_blocked| {
            let mut blocked_in = BlockedIn::default();
            for index in [3, 17].into_iter().filter(|_| is_blocked) {
                blocked_in.mark(Partition::flow(index), u64::MAX);
            }
            blocked_in
        };
        QuotaPolicy {
            id: QuotaPolicyId::from_uuid(Uuid::from_u128(1)),
            namespace: Namespace::parse("team/a%2F").unwrap(),
            window: Duration::from_secs(60),
            max_requests_per_window: has(0).then_some(0),
            max_concurrent: has(1).then_some(u64::MAX),
            jitter: Duration::ZERO,
            created_at: Timestamp::from_millis(1),
            definition_digest: Digest::of("test", ["policy"]),
            generation: u64::MAX,
            generation_at: Timestamp::from_millis(2),
            deleted_at: has(2).then_some(Timestamp::MAX),
            blocked_in: blocked(has(3)),
            continuing_in: blocked(has(4)),
            promise: has(5).then_some(Promise {
                count: 2,
                until: Timestamp::from_millis(3),
            }),
            carried: Default::default(),
        }
    }

    #[test]
    fn a_policy_of_fields_is_the_policy_the_fields_are_of() {
        for bits in 0..1 << 6 {
            let policy = policy(bits);
            assert_eq!(decode(policy.id, &encode(&policy)).unwrap(), policy);
        }
    }
}
