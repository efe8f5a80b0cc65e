//! All routes below a path of an application of one's own.

use axum::Router;
use axum::http::StatusCode;
use serde_json::json;

use crate::scene::Scene;

#[tokio::test]
async fn an_application_may_put_all_routes_below_a_path_of_its_own() {
    let mut scene = Scene::new();
    scene.router = Router::new().nest("/v1/jobs", scene.router);
    let created = scene
        .post("/v1/jobs/v1/executions", json!({ "execution_kind": "job" }))
        .await;
    assert_eq!(created.status, StatusCode::CREATED, "{:?}", created.json());
    let view = scene.get(created.header("location")).await;
    assert_eq!(view.json()["execution_kind"], json!("job"));
    for page in ["healthz", "readyz", "metrics", "openapi.json"] {
        assert_eq!(
            scene.get(&format!("/v1/jobs/{page}")).await.status,
            StatusCode::OK,
            "{page}"
        );
    }
    let claim = json!({ "worker_id": "me", "lanes": ["default"] });
    let tasks = scene.post("/v1/jobs/v1/workers/me-1/tasks", claim).await.json();
    assert_eq!(tasks["tasks"][0]["execution_id"], view.json()["execution_id"]);
}
