//! A test process that is killed takes its servers with it.

use std::future::pending;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use ff_valkey_server::{Connection, Options, Standalone};
use tokio::time::sleep;

const CHILD: &str = "FF_VALKEY_SERVER_CHILD";

#[tokio::test]
async fn servers_end_with_a_killed_test_process() {
    if std::env::var_os(CHILD).is_some() {
        let server = Standalone::start(Options::default()).await;
        println!(
            "server: {} {}",
            server.port(),
            server.log_path().parent().unwrap().display()
        );
        return pending().await;
    }
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "killed::servers_end_with_a_killed_test_process",
            "--nocapture",
        ])
        .env(CHILD, "1")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let about = lines
        .map_while(Result::ok)
        .find_map(|line| Some(line.split_once("server: ")?.1.to_owned()))
        .unwrap();
    let (port, directory) = about.split_once(' ').unwrap();
    let port: u16 = port.parse().unwrap();
    assert!(Connection::open(port).await.is_ok());

    child.kill().unwrap();
    child.wait().unwrap();
    let deadline = Instant::now() + Duration::from_secs(10);
    while Connection::open(port).await.is_ok() {
        assert!(Instant::now() < deadline, "the server outlived its test process");
        sleep(Duration::from_millis(10)).await;
    }
    std::fs::remove_dir_all(directory).unwrap();
}
