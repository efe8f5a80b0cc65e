//! Connections over real sockets: who is too slow, who may wait, TLS, and the end of a server.

#![expect(clippy::unwrap_used, reason = "a test that cannot set its scene has failed")]

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use ff_backend::memory::MemoryBackend;
use ff_core::partition::PartitionCounts;
use ff_core::time::Timestamp;
use ff_engine::{Config, Engine, TokioHost};
use ff_server::{Server, Settings, Tls};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// Nobody waits longer for anything here.
const PATIENCE: Duration = Duration::from_secs(10);

/// A server on a port of its own.
struct Running {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    ended: JoinHandle<()>,
}

async fn start(settings: Settings, tls: Option<Arc<Tls>>) -> Running {
    let counts = PartitionCounts::default();
    let store = Arc::new(MemoryBackend::new(Timestamp::from_millis(1_800_000_000_000), counts));
    let engine = Engine::new(store, Arc::new(TokioHost::new()), Config::new(counts));
    engine.start();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel();
    let ended = tokio::spawn(async move {
        let server = Server::new(engine, settings);
        let stopped = async {
            let _ = stopped.await;
        };
        ff_server::serve(&server, listener, tls, stopped).await;
    });
    Running { address, stop, ended }
}

impl Running {
    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }
}

async fn within<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, what).await.expect("it took too long")
}

/// Everything the server says until it hangs up.
async fn rest(stream: &mut (impl AsyncRead + Unpin)) -> String {
    let mut told = Vec::new();
    // A server that cuts a client off may not let it read to the end.
    let _ = within(stream.read_to_end(&mut told)).await;
    String::from_utf8(told).unwrap()
}

/// What the server says up to a word.
async fn until(stream: &mut (impl AsyncRead + Unpin), word: &str) -> String {
    let mut told = String::new();
    while !told.contains(word) {
        let mut bytes = [0; 4096];
        let read = within(stream.read(&mut bytes)).await.unwrap();
        assert!(read > 0, "it ended before {word:?}: {told}");
        told += std::str::from_utf8(&bytes[..read]).unwrap();
    }
    told
}

async fn say(stream: &mut (impl AsyncWrite + Unpin), text: &str) {
    stream.write_all(text.as_bytes()).await.unwrap();
}

fn post(path: &str, body: &str) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

const HEALTH: &str = "GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n";

