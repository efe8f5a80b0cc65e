//! FlowFabric over HTTP.
//!
//! The routes are made from the table of operations ([`ff_core::operations`]): a request's path, query and body are the fields
//! of a command, the operation reads them, acts for the caller of the request, and its answer is the reply. Nothing is decided
//! here. What HTTP adds stands beside the table: `events` sends what happens as it happens, `guard` keeps other hosts' pages out.

mod events;
mod guard;
mod problem;
mod request;
mod routes;

use std::sync::Arc;

use axum::Router;
use ff_core::caller::Caller;
use ff_core::fabric::{ActsFor, Fabric};

pub use guard::LOOPBACK_NAMES;

/// What every route works on.
#[derive(Clone)]
struct Server {
    engine: Arc<dyn ActsFor>,
}

impl Server {
    /// The interface as the caller of a request may use it. A server without keys has one caller, who may do everything.
    fn fabric(&self) -> Arc<dyn Fabric> {
        self.engine.acting_for(Caller::local())
    }
}

/// The whole interface over `engine`, for a server on a loopback address.
pub fn router(engine: Arc<dyn ActsFor>) -> Router {
    Router::new()
        .route("/healthz", axum::routing::get(|| async { "ok\n" }))
        .nest("/v1", routes::routes())
        .fallback(problem::no_route)
        .method_not_allowed_fallback(problem::no_method)
        .layer(axum::middleware::from_fn(guard::loopback_only))
        .with_state(Server { engine })
}
