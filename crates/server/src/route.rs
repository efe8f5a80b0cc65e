//! What a request asks for, known before anything of it is read but its first line.

use std::collections::HashMap;
use std::sync::LazyLock;

use axum::extract::MatchedPath;
use axum::http::{Method, Request};
use ff_core::caller::Role;
use ff_core::fabric::{Access, OPERATIONS};

use crate::extras::EXTRAS;
use crate::routes::pattern;
use crate::virtual_time::TEST_ROUTES;

/// One route.
#[derive(Debug)]
pub(crate) struct Route {
    method: Method,
    /// Its name in logs and metrics: that of the operation.
    pub(crate) name: &'static str,
    /// Its path as it is documented. It holds no id, no secret and no query.
    pub(crate) path: String,
    pub(crate) access: Access,
}

/// Where metrics are read.
pub(crate) const METRICS: &str = "/metrics";

/// Every route that not everybody may use, by the pattern the router knows it under.
static ROUTES: LazyLock<HashMap<String, Vec<Route>>> = LazyLock::new(|| {
    let mut routes: HashMap<String, Vec<Route>> = HashMap::new();
    for operation in OPERATIONS {
        let route = Route {
            method: Method::from_bytes(operation.method.as_str().as_bytes()).unwrap_or_default(),
            name: operation.name,
            path: format!("/v1{}", operation.path),
            access: operation.access,
        };
        let at = format!("/v1{}", pattern(operation.path));
        routes.entry(at).or_default().push(route);
    }
    for extra in EXTRAS.iter().chain(TEST_ROUTES) {
        let route = Route {
            method: Method::from_bytes(extra.method.as_str().as_bytes()).unwrap_or_default(),
            name: extra.name,
            path: format!("/v1{}", extra.path),
            access: extra.access,
        };
        let at = format!("/v1{}", pattern(extra.path));
        routes.entry(at).or_default().push(route);
    }
    let metrics = Route {
        method: Method::GET,
        name: "metrics",
        path: METRICS.to_owned(),
        access: Access::Role(Role::Reader),
    };
    routes.insert(METRICS.to_owned(), vec![metrics]);
    routes
});

impl Route {
    /// The route of a request, unless it is open to everybody or there is none.
    pub(crate) fn of<B>(request: &Request<B>) -> Option<&'static Route> {
        let pattern = request.extensions().get::<MatchedPath>()?.as_str();
        // Whoever asks for the head of a thing asks for the thing.
        let method = match request.method() {
            &Method::HEAD => &Method::GET,
            method => method,
        };
        // An application may have put all of them below a path of its own.
        let below = pattern.match_indices('/').map(|(start, _)| &pattern[start..]);
        let routes = below.filter_map(|pattern| ROUTES.get(pattern)).next()?;
        routes.iter().find(|route| route.method == *method)
    }
}
