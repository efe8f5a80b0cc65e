//! `/executions/{id}/lease`: what a lease holder does.

use axum::extract::{Path, State};
use axum::routing::post;
use axum::{Json, Router};
use ff_core::fabric::On;

use crate::Shared;
use crate::error::Answer;
use crate::extract::{Body, parsed};
use crate::wire::{CompleteBody, CompletedBody, RenewBody, RenewedBody};

/// The routes of leased work.
pub(crate) fn leases() -> Router<Shared> {
    Router::new()
        .route("/executions/{id}/lease/renew", post(renew))
        .route("/executions/{id}/lease/complete", post(complete))
}

async fn renew(
    State(fabric): State<Shared>,
    id: Path<String>,
    Body(body): Body<RenewBody>,
) -> Answer<Json<RenewedBody>> {
    let renewed = fabric.renew(On::new(parsed(&id)?, body.into())).await?;
    Ok(Json(renewed.into()))
}

async fn complete(
    State(fabric): State<Shared>,
    id: Path<String>,
    Body(body): Body<CompleteBody>,
) -> Answer<Json<CompletedBody>> {
    let completed = fabric.complete(On::new(parsed(&id)?, body.try_into()?)).await?;
    Ok(Json(completed.into()))
}
