//! A route for every operation of the table, and for what stands beside it.

use std::collections::BTreeMap;

use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{RawPathParams, Request, State};
use axum::handler::Handler;
use axum::response::Response;
use axum::routing::{MethodFilter, MethodRouter};
use axum::{Extension, Router};
use ff_core::caller::Caller;
use ff_core::error::{Code, Rejection};
use ff_core::fabric::{Method, OPERATIONS, Operation, op};

use crate::answer::answer;
use crate::extras::EXTRAS;
use crate::problem::Answer;
use crate::request::{Asked, Shape};
use crate::virtual_time::TEST_ROUTES;
use crate::{Server, events, idempotency, overview, streams, submit};

type Path = Result<RawPathParams, RawPathParamsRejection>;

/// Every route below the version, with those for tests where they move the clock.
pub(crate) fn routes(has_virtual_time: bool) -> Router<Server> {
    let mut routes = Routes::default();
    for operation in OPERATIONS {
        let handler = move |State(server), Extension(caller), path: Path, request: Request| async move {
            let asked = Box::pin(receive(server, caller, Shape::from(*operation), path, request)).await?;
            serve(operation, asked).await
        };
        routes.add(operation.method, operation.path, handler);
    }
    let for_tests = TEST_ROUTES.iter().filter(|_| has_virtual_time);
    for extra in EXTRAS.iter().chain(for_tests) {
        let handler = move |State(server), Extension(caller), path: Path, request: Request| async move {
            let asked = Box::pin(receive(server, caller, Shape::from(extra), path, request)).await?;
            (extra.serve)(asked).await
        };
        routes.add(extra.method, extra.path, handler);
    }
    routes.into_router()
}

/// Handlers by path.
#[derive(Default)]
struct Routes(BTreeMap<String, MethodRouter<Server>>);

impl Routes {
    fn add<H: Handler<T, Server>, T: 'static>(&mut self, method: Method, path: &str, handler: H) {
        let handlers = self.0.remove(&pattern(path)).unwrap_or_default();
        self.0.insert(pattern(path), handlers.on(filter(method), handler));
    }

    fn into_router(self) -> Router<Server> {
        let routes = self.0.into_iter();
        routes.fold(Router::new(), |router, (path, handlers)| {
            router.route(if path.is_empty() { "/" } else { &path }, handlers)
        })
    }
}

/// The path with its fields numbered: what stands at one place has several names in the table.
pub(crate) fn pattern(path: &str) -> String {
    let mut fields = 0;
    let parts = path.split('/').map(|part| {
        if !part.starts_with('{') {
            return part.to_owned();
        }
        fields += 1;
        format!("{{field{fields}}}")
    });
    parts.collect::<Vec<_>>().join("/")
}

const fn filter(method: Method) -> MethodFilter {
    match method {
        Method::GET => MethodFilter::GET,
        Method::POST => MethodFilter::POST,
        Method::PUT => MethodFilter::PUT,
        Method::PATCH => MethodFilter::PATCH,
        Method::DELETE => MethodFilter::DELETE,
    }
}

async fn receive(server: Server, caller: Caller, shape: Shape, path: Path, request: Request) -> Answer<Asked> {
    let path = path.map_err(|_| Code::InvalidInput.because("the path is not percent-encoded UTF-8"))?;
    Asked::receive(server, caller, shape, &path, request).await
}

async fn serve(operation: &'static Operation, asked: Asked) -> Answer<Response> {
    let is = |other: &Operation| operation.name == other.name;
    if is(&op::create_execution) {
        // In a box, as above: what waits is kept small, and this is the largest.
        return Box::pin(submit::create(&asked)).await;
    }
    if is(&op::events) && !asked.accepts("application/json") {
        let permit = asked.server.limits.stream(&asked.caller)?;
        return Ok(permit.held_by(events::follow(&asked).await?));
    }
    if is(&op::overview) && asked.accepts("text/event-stream") {
        let permit = asked.server.limits.stream(&asked.caller)?;
        return Ok(permit.held_by(overview::follow(&asked).await?));
    }
    if is(&op::tail_stream) && asked.accepts("text/event-stream") {
        return streams::tail(&asked).await;
    }
    call(operation, &asked).await
}

async fn call(operation: &'static Operation, asked: &Asked) -> Answer<Response> {
    let mut fields = asked.fields()?;
    idempotency::offer(asked, operation, &mut fields)?;
    let _parked = asked.park(&fields)?;
    // Whoever shows a token may be guessing it.
    let waitpoint = match operation.name == op::deliver_signal.name {
        true => Some(
            fields
                .text("waitpoint_id")
                .map_err(Rejection::from)?
                .unwrap_or_default()
                .into_owned(),
        ),
        false => None,
    };
    let fabric = asked.fabric();
    let call = (operation.call)(&*fabric, fields);
    let reply = match waitpoint {
        Some(waitpoint) => asked.server.limits.guessing(waitpoint, asked.peer, call).await?,
        None => call.await?,
    };
    Ok(answer(operation, asked, reply))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_of_a_path_has_the_name_of_its_place() {
        assert_eq!(
            pattern(op::read_stream.path),
            "/executions/{field1}/attempts/{field2}/stream"
        );
    }
}
