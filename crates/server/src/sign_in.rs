//! Signing in and out with a page, and who it is that asks.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use ff_core::caller::Role;
use ff_core::error::{Code, Rejection};
use ff_core::fabric::OPERATIONS;
use ff_core::name::{Identity, Namespace};
use ff_core::time::Timestamp;
use ff_core::token::AccessKey;
use serde::{Deserialize, Serialize};

use crate::callers::Via;
use crate::extras::EXTRAS;
use crate::page_cookie;
use crate::problem::Answer;
use crate::request::Asked;

/// What a page sends, once.
#[derive(Deserialize)]
struct SignIn {
    key: AccessKey,
}

/// Who asks, and what they may.
#[derive(Serialize)]
struct Me {
    #[serde(skip_serializing_if = "Option::is_none")]
    key_name: Option<Identity>,
    role: Role,
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace: Option<Namespace>,
    may: Vec<&'static str>,
    via: Via,
    server_time: Timestamp,
}

/// `POST /sign-in`: a cookie that stands for a key.
pub(crate) async fn sign_in(asked: Asked) -> Answer<Response> {
    let SignIn { key } = asked.command()?;
    let ticket = asked.server.engine.sign_in(key.expose()).await?;
    let cookie = page_cookie::kept(&ticket, &asked.base, asked.came_through_tls());
    Ok(with_cookie(cookie)?)
}

/// `DELETE /sign-in`: the cookie is forgotten by the browser.
pub(crate) async fn sign_out(asked: Asked) -> Answer<Response> {
    let cookie = page_cookie::forgotten(&asked.base, asked.came_through_tls());
    Ok(with_cookie(cookie)?)
}

fn with_cookie(cookie: Option<HeaderValue>) -> Result<Response, Rejection> {
    let cookie = cookie.ok_or_else(|| Code::Internal.because("a ticket does not fit into a header"))?;
    Ok((StatusCode::NO_CONTENT, [(header::SET_COOKIE, cookie)]).into_response())
}

/// `GET /me`: who it is that asks, and every operation and route they may call.
pub(crate) async fn me(asked: Asked) -> Answer<Response> {
    let caller = &asked.caller;
    let operations = OPERATIONS.iter().map(|known| (known.name, known.access));
    let extras = EXTRAS.iter().map(|known| (known.name, known.access));
    let may = operations
        .chain(extras)
        .filter(|(name, access)| caller.check_access(*access, name).is_ok());
    let me = Me {
        key_name: caller.actor.identity(),
        role: caller.role,
        namespace: caller.namespace.clone(),
        may: may.map(|(name, _)| name).collect(),
        via: asked.via,
        server_time: asked.server.engine.store_time().await?,
    };
    Ok(Json(me).into_response())
}
