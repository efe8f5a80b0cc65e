//! Servers that go away, and servers of another time.

use std::net::SocketAddr;

use ff_sdk::{Client, Error, Task};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::scene::Scene;

#[derive(Serialize, Deserialize, Task)]
#[task(kind = "job", output = u32)]
struct Job {}

/// A server that can be stopped.
struct Stoppable {
    stop: oneshot::Sender<()>,
    stopped: JoinHandle<()>,
}

impl Stoppable {
    async fn start(scene: &Scene, address: SocketAddr) -> (Self, SocketAddr) {
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, asked) = oneshot::channel();
        let stopped = tokio::spawn(scene.serve_on(listener, async { drop(asked.await) }));
        (Self { stop, stopped }, address)
    }

    async fn stop(self) {
        self.stop.send(()).unwrap();
        self.stopped.await.unwrap();
    }
}

#[tokio::test]
async fn a_result_is_waited_for_while_the_server_is_replaced() {
    let scene = Scene::local();
    let (first, address) = Stoppable::start(&scene, "127.0.0.1:0".parse().unwrap()).await;
    let client = Client::connect(format!("http://{address}")).open().unwrap();
    let run = client.submit(Job {}).await.unwrap();
    let mut ends = client.events(ff_sdk::Events::all().ended()).await.unwrap();
    let waiting = tokio::spawn({
        let run = run.clone();
        async move { run.result().await }
    });
    first.stop().await;
    let scene = scene.another();
    let (_second, _) = Stoppable::start(&scene, address).await;
    let task = scene.claim_one().await;
    scene.complete(&task, &7).await;
    assert_eq!(waiting.await.unwrap().unwrap(), 7);
    let told = ends.next().await.unwrap().unwrap().event().unwrap();
    assert_eq!(told.line.subject, ff_core::record::HistorySubject::Execution(run.id()));
}

/// A server that says this about itself, whatever it is asked.
async fn saying(info: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut connection, _) = listener.accept().await.unwrap();
        let asked = connection.read(&mut [0; 4_096]).await.unwrap();
        assert!(asked > 0);
        let length = info.len();
        let answer =
            format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{info}");
        connection.write_all(answer.as_bytes()).await.unwrap();
    });
    format!("http://{address}")
}

#[tokio::test]
async fn nothing_is_sent_to_a_server_of_another_time() {
    for (api, now_what) in [("2.0", "upgrade ff-sdk"), ("0.9", "upgrade the server")] {
        let info = format!(r#"{{"server":"flowfabric","version":"9.0.0","api":"{api}","server_time":0}}"#);
        let client = Client::connect(saying(info).await).tries(1).open().unwrap();
        let error = client.submit(Job {}).await.unwrap_err();
        assert!(matches!(error, Error::OtherServer { .. }), "{error}");
        let text = error.to_string();
        assert!(text.contains("version 9.0.0") && text.ends_with(now_what), "{text}");
    }
}

#[tokio::test]
async fn a_server_that_says_less_about_itself_is_talked_to() {
    let info = r#"{"server":"flowfabric","version":"0.0.9","api":"1.0","server_time":0}"#;
    let client = Client::connect(saying(info.to_owned()).await).tries(1).open().unwrap();
    let error = client.submit(Job {}).await.unwrap_err();
    assert_eq!(
        error.code(),
        Some(ff_sdk::Code::Unavailable),
        "it answers one question, and is gone: {error}"
    );
}

#[tokio::test]
async fn what_is_no_server_of_ours_is_told_so() {
    let client = Client::connect(saying("<html>".to_owned()).await)
        .tries(1)
        .open()
        .unwrap();
    let text = client.submit(Job {}).await.unwrap_err().to_string();
    assert!(text.contains("is no FlowFabric server"), "{text}");
}
