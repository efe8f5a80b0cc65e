//! Whose request it is.

use std::net::SocketAddr;
use std::sync::atomic::Ordering;

use axum::http::{HeaderMap, header};
use ff_core::caller::{Caller, Role};
use ff_core::error::{Code, Rejection};
use ff_core::fabric::Access;
use ff_core::record::Actor;
use ff_engine::Credential;
use serde::Serialize;

use crate::guard::Head;
use crate::route::{METRICS, Route};
use crate::{Server, page_cookie};

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

/// What a request showed to say who asks.
#[derive(Clone)]
pub(crate) struct Shown {
    pub(crate) credential: Credential,
    pub(crate) via: Via,
}

/// How.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Via {
    /// By its key.
    Key,
    /// By the cookie of a page.
    Cookie,
    /// It needed nothing.
    #[default]
    Nothing,
}

/// Who asks for `route`: whose key or ticket the request carries, or somebody who needs none.
pub(crate) async fn identify(
    server: &Server,
    keyless: Result<bool, Rejection>,
    route: &Route,
    asked: Head<'_>,
) -> Result<(Caller, Option<Shown>), Rejection> {
    let is_open_metrics = server.settings.open_metrics && route.path == METRICS;
    let mut shown = None;
    let caller = match bearer(asked.headers)? {
        Some(key) => {
            let credential = Credential::of_key(key);
            let caller = server.engine.caller_by(&credential).await?;
            let via = Via::Key;
            shown = Some(Shown { credential, via });
            caller
        }
        None if let Some((caller, credential)) = signed_in(server, asked).await? => {
            let via = Via::Cookie;
            shown = Some(Shown { credential, via });
            caller
        }
        None if is_open_metrics => Caller::local(),
        None if let Some(everybody) = &server.settings.everybody => everybody.clone(),
        None if keyless? => Caller::local(),
        None if route.access == Access::Anyone => somebody(),
        None => return Err(Code::Unauthenticated.because("this needs a key: send Authorization: Bearer <key>")),
    };
    if route.path == METRICS && !caller.role.contains(Role::Reader) {
        return Err(Code::Forbidden.because("metrics need the role reader"));
    }
    Ok((caller, shown))
}

/// Who has signed in with the page that asks. A cookie that is worth nothing any more is none; one that is, and that no page of ours
/// sent, is refused.
async fn signed_in(server: &Server, asked: Head<'_>) -> Result<Option<(Caller, Credential)>, Rejection> {
    let Some(ticket) = page_cookie::ticket(asked.headers) else {
        return Ok(None);
    };
    let Some(credential) = server.engine.credential_of(ticket).await? else {
        return Ok(None);
    };
    match server.engine.caller_by(&credential).await {
        Ok(caller) => {
            page_cookie::check(&server.settings, asked)?;
            Ok(Some((caller, credential)))
        }
        Err(refused) if refused.code == Code::Unauthenticated => Ok(None),
        Err(refused) => Err(refused),
    }
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
