//! `/executions`.

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::IntoResponse;
use axum::routing::{get, post};
use axum::{Json, Router};
use ff_core::command::submit::Created;
use ff_core::view::ExecutionView;

use crate::Shared;
use crate::error::Answer;
use crate::extract::{Body, parsed};
use crate::wire::{CreatedBody, SubmitBody};

/// The routes of executions.
pub(crate) fn executions() -> Router<Shared> {
    Router::new()
        .route("/executions", post(create))
        .route("/executions/{id}", get(read))
}

async fn create(State(fabric): State<Shared>, Body(body): Body<SubmitBody>) -> Answer<impl IntoResponse> {
    let created = fabric.create_execution(body.try_into()?).await?;
    let status = match created {
        Created::Created { .. } => StatusCode::CREATED,
        Created::Duplicate { .. } => StatusCode::OK,
    };
    Ok((status, Json(CreatedBody::from(created))))
}

async fn read(State(fabric): State<Shared>, id: Path<String>) -> Answer<Json<ExecutionView>> {
    Ok(Json(fabric.get_execution(parsed(&id)?).await?))
}
