//! `GET /metrics`: what the engine counted, and what HTTP adds to it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Instant;

use axum::Extension;
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use ff_core::caller::Caller;
use ff_core::error::Code;
use ff_engine::metrics::{CALL_RANGES, Histogram, Kind, Metric};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;

use crate::Server;
use crate::problem::Answer;
use crate::route::Route;

/// The format of the page.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// What a request for no route, or for an open one, is counted as.
const NO_OPERATION: &str = "none";

static REQUESTS: Metric = Metric {
    name: "ff_http_requests_total",
    kind: Kind::Counter,
    labels: &["operation", "method", "status"],
    help: "Requests by operation and class of status; gone: the client did not wait for the answer",
    question: "Who is refused, and does something fail?",
};
static TOOK: Metric = Metric {
    name: "ff_http_request_seconds",
    kind: Kind::Histogram,
    labels: &["operation"],
    help: "From the head of a request to the head of its answer, with the time it asked to wait",
    question: "Which operation is slow?",
};
static IN_FLIGHT: Metric = Metric {
    name: "ff_http_in_flight",
    kind: Kind::Gauge,
    labels: &[],
    help: "Requests that are being answered",
    question: "Is the server overloaded?",
};
static PARKED: Metric = Metric {
    name: "ff_http_parked_polls",
    kind: Kind::Gauge,
    labels: &[],
    help: "Requests that wait for something to happen",
    question: "How many workers and clients wait?",
};
static STREAMS: Metric = Metric {
    name: "ff_http_streams",
    kind: Kind::Gauge,
    labels: &[],
    help: "Streams of events and frames that are open",
    question: "How many watch?",
};

/// Every metric of the server, in the order they are scraped.
pub static HTTP_METRICS: &[&Metric] = &[&REQUESTS, &TOOK, &IN_FLIGHT, &PARKED, &STREAMS];

/// How requests end.
const STATUSES: [&str; 6] = ["1xx", "2xx", "3xx", "4xx", "5xx", "gone"];
/// A client that did not wait.
const GONE: usize = STATUSES.len() - 1;

/// Requests, as they are counted. Cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct HttpCounts(Arc<Inner>);

#[derive(Default)]
struct Inner {
    in_flight: AtomicU64,
    /// By operation and method: both are names of ours, so there are only so many.
    routes: RwLock<BTreeMap<(&'static str, &'static str), Arc<RouteCounts>>>,
}

struct RouteCounts {
    statuses: [AtomicU64; STATUSES.len()],
    took: Histogram,
}

impl Default for RouteCounts {
    fn default() -> Self {
        Self {
            statuses: Default::default(),
            took: Histogram::new(CALL_RANGES),
        }
    }
}

/// A request that is being answered. One that is dropped before it has an answer was left by its client.
pub(crate) struct Counted {
    counts: HttpCounts,
    route: Arc<RouteCounts>,
    began: Instant,
    status: usize,
}

impl HttpCounts {
    /// Counts a request from here to [`Counted::answered`].
    pub(crate) fn begin(&self, request: &Request) -> Counted {
        let operation = Route::of(request).map_or(NO_OPERATION, |route| route.name);
        self.0.in_flight.fetch_add(1, Ordering::Relaxed);
        Counted {
            counts: self.clone(),
            route: self.route((operation, method(request.method()))),
            began: Instant::now(),
            status: GONE,
        }
    }

    fn route(&self, key: (&'static str, &'static str)) -> Arc<RouteCounts> {
        let known = self.0.routes.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(route) = known.get(&key) {
            return Arc::clone(route);
        }
        drop(known);
        let mut known = self.0.routes.write().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(known.entry(key).or_default())
    }
}

impl Counted {
    pub(crate) fn answered(mut self, status: StatusCode) {
        self.status = usize::from(status.as_u16() / 100).clamp(1, GONE) - 1;
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.counts.0.in_flight.fetch_sub(1, Ordering::Relaxed);
        self.route.statuses[self.status].fetch_add(1, Ordering::Relaxed);
        self.route.took.observe(self.began.elapsed());
    }
}

/// The methods that mean something here; a client may invent others.
fn method(method: &Method) -> &'static str {
    let known = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
    known
        .into_iter()
        .find(|known| *known == method.as_str())
        .unwrap_or("other")
}

/// Everything the caller may see.
pub(crate) async fn scrape(State(server): State<Server>, Extension(caller): Extension<Caller>) -> Answer<Response> {
    let mut registry = Registry::default();
    let sees_all = caller.namespace.is_none();
    let engine = server.engine.acting_as(caller).metrics().await;
    registry.register_collector(Box::new(engine));
    if sees_all {
        registry.register_collector(Box::new(HttpScrape(server)));
    }
    let mut page = String::new();
    encode(&mut page, &registry).map_err(|_| Code::Internal.because("the metrics could not be written"))?;
    Ok(([(header::CONTENT_TYPE, OPEN_METRICS)], page).into_response())
}

/// What HTTP adds to a page of metrics.
struct HttpScrape(Server);

impl fmt::Debug for HttpScrape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpScrape").finish_non_exhaustive()
    }
}

impl Collector for HttpScrape {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let Server { metrics, limits, .. } = &self.0;
        let routes = metrics.0.routes.read().unwrap_or_else(PoisonError::into_inner);
        let mut family = REQUESTS.begin(&mut encoder)?;
        for ((operation, method), route) in &*routes {
            for (status, count) in STATUSES.iter().zip(&route.statuses) {
                let count = count.load(Ordering::Relaxed);
                if count > 0 {
                    family.counter([operation, method, status], &count)?;
                }
            }
        }
        let mut family = TOOK.begin(&mut encoder)?;
        for ((operation, method), route) in &*routes {
            // Those of no operation have several methods, and say nothing about any.
            if *operation != NO_OPERATION && *method != "HEAD" {
                family.histogram([operation], &route.took)?;
            }
        }
        let in_flight = metrics.0.in_flight.load(Ordering::Relaxed);
        IN_FLIGHT.begin(&mut encoder)?.gauge([], &in_flight)?;
        PARKED.begin(&mut encoder)?.gauge([], &limits.parked())?;
        STREAMS.begin(&mut encoder)?.gauge([], &limits.streams())
    }
}
