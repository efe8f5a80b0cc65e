//! FlowFabric over HTTP.
//!
//! The routes are made from the table of operations ([`ff_core::operations`]): a request's path, query and body are the fields
//! of a command, the operation reads them, acts for the caller of the request, and its answer is the reply. Nothing is decided
//! here. What HTTP adds stands beside the table.
//!
//! | where | what |
//! |---|---|
//! | `front` | what every request passes on its way in and out, in order |
//! | `request_id`, `access_log` | the name of a request, and the line it leaves |
//! | `metrics`, `trace` | what is counted of requests, and which trace they are part of |
//! | `cors`, `guard` | which web pages may ask |
//! | `callers`, `page_cookie` | whose key it is, or whose page |
//! | `until_revoked` | streams end with the key they were opened with |
//! | `limits` | how much one key may ask for at once |
//! | `body` | reading a body that is neither too large nor too slow |
//! | `routes`, `request`, `query`, `answer`, `problem` | a route per operation, what it takes, how it answers and refuses |
//! | `extras` | the routes that are not operations: `info`, `sign_in`, `submit`, `streams`, `callbacks` |
//! | `virtual_time` | routes for tests, on a server whose clock they move |
//! | `idempotency` | one header that makes any call one |
//! | `events`, `overview` | what happens, as it happens, and what it comes to |
//! | `openapi`, `docs` | the description of all that, for programs and for people |
//! | `dashboard` | pages for people over all that |
//! | `listen`, `tls`, `patience`, `closing` | connections, how long they may be idle, and their end |

mod access_log;
mod answer;
mod body;
mod callbacks;
mod callers;
mod closing;
mod cors;
mod dashboard;
mod docs;
mod events;
mod extras;
mod front;
mod guard;
mod idempotency;
mod info;
mod limits;
mod listen;
mod metrics;
pub mod openapi;
mod overview;
mod page_cookie;
mod patience;
mod problem;
mod query;
mod request;
mod request_id;
mod route;
mod routes;
mod settings;
mod sign_in;
mod streams;
mod submit;
mod tls;
mod trace;
mod until_revoked;
mod virtual_time;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use axum::Router;
use axum::extract::State;
use axum::middleware::from_fn_with_state;
use axum::response::IntoResponse;
use axum::routing::get;
use ff_core::fabric::BASE_PATH;
use ff_engine::{Engine, VirtualTime};

use crate::closing::Closing;
use crate::limits::Limits;
use crate::metrics::HttpCounts;
use crate::problem::Answer;
use crate::virtual_time::Tested;

pub use callers::refuse_open_address;
pub use extras::{EXTRAS, Extra};
pub use guard::LOOPBACK_NAMES;
pub use listen::serve;
pub use metrics::HTTP_METRICS;
pub use request_id::RequestId;
pub use settings::Settings;
pub use tls::Tls;
pub use virtual_time::TEST_ROUTES;

/// What every route works on. Cheap to clone.
#[derive(Clone)]
pub struct Server {
    pub(crate) engine: Engine,
    pub(crate) limits: Limits,
    pub(crate) metrics: HttpCounts,
    pub(crate) settings: Arc<Settings>,
    /// Whether a key was ever seen: what is believed while the store cannot be asked.
    pub(crate) had_keys: Arc<AtomicBool>,
    pub(crate) closing: Closing,
    /// What tests do to it, where they move the clock.
    pub(crate) tested: Option<Tested>,
}

impl Server {
    /// A server of `engine`.
    pub fn new(engine: Engine, settings: Settings) -> Self {
        Self {
            engine,
            limits: Limits::new(&settings),
            metrics: HttpCounts::default(),
            settings: Arc::new(settings),
            had_keys: Arc::default(),
            closing: Closing::default(),
            tested: None,
        }
    }

    /// A server whose time tests move, over routes of their own: only for an address that no other machine reaches. Runs what
    /// is due on the runtime of the caller.
    pub fn with_virtual_time(time: VirtualTime, settings: Settings) -> Self {
        time.keep_pumping();
        let server = Self::new(time.engine().clone(), settings);
        Self {
            tested: Some(Tested::new(time)),
            ..server
        }
    }

    /// Every route.
    pub fn router(&self) -> Router {
        Router::new()
            .nest(BASE_PATH, routes::routes(self.tested.is_some()))
            .merge(docs::routes())
            .merge(dashboard::routes())
            .route("/healthz", get(|| async { "ok\n" }))
            .route("/readyz", get(ready))
            .route(route::METRICS, get(metrics::scrape))
            .fallback(problem::no_route)
            .method_not_allowed_fallback(problem::no_method)
            .layer(from_fn_with_state(self.clone(), front::front))
            .with_state(self.clone())
    }
}

/// The whole interface over `engine`, to be served by a program of one's own: with `into_make_service_with_connect_info`, so
/// that the address of a client is known.
pub fn router(engine: Engine, settings: Settings) -> Router {
    Server::new(engine, settings).router()
}

/// Whether work can be done here: the store answers and nobody has said to stop.
async fn ready(State(server): State<Server>) -> Answer<impl IntoResponse> {
    server.closing.check()?;
    server.engine.ping().await?;
    Ok("ready\n")
}
