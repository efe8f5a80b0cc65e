//! What this server is: asked once by a client, which then knows what it can rely on.

use axum::Json;
use axum::response::{IntoResponse, Response};
use ff_core::limits;
use ff_core::view::{ServerInfo, ServerLimits};

use crate::problem::Answer;
use crate::request::Asked;

/// The version of the interface: the second number grows with it, the first only when clients must change.
const API: &str = "1.0";
/// What the interface had not always, by the names under which clients ask for it.
const FEATURES: [&str; 18] = [
    "callbacks",
    "dashboard",
    "delete_execution",
    "exchange",
    "fences",
    "flow_graph",
    "idempotency_keys",
    "keys",
    "lane_queues",
    "namespaces",
    "overview",
    "retry_after",
    "series",
    "sign_in",
    "steps",
    "streams",
    "submit",
    "views",
];

/// `GET /`: what it is, what it can do, how much it takes.
pub(crate) async fn server_info(asked: Asked) -> Answer<Response> {
    let (rules, settings) = (asked.server.engine.rules(), &asked.server.settings);
    let info = ServerInfo {
        server: "flowfabric".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        api: API.to_owned(),
        features: FEATURES.map(str::to_owned).into(),
        limits: ServerLimits {
            payload_bytes: rules.payload_bytes_max,
            steps: rules.steps_max,
            step_output_bytes: rules.step_output_bytes_max,
            signal_payload_bytes: limits::SIGNAL_PAYLOAD_BYTES_MAX,
            frame_bytes: limits::FRAME_BYTES_MAX,
            json_depth: limits::JSON_DEPTH_MAX,
            batch_items: limits::BATCH_ITEMS_MAX,
            page_items: limits::PAGE_MAX,
            wait: limits::WAIT_MAX,
            streams_per_key: settings.streams_per_key_max,
            parked_polls_per_key: settings.parked_polls_per_key_max,
        },
        clock: if asked.server.tested.is_some() {
            "virtual"
        } else {
            "real"
        }
        .to_owned(),
        server_time: asked.server.engine.store_time().await?,
    };
    Ok(Json(info).into_response())
}
