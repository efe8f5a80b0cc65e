//! Submitting for people: the body is the input, options are the query, and whoever waits is answered the result.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use ff_core::command::submit::CreateExecution;
use ff_core::error::{Code, Rejection};
use ff_core::fabric::types::Created;
use ff_core::fabric::{Fabric, On, Reply, op};
use ff_core::id::ExecutionId;
use ff_core::record::Tags;
use ff_core::state::PublicState;
use ff_core::time::Duration;
use ff_core::view::GetResult;
use ff_core::wire::{self, Fields, Unknown, is_json, read};

use crate::answer::{REPLAYED, answer, raw};
use crate::idempotency;
use crate::problem::{Answer, Problem};
use crate::request::{Asked, take_wait};

/// What options are called, and which fields of a submission they are; all others go by their own name.
const OPTIONS: [(&str, &str); 3] = [
    ("lane", "lane_id"),
    ("key", "idempotency_key"),
    ("deadline_at", "execution_deadline_at"),
];

/// `POST /executions`: waits for the end if it is asked to.
pub(crate) async fn create(asked: &Asked) -> Answer<Response> {
    let mut fields = asked.fields()?;
    let wait = take_wait(&mut fields)?;
    idempotency::offer(asked, &op::create_execution, &mut fields)?;
    submitted(asked, read(fields, Unknown::Refused)?, wait).await
}

/// `POST /submit/{kind}`: the whole body is the input.
pub(crate) async fn submit(asked: Asked) -> Answer<Response> {
    let mut fields = Fields::default();
    let mut tags = Tags::new();
    for (name, value) in &asked.query {
        if let Some(key) = name.strip_prefix("tag.") {
            if tags.insert(key.to_owned(), value.clone()).is_some() {
                return Err(Code::InvalidInput.because(format!("{name} is given twice")).into());
            }
            continue;
        }
        let option = OPTIONS.iter().find(|(option, _)| option == name);
        fields
            .add_text(option.map_or(name.as_str(), |(_, field)| field), value)
            .map_err(Rejection::from)?;
    }
    for kind in asked.path_values() {
        fields.add_text("execution_kind", kind).map_err(Rejection::from)?;
    }
    let (wait, delay) = (take_wait(&mut fields)?, take_delay(&mut fields)?);
    idempotency::offer(&asked, &op::create_execution, &mut fields)?;
    asked.offer_namespace(&mut fields);
    let mut command = CreateExecution {
        tags,
        input: asked.payload(),
        ..read(fields, Unknown::Refused)?
    };
    if let Some(delay) = delay {
        command.delay_until = Some(asked.server.engine.store_time().await? + delay);
    }
    if command.input.content_type.as_str() == "application/json" && !command.input.is_empty() && !is_json(&asked.body) {
        return Err(Code::InvalidInput
            .because("Content-Type says that the body is JSON, and it is not")
            .into());
    }
    submitted(&asked, command, wait).await
}

/// Takes out how long to wait before it may run: people count from now.
fn take_delay(fields: &mut Fields<'_>) -> Result<Option<Duration>, Rejection> {
    let Some(text) = fields.take_text("delay_ms")? else {
        return Ok(None);
    };
    let invalid = |_| Code::InvalidInput.because(format!("delay_ms is a number of milliseconds, not {text:?}"));
    text.parse().map(Duration::from_millis).map(Some).map_err(invalid)
}

/// Submits, and answers what came of it if that is known in time.
async fn submitted(asked: &Asked, command: CreateExecution, wait: Duration) -> Answer<Response> {
    let fabric = asked.fabric();
    let _parked = (wait > Duration::ZERO)
        .then(|| asked.server.limits.park(&asked.caller))
        .transpose()?;
    let created = fabric.create_execution(command).await?;
    let (Created::Created { execution_id } | Created::Duplicate { execution_id, .. }) = created;
    let json = wire::to_json(&created).map_err(|error| Code::Internal.because(error.to_string()))?;
    let mut response = answer(&op::create_execution, asked, Reply::Json(json));
    match ended(&*fabric, execution_id, wait).await {
        Some(ended) => {
            let replayed = response.headers_mut().remove(REPLAYED);
            response = ended;
            response
                .headers_mut()
                .extend(replayed.map(|replayed| (REPLAYED, replayed)));
        }
        // Whoever waited for a result must not take this for it.
        None if wait > Duration::ZERO && response.status() == StatusCode::OK => {
            *response.status_mut() = StatusCode::ACCEPTED;
        }
        None => {}
    }
    let location = format!("{}/executions/{}", asked.base, unquoted(execution_id));
    let location = HeaderValue::try_from(location).ok();
    response
        .headers_mut()
        .extend(location.map(|location| (header::LOCATION, location)));
    Ok(response)
}

/// The form of an id that stands in a path as it is.
fn unquoted(id: ExecutionId) -> String {
    id.to_string().replace(['{', '}'], "")
}

/// What is answered to whoever waits once it has ended: the result, as it is read. It was submitted, so whatever keeps us from
/// waiting is no refusal.
async fn ended(fabric: &dyn Fabric, id: ExecutionId, wait: Duration) -> Option<Response> {
    if wait == Duration::ZERO {
        return None;
    }
    let refused = match fabric.get_result(On::new(id, GetResult { wait })).await {
        Ok(result) => return Some(raw(result)),
        Err(refused) => refused,
    };
    let state = refused.fields.get("public_state").cloned();
    let state: PublicState =
        serde_json::from_value(state.filter(|_| refused.code == Code::ResultNotAvailable)?).ok()?;
    if state == PublicState::Completed {
        return Some(StatusCode::NO_CONTENT.into_response());
    }
    state.is_terminal().then_some(())?;
    Some(Problem::from(without_result(fabric, id, state).await).into_response())
}

/// How an execution ended that was no success.
async fn without_result(fabric: &dyn Fabric, id: ExecutionId, state: PublicState) -> Rejection {
    let view = fabric.get_execution(id).await.ok();
    let failure = view.as_ref().and_then(|view| view.failure.as_ref());
    let why = failure.map(|failure| failure.reason.clone());
    let why = why.or_else(|| view.as_ref()?.reason.clone()).unwrap_or_default();
    let refused = Code::ResultNotAvailable
        .because(format!("execution {id} has no result: it ended as {state}. {why}").trim_end())
        .with("execution_id", id.to_string())
        .with("public_state", state.as_str());
    match failure.and_then(|failure| serde_json::to_value(failure).ok()) {
        Some(failure) => refused.with("failure", failure),
        None => refused,
    }
}
