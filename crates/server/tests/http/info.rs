use axum::http::StatusCode;
use serde_json::json;

use crate::scene::Scene;

#[tokio::test]
async fn a_server_says_what_it_is_and_how_much_it_takes() {
    let scene = Scene::new();
    let answer = scene.get("/v1").await;
    assert_eq!(answer.status, StatusCode::OK);
    let info = answer.json();
    assert_eq!((&info["server"], &info["api"]), (&json!("flowfabric"), &json!("1.0")));
    assert_eq!(info["limits"]["payload_bytes"], json!(1024 * 1024));
    assert_eq!(info["server_time"], json!(1_800_000_000_000_u64));
    assert!(info["features"].as_array().unwrap().contains(&json!("callbacks")));
}

#[tokio::test]
async fn a_page_links_to_the_next_one() {
    let scene = Scene::new();
    for _ in 0..3 {
        scene.submitted().await;
    }
    let first = scene.get("/v1/executions?limit=2&kind=job").await;
    let link = first.header("link");
    let query = link
        .strip_prefix("<?")
        .unwrap()
        .strip_suffix(">; rel=\"next\"")
        .unwrap();
    assert!(query.starts_with("limit=2&kind=job&cursor="), "{link}");
    let second = scene.get(&format!("/v1/executions?{query}")).await;
    assert_eq!(second.json()["items"].as_array().unwrap().len(), 1);
    assert_eq!(second.header("link"), "");
}
