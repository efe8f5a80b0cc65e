//! The options again, as methods of whatever is submitted with them.

/// Writes the methods of [`super::TaskOptions`] for a builder that has `adjust`, which changes its options.
macro_rules! option_methods {
    () => {
        $crate::options::option_methods! {
            /// The queue workers claim it from.
            lane(lane: impl AsRef<str>);
            /// 0 to 9,000, higher first.
            priority(priority: u16);
            /// A label that listings can be filtered by; the key matches `[a-z][a-z0-9_.-]{0,127}`.
            tag(key: impl Into<String>, value: impl Into<String>);
            /// Several labels.
            tags(tags: impl IntoIterator<Item = (impl Into<String>, impl Into<String>)>);
            /// The trace it is part of, as W3C Trace Context writes it; part of what is compared under an idempotency key.
            traceparent(traceparent: impl AsRef<str>);
            /// How often a failed attempt is tried again.
            retries(count: u32);
            /// The pauses before retries: the first, doubled each time up to the last.
            backoff(pauses: std::ops::Range<std::time::Duration>);
            /// The same pause before every retry.
            fixed_backoff(pause: std::time::Duration);
            /// Only failures of these categories are retried.
            retry_on(categories: impl IntoIterator<Item = impl AsRef<str>>);
            /// How long one attempt may work; then it fails with category `timeout`, and may be retried.
            attempt_timeout(timeout: std::time::Duration);
            /// How long the whole may take from submission to end; then it expires.
            deadline(deadline: std::time::Duration);
            /// Providers and models in the order they are used: each retry moves one further, the last repeats.
            tiers(tiers: impl IntoIterator<Item = ff_core::policy::FallbackTier>);
            /// What a worker must offer to be handed it; adds to what was said before.
            capabilities(capabilities: impl IntoIterator<Item = impl AsRef<str>>);
            /// A budget that must be open for it to be claimed; several may be named.
            budget(budget: ff_core::id::BudgetId);
            /// The quota its leases count against.
            quota(quota: ff_core::id::QuotaPolicyId);
            /// How long it is kept once it has ended.
            retention(time: std::time::Duration);
            /// It is kept until a person deletes it.
            keep_forever();
            /// How long its idempotency key, its signals and its reports of usage are recognised.
            dedup_window(time: std::time::Duration);
            /// How many frames of each attempt are kept.
            frames_kept(count: u32);
            /// Changes the whole policy: for what has no method of its own.
            policy(change: impl FnOnce(&mut ff_core::policy::Policy));
        }
    };
    ($($(#[$doc:meta])* $name:ident($($argument:ident: $type:ty),*);)+) => {
        $(
            $(#[$doc])*
            pub fn $name(self, $($argument: $type),*) -> Self {
                self.adjust(|options| options.$name($($argument),*))
            }
        )+
    };
}

pub(crate) use option_methods;
