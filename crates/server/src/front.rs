//! What every request passes on its way in and out.

use std::panic::AssertUnwindSafe;

use axum::extract::{Request, State};
use axum::http::{HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use ff_core::error::{Code, Rejection};
use futures::FutureExt;
use tracing::Instrument;

use crate::access_log::Line;
use crate::callers::Shown;
use crate::extras::FOR_PAGES;
use crate::guard::Head;
use crate::problem::Problem;
use crate::request_id::{HEADER, RequestId};
use crate::route::Route;
use crate::until_revoked::until_revoked;
use crate::{Server, callers, cors, guard, page_cookie, problem, trace};

/// In: name the request, look who asks and whether they may now. Out: name the answer and leave a line.
pub(crate) async fn front(State(server): State<Server>, mut request: Request, next: Next) -> Response {
    let counted = server.metrics.begin(&request);
    let id = RequestId::of(request.headers());
    let mut line = Line::begin(&request, &id);
    let origin = cors::named_origin(&server.settings, request.headers());
    request.extensions_mut().insert(id.clone());
    let span = line.span();
    trace::of(request.headers())
        .iter()
        .for_each(|trace| trace::join(&span, trace));
    let answer = async {
        if let Some(answer) = origin.as_ref().and_then(|_| cors::preflight(&request)) {
            return answer;
        }
        match admit(&server, &mut request, &mut line).await {
            Ok(shown) => {
                let response = unharmed(next.run(request)).await;
                match shown {
                    Some(shown) => until_revoked(&server.engine, shown.credential, response),
                    None => response,
                }
            }
            Err(refused) => Problem::from(refused).into_response(),
        }
    };
    let response = answer.instrument(span.clone()).await;

    let mut response = problem::named(response, &id);
    let headers = response.headers_mut();
    headers
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    // Paths hold ids, and that of a callback a secret: no page that is reached from here is told them.
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.extend(id.to_header().map(|id| (HEADER, id)));
    if let Some(origin) = origin {
        cors::allow(origin, headers);
    }
    span.in_scope(|| line.end(&response));
    counted.answered(response.status());
    server.closing.cut(response)
}

/// A mistake of ours in one request harms neither the others of its connection nor leaves its caller without an answer. What
/// it was is in the log, beside the request's id.
async fn unharmed(answer: impl Future<Output = Response>) -> Response {
    let internal = |_| {
        let detail = "something went wrong inside; the log has it under this request's id";
        Problem::from(Code::Internal.because(detail)).into_response()
    };
    AssertUnwindSafe(answer).catch_unwind().await.unwrap_or_else(internal)
}

/// Refuses what must not reach its route; the body has not been read. Leaves the caller with the request, and says what it showed.
async fn admit(server: &Server, request: &mut Request, line: &mut Line) -> Result<Option<Shown>, Rejection> {
    let keyless = server.is_keyless().await;
    if server.would_be_keyless(&keyless) {
        guard::check(&server.settings, request)?;
    }
    let Some(route) = Route::of(request) else {
        return Ok(None);
    };
    if FOR_PAGES.contains(&route.name) {
        page_cookie::check_page(&server.settings, Head::of(request))?;
    }
    let (mut caller, shown) = callers::identify(server, keyless, route, Head::of(request)).await?;
    caller.trace = trace::of(request.headers());
    line.asked_by(&caller);
    server.limits.request(&caller)?;
    request.extensions_mut().insert(caller);
    if let Some(shown) = &shown {
        request.extensions_mut().insert(shown.via);
    }
    Ok(shown)
}

#[cfg(test)]
mod tests {
    use axum::http::StatusCode;

    use super::*;

    #[tokio::test]
    async fn a_mistake_of_ours_is_answered() {
        let answer = unharmed(async { panic!("a mistake") }).await;
        assert_eq!(answer.status(), StatusCode::INTERNAL_SERVER_ERROR);
        assert_eq!(answer.extensions().get::<Rejection>().unwrap().code, Code::Internal);
    }
}
