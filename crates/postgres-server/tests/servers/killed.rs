//! A test process that is killed takes its own servers with it.

use std::future::pending;
use std::net::{Ipv4Addr, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant};

use ff_postgres_server::{Options, Server};
use tempfile::TempDir;
use tokio::time::sleep;

use crate::child;

#[tokio::test]
async fn servers_end_with_a_killed_test_process() {
    if child::am_child() {
        let server = Server::start(Options::default()).await;
        child::tell(&format!("{} {}", server.port(), server.log_path().display()));
        return pending().await;
    }
    let temporary = TempDir::new().unwrap();
    let (process, about) = child::start("killed::servers_end_with_a_killed_test_process", temporary.path());
    let (port, log) = about.split_once(' ').unwrap();
    assert!(answers(port) && Path::new(log).is_file());

    child::kill(process);
    let deadline = Instant::now() + Duration::from_secs(20);
    while answers(port) || Path::new(log).exists() {
        assert!(Instant::now() < deadline, "the server outlived its test process");
        sleep(Duration::from_millis(10)).await;
    }
}

fn answers(port: &str) -> bool {
    TcpStream::connect((Ipv4Addr::LOCALHOST, port.parse().unwrap())).is_ok()
}
