//! A server by itself: started, killed, restarted, paused.

use std::time::Duration;

use ff_valkey_server::{Connection, Fsync, Options, Persistence, Reply, Standalone};
use tokio::time::timeout;

fn appending(fsync: Fsync) -> Options {
    Options::default().persistence(Persistence::AppendOnly { fsync })
}

async fn setting(server: &Standalone, name: &str) -> String {
    let reply = server.ask(&format!("CONFIG GET {name}")).await;
    reply.array()[1].text().to_owned()
}

async fn answers(port: u16) -> bool {
    Connection::open(port).await.is_ok()
}

#[tokio::test]
async fn a_server_starts_and_answers() {
    let server = Standalone::start(Options::default()).await;
    assert_eq!(server.ask("PING").await, Reply::Status("PONG".to_owned()));
    assert_eq!(server.url(), format!("redis://127.0.0.1:{}/", server.port()));
    assert_eq!(server.command(&[b"SET", b"key", b"\xff\r\n\0"]).await.text(), "OK");
    assert_eq!(
        server.command(&[b"GET", b"key"]).await,
        Reply::Bytes(b"\xff\r\n\0".to_vec())
    );
    assert_eq!(server.ask("GET nothing").await, Reply::Nil);
    assert!(server.info("commandstats").await.contains("cmdstat_set:calls=1"));
    assert!(matches!(server.command(&[b"NONSENSE"]).await, Reply::Error(_)));
}

#[tokio::test]
async fn appended_data_survives_a_kill() {
    for fsync in [Fsync::Always, Fsync::EverySecond] {
        let server = Standalone::start(appending(fsync)).await;
        let port = server.port();
        server.ask("SET colour green").await;
        server.kill();
        assert!(!server.is_running());
        assert!(server.try_command(&[b"PING"]).await.is_err());
        server.restart().await;
        assert_eq!(server.port(), port);
        assert_eq!(server.ask("GET colour").await.text(), "green");
    }
}

#[tokio::test]
async fn without_persistence_a_restarted_server_is_empty() {
    let server = Standalone::start(Options::default()).await;
    server.ask("SET colour green").await;
    server.restart().await;
    assert_eq!(server.ask("GET colour").await, Reply::Nil);
}

#[tokio::test]
async fn options_reach_the_server() {
    let options = appending(Fsync::Always)
        .maxmemory_policy("allkeys-lru")
        .set("databases", "3");
    let server = Standalone::start(options.set("client-output-buffer-limit", "pubsub 1mb 2mb 30")).await;
    assert_eq!(setting(&server, "appendfsync").await, "always");
    assert_eq!(setting(&server, "maxmemory-policy").await, "allkeys-lru");
    assert_eq!(setting(&server, "databases").await, "3");
    assert!(
        setting(&server, "client-output-buffer-limit")
            .await
            .ends_with("pubsub 1048576 2097152 30")
    );
}

#[tokio::test]
async fn a_password_is_asked_for() {
    let server = Standalone::start(Options::default().password("open/sesame")).await;
    assert_eq!(
        server.url(),
        format!("redis://:open%2Fsesame@127.0.0.1:{}/", server.port())
    );
    assert_eq!(server.ask("ACL WHOAMI").await.text(), "default");
    assert_eq!(refusal(&server).await, "NOAUTH");
}

#[tokio::test]
async fn a_user_is_the_only_one_who_may_enter() {
    let server = Standalone::start(Options::default().user("ali", "sesame")).await;
    assert_eq!(server.url(), format!("redis://ali:sesame@127.0.0.1:{}/", server.port()));
    assert_eq!(server.ask("ACL WHOAMI").await.text(), "ali");
    assert_eq!(refusal(&server).await, "NOAUTH");
}

/// What a client without a password is told.
async fn refusal(server: &Standalone) -> String {
    let mut stranger = Connection::open(server.port()).await.unwrap();
    match stranger.command(&[b"GET", b"key"]).await.unwrap() {
        Reply::Error(message) => message.split(' ').next().unwrap().to_owned(),
        other => panic!("a stranger was let in: {other:?}"),
    }
}

#[tokio::test]
async fn a_paused_server_answers_when_it_is_resumed() {
    let server = Standalone::start(Options::default()).await;
    let mut connection = Connection::open(server.port()).await.unwrap();
    connection.command(&[b"PING"]).await.unwrap();
    server.pause();
    let mut waiting = Box::pin(connection.command(&[b"PING"]));
    assert!(timeout(Duration::from_millis(100), &mut waiting).await.is_err());
    server.resume();
    assert_eq!(waiting.await.unwrap().text(), "PONG");
}

#[tokio::test]
async fn a_paused_server_can_be_killed() {
    let server = Standalone::start(Options::default()).await;
    server.pause();
    assert!(
        answers(server.port()).await,
        "the system still accepts connections for it"
    );
    server.kill();
    assert!(!answers(server.port()).await);
}

#[tokio::test]
async fn a_dropped_server_leaves_nothing_behind() {
    let server = Standalone::start(Options::default()).await;
    let (port, log) = (server.port(), server.log_path());
    assert!(answers(port).await && log.exists());
    drop(server);
    assert!(!answers(port).await);
    assert!(!log.parent().unwrap().exists());
}

#[tokio::test]
#[should_panic(expected = "its log ends with")]
async fn a_server_that_cannot_start_shows_its_log() {
    Standalone::start(Options::default().set("no-such-setting", "1")).await;
}

#[tokio::test]
async fn many_servers_start_at_once() {
    let starting: Vec<_> = (0..12)
        .map(|_| tokio::spawn(Standalone::start(Options::default())))
        .collect();
    let mut servers = Vec::new();
    for server in starting {
        servers.push(server.await.unwrap());
    }
    for server in &servers {
        assert_eq!(server.ask("DBSIZE").await.integer(), 0);
        server.ask("SET key value").await;
    }
}

#[tokio::test]
async fn a_monitor_shows_what_clients_send() {
    let server = Standalone::start(Options::default()).await;
    let mut monitor = server.monitor().await;
    server.ask("SET colour green").await;
    server
        .command(&[b"EVAL", b"return redis.call('GET', 'colour')", b"0"])
        .await;
    assert_eq!(monitor.sent().await, ["set", "eval"]);
    assert!(monitor.sent().await.is_empty());
}

#[tokio::test]
async fn a_monitor_of_a_server_with_a_password_shows_no_login_of_its_own() {
    let server = Standalone::start(Options::default().password("secret")).await;
    let mut monitor = server.monitor().await;
    server.ask("SET colour green").await;
    assert_eq!(monitor.sent().await, ["auth", "set"]);
}
