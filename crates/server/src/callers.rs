//! Whose request it is.

use std::net::SocketAddr;
use std::sync::atomic::Ordering;

use axum::http::{HeaderMap, header};
use ff_core::caller::{Caller, Role};
use ff_core::error::{Code, Rejection};
use ff_core::fabric::Access;
use ff_core::record::Actor;

use crate::Server;
use crate::route::{METRICS, Route};

impl Server {
    /// Whether everybody who asks may do everything: there are no keys, and nobody elsewhere can ask.
    pub(crate) async fn is_keyless(&self) -> Result<bool, Rejection> {
        if !self.settings.keyless {
            return Ok(false);
        }
        let has_keys = self.engine.has_keys().await?;
        self.had_keys.fetch_or(has_keys, Ordering::Relaxed);
        Ok(!has_keys)
    }

    /// The same for what must be known although the store cannot be asked.
    pub(crate) fn would_be_keyless(&self, asked: &Result<bool, Rejection>) -> bool {
        match asked {
            Ok(keyless) => *keyless,
            Err(_) => self.settings.keyless && !self.had_keys.load(Ordering::Relaxed),
        }
    }
}

/// Who asks for `route`: whose key the request carries, or somebody who needs none.
pub(crate) async fn identify(
    server: &Server,
    keyless: Result<bool, Rejection>,
    route: &Route,
    headers: &HeaderMap,
) -> Result<Caller, Rejection> {
    let is_open_metrics = server.settings.open_metrics && route.path == METRICS;
    let caller = match bearer(headers)? {
        Some(key) => server.engine.caller_of(key).await?,
        None if is_open_metrics => Caller::local(),
        None if let Some(everybody) = &server.settings.everybody => everybody.clone(),
        None if keyless? => Caller::local(),
        None if route.access == Access::Anyone => somebody(),
        None => return Err(Code::Unauthenticated.because("this needs a key: send Authorization: Bearer <key>")),
    };
    if route.path == METRICS && !caller.role.contains(Role::Reader) {
        return Err(Code::Forbidden.because("metrics need the role reader"));
    }
    Ok(caller)
}

/// Somebody of whom nothing is known. What they ask for says itself what it needs.
fn somebody() -> Caller {
    Caller {
        actor: Actor::Anonymous,
        role: Role::Reader,
        ..Caller::local()
    }
}

/// The key a request carries.
fn bearer(headers: &HeaderMap) -> Result<Option<&str>, Rejection> {
    let mut given = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(first), None) = (given.next(), given.next()) else {
        return match headers.contains_key(header::AUTHORIZATION) {
            true => Err(Code::Unauthenticated.because("there is more than one Authorization header")),
            false => Ok(None),
        };
    };
    let text = first.to_str().ok().and_then(|text| text.split_once(' '));
    let key = text.and_then(|(scheme, key)| scheme.eq_ignore_ascii_case("bearer").then(|| key.trim()));
    let key = key.filter(|key| !key.is_empty());
    key.map(Some)
        .ok_or_else(|| Code::Unauthenticated.because("the Authorization header is not of the form Bearer <key>"))
}

/// Why a server without keys must not listen at `address`, if it must not.
pub fn refuse_open_address(address: SocketAddr) -> Option<String> {
    (!address.ip().is_loopback()).then(|| {
        format!(
            "{address} can be reached from other machines and the store has no keys: whoever reaches it could do everything. \
             Make one with `ff key create`, listen on 127.0.0.1, or say --insecure if only friends reach it"
        )
    })
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn carried(values: &[&'static str]) -> Result<Option<String>, Code> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(header::AUTHORIZATION, HeaderValue::from_static(value));
        }
        bearer(&headers)
            .map(|key| key.map(str::to_owned))
            .map_err(|refused| refused.code)
    }

    #[test]
    fn a_key_is_what_follows_bearer() {
        assert_eq!(carried(&[]), Ok(None));
        assert_eq!(carried(&["Bearer ff_x"]), Ok(Some("ff_x".to_owned())));
        assert_eq!(carried(&["bearer ff_x"]), Ok(Some("ff_x".to_owned())));
        for other in ["Basic eDp5", "ff_x", "Bearer", "Bearer ", ""] {
            assert_eq!(carried(&[other]), Err(Code::Unauthenticated), "{other}");
        }
        assert_eq!(carried(&["Bearer a", "Bearer b"]), Err(Code::Unauthenticated));
    }
}
