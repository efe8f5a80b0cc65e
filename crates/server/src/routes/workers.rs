//! `/workers` and `/grants`.

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};

use crate::Shared;
use crate::error::Answer;
use crate::extract::{Body, parsed};
use crate::wire::{ClaimBody, GrantBody, RedeemBody, TaskBody};

/// The routes of workers.
pub(crate) fn workers() -> Router<Shared> {
    Router::new()
        .route("/workers/{worker_id}/claim", post(claim))
        .route("/grants/redeem", post(redeem))
}

async fn claim(State(fabric): State<Shared>, worker: Path<String>, Body(body): Body<ClaimBody>) -> Answer<Response> {
    let granted = fabric.claim_for_worker(body.of(parsed(&worker)?)).await?;
    Ok(match granted {
        Some(grant) => Json(GrantBody::from(grant)).into_response(),
        None => StatusCode::NO_CONTENT.into_response(),
    })
}

async fn redeem(State(fabric): State<Shared>, Body(body): Body<RedeemBody>) -> Answer<Json<TaskBody>> {
    Ok(Json(fabric.claim_from_grant(body.into()).await?.into()))
}
