//! A proxy that cuts, cuts in the middle of a reply, and stalls.

use std::io::ErrorKind;
use std::net::Ipv4Addr;
use std::time::Duration;

use ff_valkey_server::{Connection, Options, Proxy, Reply, Standalone};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

async fn scene() -> (Standalone, Proxy) {
    let server = Standalone::start(Options::default()).await;
    let proxy = Proxy::start(server.port()).await;
    (server, proxy)
}

#[tokio::test]
async fn commands_and_replies_pass() {
    let (server, proxy) = scene().await;
    assert_eq!(proxy.url(), server.url_at(proxy.port()));
    let mut connection = Connection::open(proxy.port()).await.unwrap();
    let value = vec![b'x'; 1_000_000];
    assert_eq!(
        connection.command(&[b"SET", b"key", &value]).await.unwrap().text(),
        "OK"
    );
    assert_eq!(
        connection.command(&[b"GET", b"key"]).await.unwrap(),
        Reply::Bytes(value)
    );
}

#[tokio::test]
async fn a_cut_closes_every_connection_and_new_ones_work() {
    let (_server, proxy) = scene().await;
    let mut one = Connection::open(proxy.port()).await.unwrap();
    let mut other = Connection::open(proxy.port()).await.unwrap();
    one.command(&[b"PING"]).await.unwrap();
    other.command(&[b"PING"]).await.unwrap();
    proxy.cut();
    assert!(one.command(&[b"PING"]).await.is_err());
    assert!(other.command(&[b"PING"]).await.is_err());
    let mut again = Connection::open(proxy.port()).await.unwrap();
    assert_eq!(again.command(&[b"PING"]).await.unwrap().text(), "PONG");
    assert_eq!(proxy.cuts(), 1);
}

#[tokio::test]
async fn a_reply_is_cut_in_the_middle() {
    let (server, proxy) = scene().await;
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, proxy.port())).await.unwrap();
    proxy.cut_replies_after(7 + 3);
    stream
        .write_all(b"PING\r\nSET colour green\r\nGET colour\r\n")
        .await
        .unwrap();
    let mut received = Vec::new();
    let ended = stream.read_to_end(&mut received).await;
    assert!(ended.is_ok() || ended.is_err_and(|error| error.kind() == ErrorKind::ConnectionReset));
    assert_eq!(received, b"+PONG\r\n+OK");
    assert_eq!(proxy.cuts(), 1);
    assert_eq!(server.ask("GET colour").await.text(), "green");
}

#[tokio::test]
async fn a_command_is_executed_and_its_reply_is_lost() {
    let (server, proxy) = scene().await;
    let mut connection = Connection::open(proxy.port()).await.unwrap();
    proxy.cut_replies_after(0);
    assert!(connection.command(&[b"INCR", b"count"]).await.is_err());
    assert_eq!(server.ask("GET count").await.text(), "1");
    let mut again = Connection::open(proxy.port()).await.unwrap();
    assert_eq!(again.command(&[b"INCR", b"count"]).await.unwrap().integer(), 2);
}

#[tokio::test]
async fn a_stalled_connection_goes_on_where_it_stopped() {
    let (server, proxy) = scene().await;
    let mut connection = Connection::open(proxy.port()).await.unwrap();
    connection.command(&[b"PING"]).await.unwrap();
    proxy.stall();
    let mut waiting = Box::pin(connection.command(&[b"INCR", b"count"]));
    assert!(timeout(Duration::from_millis(100), &mut waiting).await.is_err());
    assert_eq!(server.ask("GET count").await, Reply::Nil);
    proxy.resume();
    assert_eq!(waiting.await.unwrap().integer(), 1);
}

#[tokio::test]
async fn a_stalled_connection_can_be_cut() {
    let (_server, proxy) = scene().await;
    let mut connection = Connection::open(proxy.port()).await.unwrap();
    connection.command(&[b"PING"]).await.unwrap();
    proxy.stall();
    proxy.cut();
    assert!(connection.command(&[b"PING"]).await.is_err());
}

#[tokio::test]
async fn a_dropped_proxy_closes_its_connections() {
    let (_server, proxy) = scene().await;
    let mut connection = Connection::open(proxy.port()).await.unwrap();
    connection.command(&[b"PING"]).await.unwrap();
    drop(proxy);
    assert!(connection.command(&[b"PING"]).await.is_err());
}
