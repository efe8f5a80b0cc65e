//! FlowFabric over HTTP.
//!
//! A request walks: route → [`ff_core::fabric::Fabric`] → reply. A route parses, calls one method and prints; nothing is
//! decided here. `routes/` has a file per resource, `wire/` what bodies look like, `error` maps a refusal to a status.
//!
//! So far there is only what `ff dev` needs; the rest of the interface comes on the same trait.

mod error;
mod extract;
mod guard;
mod routes;
mod wire;

use std::sync::Arc;

use axum::Router;
use ff_core::fabric::Fabric;

pub use guard::LOOPBACK_NAMES;

/// What every route works on.
type Shared = Arc<dyn Fabric>;

/// The whole interface over `fabric`, for a server on a loopback address.
pub fn router(fabric: Shared) -> Router {
    let v1 = routes::executions()
        .merge(routes::workers())
        .merge(routes::leases())
        .merge(routes::events());
    Router::new()
        .route("/healthz", axum::routing::get(|| async { "ok\n" }))
        .nest("/v1", v1)
        .fallback(error::no_route)
        .method_not_allowed_fallback(error::no_method)
        .layer(axum::middleware::from_fn(guard::loopback_only))
        .with_state(fabric)
}
