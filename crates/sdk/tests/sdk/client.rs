//! The client itself.

use ff_core::error::Code;
use ff_core::view::ListFlows;
use ff_sdk::{Client, Error, Fabric, Task};
use serde::{Deserialize, Serialize};

use crate::scene::Scene;

#[derive(Serialize, Deserialize, Task)]
#[task(kind = "nothing")]
struct Nothing {}

#[tokio::test]
async fn a_client_is_a_fabric_near_and_far() {
    for scene in Scene::each() {
        let flows = scene.client.list_flows(ListFlows::default()).await.unwrap();
        assert!(flows.items.is_empty());
    }
}

#[tokio::test]
async fn a_server_is_asked_what_it_is() {
    let [near, far] = Scene::each();
    assert!(near.client.server_info().await.unwrap().is_none());
    let info = far.client.server_info().await.unwrap().unwrap();
    assert_eq!(info.server, "flowfabric");
}

#[tokio::test]
async fn an_address_that_is_none_and_a_key_that_is_none_are_refused_before_anything_is_sent() {
    for connect in [
        Client::connect("127.0.0.1:7117"),
        Client::connect("http://a").key("two\nlines"),
    ] {
        assert_eq!(connect.open().unwrap_err().code(), Some(Code::InvalidInput));
    }
}

#[tokio::test]
async fn a_client_of_nobody_says_where_it_looked() {
    // A port that nobody listens on: it was given to us, and given back.
    let address = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let client = Client::connect(format!("http://{address}")).tries(1).open().unwrap();
    let error = client.server_info().await.unwrap_err();
    assert!(matches!(&error, Error::Rejected(refused) if refused.code == Code::Unavailable));
    assert!(error.to_string().contains(&address.to_string()), "{error}");
    assert!(error.is_retryable());
}

#[test]
fn a_client_shows_no_key() {
    let client = Client::connect("http://a").key("very-secret").open().unwrap();
    assert!(!format!("{client:?}").contains("secret"), "{client:?}");
}

#[tokio::test]
async fn a_client_works_for_the_tenant_it_is_told() {
    for scene in Scene::each() {
        let client = scene.client.namespace("acme").unwrap();
        let mut flow = ff_sdk::Flow::new("nothing");
        flow.add(Nothing {});
        let created = client.submit_flow(flow).await.unwrap();
        assert_eq!(created.view().await.unwrap().namespace.as_str(), "acme");
        let run = client.submit(Nothing {}).await.unwrap();
        assert_eq!(run.view().await.unwrap().namespace.as_str(), "acme");
    }
    let refused = Client::connect("http://a").namespace("two words").open().unwrap_err();
    assert_eq!(refused.code(), Some(Code::InvalidInput));
}
