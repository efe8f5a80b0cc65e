//! How much one key may ask for at once, and how often somebody may guess.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use ff_core::caller::Caller;
use ff_core::error::{Code, Rejection};
use ff_core::name::{Identity, Namespace};
use http_body_util::BodyExt;
use tokio::time::Instant;

use crate::settings::Settings;

/// Failed guesses of a waitpoint's token from one address: so many at once, and so many per minute.
const FAILURES_PER_MINUTE: u32 = 60;
/// Keys or guessers that are remembered at once.
const REMEMBERED_MAX: usize = 20_000;
/// When to ask again for something of which there is only so much.
const TRY_AGAIN: Duration = Duration::from_secs(1);

/// The limits of a server. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Limits(Arc<Inner>);

struct Inner {
    streams: Arc<Places>,
    parked: Arc<Places>,
    requests: Option<Buckets<Key>>,
    failures: Buckets<(String, IpAddr)>,
}

/// Who shares a limit.
type Key = (Option<Namespace>, Option<Identity>);

fn key_of(caller: &Caller) -> Key {
    (caller.namespace.clone(), caller.actor.identity())
}

impl Limits {
    pub(crate) fn new(settings: &Settings) -> Self {
        let per_second = |rate: NonZeroU32| Buckets::new(rate.get(), Duration::from_secs(1));
        Self(Arc::new(Inner {
            streams: Places::new(settings.streams_per_key_max, settings.streams_max),
            parked: Places::new(settings.parked_polls_per_key_max, usize::MAX),
            requests: settings.requests_per_second_per_key.map(per_second),
            failures: Buckets::new(FAILURES_PER_MINUTE, Duration::from_secs(60)),
        }))
    }

    /// A place for a request that waits; held while it does.
    pub(crate) fn park(&self, caller: &Caller) -> Result<Permit, Rejection> {
        self.0.parked.take(key_of(caller), "waiting requests")
    }

    /// A place for a stream; held while it is open.
    pub(crate) fn stream(&self, caller: &Caller) -> Result<Permit, Rejection> {
        self.0.streams.take(key_of(caller), "streams")
    }

    /// Requests that wait.
    pub(crate) fn parked(&self) -> u64 {
        self.0.parked.taken().in_all as u64
    }

    /// Streams that are open.
    pub(crate) fn streams(&self) -> u64 {
        self.0.streams.taken().in_all as u64
    }

    /// Counts a request, and refuses it when its key asks too often.
    pub(crate) fn request(&self, caller: &Caller) -> Result<(), Rejection> {
        let Some(requests) = &self.0.requests else {
            return Ok(());
        };
        let key = key_of(caller);
        requests
            .check(&key)
            .map_err(|wait| too_often("this key asks too often", wait))?;
        requests.count(key);
        Ok(())
    }

    /// Makes a call that shows a token for `waitpoint`. Whoever at `address` has shown too many wrong ones lately is refused;
    /// others may go on.
    pub(crate) async fn guessing<T>(
        &self,
        waitpoint: String,
        address: IpAddr,
        call: impl Future<Output = Result<T, Rejection>>,
    ) -> Result<T, Rejection> {
        let (failures, guesser) = (&self.0.failures, (waitpoint, network(address)));
        failures
            .check(&guesser)
            .map_err(|wait| too_often("too many wrong tokens for this waitpoint from this address", wait))?;
        let outcome = call.await;
        if outcome
            .as_ref()
            .is_err_and(|refused| refused.code == Code::InvalidToken)
        {
            failures.count(guesser);
        }
        outcome
    }
}

/// A machine has a whole network of addresses in IPv6.
fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(address) if address.to_ipv4_mapped().is_none() => IpAddr::V6((address.to_bits() >> 64 << 64).into()),
        other => other,
    }
}

fn too_often(what: &str, wait: Duration) -> Rejection {
    let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX).max(1);
    Code::RateLimited
        .because(format!("{what}; try again in {wait_ms} ms"))
        .with("retry_after_ms", wait_ms)
}

/// So many places for each key and for all.
struct Places {
    per_key: usize,
    in_all: usize,
    taken: Mutex<Taken>,
}

#[derive(Default)]
struct Taken {
    in_all: usize,
    by_key: HashMap<Key, usize>,
}

/// A place, given back when this is dropped.
pub(crate) struct Permit {
    places: Arc<Places>,
    key: Key,
}

impl Places {
    fn new(per_key: usize, in_all: usize) -> Arc<Self> {
        Arc::new(Self {
            per_key,
            in_all,
            taken: Mutex::default(),
        })
    }