fn poll(wait_ms: u64) -> String {
    let body = format!(r#"{{"worker_id":"w","lanes":["default"],"max":1,"wait_ms":{wait_ms}}}"#);
    post("/v1/workers/w-1/tasks", &body)
}

#[tokio::test]
async fn who_does_not_get_to_the_point_is_cut_off() {
    let settings = Settings {
        header_timeout: Duration::from_millis(50),
        ..Settings::loopback()
    };
    let server = start(settings, None).await;
    let mut silent = server.connect().await;
    let mut slow = server.connect().await;
    say(&mut slow, "GET /healthz HTTP/1.1\r\nhost: loc").await;
    assert_eq!(
        (rest(&mut silent).await, rest(&mut slow).await),
        (String::new(), String::new())
    );
}

#[tokio::test]
async fn who_waits_for_work_is_not_idle() {
    let settings = Settings {
        header_timeout: Duration::from_millis(50),
        idle_timeout: Duration::from_millis(50),
        ..Settings::loopback()
    };
    let server = start(settings, None).await;
    let mut waiting = server.connect().await;
    say(&mut waiting, &poll(400)).await;
    let told = until(&mut waiting, "\r\n\r\n").await;
    assert!(told.starts_with("HTTP/1.1 200"), "{told}");
    rest(&mut waiting).await;
}

#[tokio::test]
async fn a_connection_is_kept_for_the_next_request() {
    let settings = Settings {
        header_timeout: Duration::from_millis(100),
        ..Settings::loopback()
    };
    let server = start(settings, None).await;
    let mut kept = server.connect().await;
    say(&mut kept, HEALTH).await;
    until(&mut kept, "ok\n").await;
    // Longer than a head may take: between two requests there is more time.
    say(&mut kept, &poll(300)).await;
    until(&mut kept, "\r\n\r\n").await;
    say(&mut kept, HEALTH).await;
    until(&mut kept, "ok\n").await;
    say(&mut kept, "GET /heal").await;
    assert_eq!(rest(&mut kept).await, "", "a head that does not end is not waited for");
}

#[tokio::test]
async fn a_body_that_comes_too_slowly_is_told_so() {
    let settings = Settings {
        header_timeout: Duration::from_millis(50),
        body_timeout: Duration::from_millis(200),
        ..Settings::loopback()
    };
    let server = start(settings, None).await;
    let mut slow = server.connect().await;
    let head = "POST /v1/executions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
                expect: 100-continue\r\ncontent-length: 10\r\n\r\n";
    say(&mut slow, head).await;
    until(&mut slow, "100 Continue").await;
    say(&mut slow, "{").await;
    let told = rest(&mut slow).await;
    assert!(
        told.starts_with("HTTP/1.1 408") && told.contains("request_timeout"),
        "{told}"
    );
}

/// Half a goodbye is one, too: whoever has closed its side could not ask again after an answer that was lost.
#[tokio::test]
async fn who_hangs_up_while_it_waits_leaves_its_place_and_gets_no_work() {
    let settings = Settings {
        parked_polls_per_key_max: 1,
        ..Settings::loopback()
    };
    let server = start(settings, None).await;
    for half in [true, false] {
        let mut gone = server.connect().await;
        say(&mut gone, &poll(30_000)).await;
        while !second_is_refused(&server).await {}
        if half {
            gone.shutdown().await.unwrap();
        } else {
            drop(gone);
        }
        while second_is_refused(&server).await {}
        let mut submitting = server.connect().await;
        say(&mut submitting, &post("/v1/executions", r#"{"execution_kind":"job"}"#)).await;
        until(&mut submitting, "201 Created").await;
        let mut next = server.connect().await;
        say(&mut next, &poll(9_000)).await;
        let told = until(&mut next, "lease_epoch").await;
        assert!(told.starts_with("HTTP/1.1 200"), "{told}");
    }
}

/// Whether there is no place for another one who waits.
async fn second_is_refused(server: &Running) -> bool {
    let mut second = server.connect().await;
    say(&mut second, &poll(1)).await;
    let told = until(&mut second, "\r\n\r\n").await;
    told.starts_with("HTTP/1.1 429")
}

#[tokio::test]
async fn a_head_has_its_limits() {
    let server = start(Settings::loopback(), None).await;
    let long = format!(
        "GET /healthz HTTP/1.1\r\nhost: localhost\r\nx: {}\r\n\r\n",
        "x".repeat(40_000)
    );
    let many = format!(
        "GET /healthz HTTP/1.1\r\nhost: localhost\r\n{}\r\n",
        "x: y\r\n".repeat(200)
    );
    for head in [long, many] {
        let mut client = server.connect().await;
        say(&mut client, &head).await;
        let told = rest(&mut client).await;
        assert!(told.starts_with("HTTP/1.1 431"), "{told}");
    }
}

#[tokio::test]
async fn what_waits_and_what_streams_ends_when_the_server_does() {
    let server = start(Settings::loopback(), None).await;
    let mut idle = server.connect().await;
    say(&mut idle, HEALTH).await;
    until(&mut idle, "ok\n").await;
    let mut waiting = server.connect().await;
    say(&mut waiting, &poll(30_000)).await;
    let mut stream = server.connect().await;
    say(&mut stream, "GET /v1/events HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
    until(&mut stream, "text/event-stream").await;
    server.stop.send(()).unwrap();
    within(server.ended).await.unwrap();
    assert_eq!(rest(&mut idle).await, "");
    let polled = rest(&mut waiting).await;
    assert!(
        polled.starts_with("HTTP/1.1 200") || polled.contains("shutting_down"),
        "{polled}"
    );
    let streamed = rest(&mut stream).await;
    assert!(
        streamed.contains("event: error") && streamed.contains("shutting_down"),
        "{streamed}"
    );
    assert!(
        TcpStream::connect(server.address).await.is_err(),
        "nobody else is let in"
    );
}

/// The path of an execution that a worker holds.
async fn held(server: &Running) -> String {
    let mut client = server.connect().await;
    say(&mut client, &post("/v1/submit/job", "1")).await;
    let told = until(&mut client, "\r\n\r\n").await;
    let location = told.lines().find_map(|line| line.strip_prefix("location: "));
    say(&mut client, &poll(5_000)).await;
    until(&mut client, "lease_id").await;
    location.unwrap().to_owned()
}

#[tokio::test]
async fn who_waits_for_an_execution_is_told_when_the_server_ends() {
    let server = start(Settings::loopback(), None).await;
    let path = held(&server).await;
    let ask = async |rest: &str, accept: &str| {
        let mut client = server.connect().await;
        let head = format!("GET {path}{rest} HTTP/1.1\r\nhost: localhost\r\naccept: {accept}\r\n\r\n");
        say(&mut client, &head).await;
        client
    };
    let mut polls = Vec::new();
    for rest in [
        "/result?wait_ms=30000",
        "/wait?wait_ms=30000",
        "/attempts/0/stream/tail?wait_ms=30000",
    ] {
        polls.push(ask(rest, "application/json").await);
    }
    let mut streams = Vec::new();
    for rest in ["/stream", "/attempts/0/stream/tail"] {
        let mut stream = ask(rest, "text/event-stream").await;
        until(&mut stream, "retry: 1000").await;
        streams.push(stream);
    }
    server.stop.send(()).unwrap();
    within(server.ended).await.unwrap();
    for mut stream in streams {
        let told = rest(&mut stream).await;
        assert!(
            told.contains("event: error") && told.contains("shutting_down"),
            "{told}"
        );
    }
    // Whoever waited is answered what there is; whoever was about to is sent elsewhere; both are answered whole.
    for (mut poll, there) in polls.into_iter().zip(["result_not_available", "active", "frames"]) {
        let told = rest(&mut poll).await;
        assert!(told.starts_with("HTTP/1.1 "), "{told}");
        assert!(told.contains(there) || told.contains("shutting_down"), "{told}");
    }
}

#[tokio::test]
async fn only_so_many_connections_are_accepted_at_once() {
    let settings = Settings {
        connections_max: 1,
        ..Settings::loopback()
    };
    let server = start(settings, None).await;
    let mut first = server.connect().await;
    say(&mut first, HEALTH).await;
    until(&mut first, "ok\n").await;
    let mut second = server.connect().await;
    say(&mut second, HEALTH).await;
    let waited = tokio::time::timeout(Duration::from_millis(50), second.read_u8()).await;
    assert!(waited.is_err(), "the second waits");
    drop(first);
    until(&mut second, "ok\n").await;
}

fn certificate(folder: &std::path::Path) -> CertificateDer<'static> {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    std::fs::write(folder.join("cert.pem"), made.cert.pem()).unwrap();
    std::fs::write(folder.join("key.pem"), made.signing_key.serialize_pem()).unwrap();
    CertificateDer::from_pem_slice(made.cert.pem().as_bytes()).unwrap()
}

async fn over_tls(server: &Running, trusted: CertificateDer<'static>) -> std::io::Result<String> {
    let mut roots = RootCertStore::empty();
    roots.add(trusted).unwrap();
    let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap();
    let connector = TlsConnector::from(Arc::new(config.with_root_certificates(roots).with_no_client_auth()));
    let name = ServerName::try_from("localhost").unwrap();
    let mut stream = connector.connect(name, server.connect().await).await?;
    say(&mut stream, HEALTH).await;
    Ok(until(&mut stream, "ok\n").await)
}

#[tokio::test]
async fn a_certificate_is_used_and_can_be_renewed() {
    let folder = tempfile::tempdir().unwrap();
    let files = || (folder.path().join("cert.pem"), folder.path().join("key.pem"));
    let first = certificate(folder.path());
    let tls = Arc::new(Tls::load(files().0, files().1).unwrap());
    let settings = Settings {
        tls: true,
        header_timeout: Duration::from_millis(500),
        ..Settings::loopback()
    };
    let server = start(settings, Some(Arc::clone(&tls))).await;
    assert!(
        over_tls(&server, first.clone())
            .await
            .unwrap()
            .starts_with("HTTP/1.1 200")
    );
    let mut silent = server.connect().await;
    assert_eq!(rest(&mut silent).await, "", "a handshake is not waited for either");
    let second = certificate(folder.path());
    tls.reload().unwrap();
    assert!(over_tls(&server, second.clone()).await.is_ok() && over_tls(&server, first).await.is_err());
    std::fs::write(files().1, "no key").unwrap();
    let refused = tls.reload().unwrap_err().to_string();
    assert!(refused.contains("key.pem") && !refused.contains("no key"), "{refused}");
    assert!(over_tls(&server, second).await.is_ok(), "what was there stays");
}