    fn take(self: &Arc<Self>, key: Key, what: &str) -> Result<Permit, Rejection> {
        let mut taken = self.taken();
        let of_key = taken.by_key.get(&key).copied().unwrap_or(0);
        let full = if of_key >= self.per_key {
            Some(format!("this key has {of_key} {what}, as many as a key may have"))
        } else if taken.in_all >= self.in_all {
            Some(format!("this server has {} {what}, as many as it takes", taken.in_all))
        } else {
            None
        };
        if let Some(detail) = full {
            let wait_ms = u64::try_from(TRY_AGAIN.as_millis()).unwrap_or(u64::MAX);
            return Err(Code::TooManyStreams.because(detail).with("retry_after_ms", wait_ms));
        }
        taken.in_all += 1;
        *taken.by_key.entry(key.clone()).or_default() += 1;
        Ok(Permit {
            places: Arc::clone(self),
            key,
        })
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Permit {
    /// Holds the place until the answer has been sent to its end.
    pub(crate) fn held_by(self, response: Response) -> Response {
        response.map(|body| {
            Body::new(body.map_frame(move |frame| {
                let _held = &self;
                frame
            }))
        })
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut taken = self.places.taken();
        taken.in_all -= 1;
        if let Some(of_key) = taken.by_key.get_mut(&self.key) {
            *of_key -= 1;
            if *of_key == 0 {
                taken.by_key.remove(&self.key);
            }
        }
    }
}

/// So many of something in a time, for everybody who does it. What is remembered of each is when their last ones are
/// worked off; somebody of whom that is past needs no remembering.
struct Buckets<K> {
    each: Duration,
    burst: Duration,
    worked_off: Mutex<HashMap<K, Instant>>,
}

impl<K: Hash + Eq> Buckets<K> {
    fn new(most: u32, per: Duration) -> Self {
        Self {
            each: per / most.max(1),
            burst: per,
            worked_off: Mutex::default(),
        }
    }

    fn worked_off(&self) -> MutexGuard<'_, HashMap<K, Instant>> {
        self.worked_off.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Refuses with how long to wait when there is no room for one more.
    fn check(&self, key: &K) -> Result<(), Duration> {
        let now = Instant::now();
        let ahead = self.worked_off().get(key).map(|at| at.saturating_duration_since(now));
        match (ahead.unwrap_or_default() + self.each).saturating_sub(self.burst) {
            Duration::ZERO => Ok(()),
            wait => Err(wait),
        }
    }

    fn count(&self, key: K) {
        let now = Instant::now();
        let mut worked_off = self.worked_off();
        if worked_off.len() >= REMEMBERED_MAX && !worked_off.contains_key(&key) {
            worked_off.retain(|_, at| *at > now);
            if worked_off.len() >= REMEMBERED_MAX {
                // More at once than anybody honest: forgetting all costs them less than a search on every request costs us.
                worked_off.clear();
            }
        }
        let at = worked_off.entry(key).or_insert(now);
        *at = (*at).max(now) + self.each;
    }
}

#[cfg(test)]
mod tests {
    use ff_core::record::Actor;

    use super::*;

    fn named(name: &str) -> Caller {
        Caller {
            actor: Actor::Client(Identity::parse(name).unwrap()),
            ..Caller::local()
        }
    }

    #[test]
    fn a_key_has_only_so_many_places_and_so_have_all_together() {
        let limits = Limits::new(&Settings {
            streams_per_key_max: 2,
            streams_max: 3,
            ..Settings::default()
        });
        let mut held: Vec<_> = (0..2).map(|_| limits.stream(&named("a")).unwrap()).collect();
        let refused = limits.stream(&named("a")).err().unwrap();
        assert_eq!(refused.code, Code::TooManyStreams);
        assert!(refused.fields.contains_key("retry_after_ms"));
        held.push(limits.stream(&named("b")).unwrap());
        assert_eq!(limits.stream(&named("c")).err().unwrap().code, Code::TooManyStreams);
        assert!(
            limits.park(&named("a")).is_ok(),
            "waiting requests have places of their own"
        );
        held.clear();
        assert!(limits.stream(&named("a")).is_ok() && limits.0.streams.taken().by_key.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_key_asks_only_so_often() {
        let limits = Limits::new(&Settings {
            requests_per_second_per_key: NonZeroU32::new(10),
            ..Settings::default()
        });
        for _ in 0..10 {
            limits.request(&named("a")).unwrap();
        }
        let refused = limits.request(&named("a")).unwrap_err();
        assert_eq!(
            (refused.code, &refused.fields["retry_after_ms"]),
            (Code::RateLimited, &100.into())
        );
        limits.request(&named("b")).unwrap();
        tokio::time::advance(Duration::from_millis(100)).await;
        limits.request(&named("a")).unwrap();
        limits.request(&named("a")).unwrap_err();
    }

    #[tokio::test(start_paused = true)]
    async fn guessing_locks_out_nobody_else() {
        let limits = Limits::new(&Settings::default());
        let guess = async |waitpoint: &str, address: &str, token: Result<(), Code>| {
            let outcome = token.map_err(|code| code.because("no"));
            let call = limits.guessing(waitpoint.to_owned(), address.parse().unwrap(), async { outcome });
            call.await.map_err(|refused| refused.code)
        };
        let (guesser, wrong) = ("192.0.2.1", Err(Code::InvalidToken));
        for _ in 0..60 {
            assert_eq!(guess("w", guesser, wrong).await, wrong);
        }
        assert_eq!(guess("w", guesser, Ok(())).await, Err(Code::RateLimited));
        assert_eq!(guess("w", "192.0.2.2", Ok(())).await, Ok(()));
        assert_eq!(guess("other", guesser, Ok(())).await, Ok(()));
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(
            guess("w", guesser, Ok(())).await,
            Ok(()),
            "what is right does not count"
        );
        assert_eq!(guess("w", guesser, wrong).await, wrong);
        assert_eq!(guess("w", guesser, wrong).await, Err(Code::RateLimited));
    }

    #[test]
    fn a_network_of_addresses_is_one_guesser() {
        let same = |a: &str, b: &str| network(a.parse().unwrap()) == network(b.parse().unwrap());
        assert!(same("2001:db8::1", "2001:db8::2:3") && !same("2001:db8:0:1::", "2001:db8::"));
        assert!(!same("192.0.2.1", "192.0.2.2") && !same("::ffff:192.0.2.1", "::ffff:192.0.2.2"));
    }

    #[test]
    fn what_is_remembered_of_guessers_is_bounded() {
        let buckets = Buckets::new(1, Duration::from_secs(60));
        (0..3 * REMEMBERED_MAX).for_each(|key| buckets.count(key));
        assert!(buckets.worked_off().len() <= REMEMBERED_MAX);
    }
}
