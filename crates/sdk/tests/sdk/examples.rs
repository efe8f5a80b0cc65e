//! Every example runs, over an engine in this process and over a server.

use std::net::SocketAddr;

use ff_core::command::page::PageRequest;
use ff_core::fabric::On;
use ff_core::view::GetResult;
use ff_sdk::{Client, ExecutionId, Fabric, Payload, embedded};
use ff_server::{Server, Settings, serve};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::working::Hello;

macro_rules! examples {
    ($($name:ident: $path:literal;)+) => {
        $(
            #[path = $path]
            #[allow(dead_code, unreachable_pub, missing_docs, reason = "the file is a program of its own")]
            mod $name;
        )+
    };
}

examples! {
    agent: "../../../../examples/agent.rs";
    approval: "../../../../examples/approval.rs";
    callback: "../../../../examples/callback.rs";
    dag: "../../../../examples/dag.rs";
    encrypting_codec: "../../../../examples/encrypting_codec.rs";
    embedded_app: "../../../../examples/embedded.rs";
    gpu_routing: "../../../../examples/gpu_routing.rs";
    hello: "../../../../examples/hello.rs";
    tiers: "../../../../examples/tiers.rs";
    virtual_time: "../../../../examples/virtual_time.rs";
}

/// A client of an engine in this process, and one of a server.
async fn each() -> [Client; 2] {
    let near = embedded::open("memory:").await.unwrap();
    let far = embedded::open("memory:").await.unwrap();
    let (listener, address) = listen().await;
    let server = Server::new(far, Settings::loopback());
    tokio::spawn(async move { serve(&server, listener, None, std::future::pending()).await });
    let far = Client::connect(format!("http://{address}")).open().unwrap();
    [Client::local(near), far]
}

async fn listen() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

#[tokio::test]
async fn hello_greets() {
    for ff in each().await {
        assert_eq!(hello::run(ff).await.unwrap(), "hello Ana");
    }
}

#[tokio::test]
async fn the_flow_counts_the_words_of_its_pages() {
    for ff in each().await {
        assert_eq!(dag::run(ff).await.unwrap(), "Report: 42 words");
    }
}

#[tokio::test]
async fn what_a_person_agrees_to_is_published() {
    for ff in each().await {
        assert_eq!(approval::run(ff).await.unwrap(), "https://blog.example.org/16");
    }
}

#[tokio::test]
async fn an_agent_pays_each_answer_once_through_a_crash_and_a_budget_that_runs_out() {
    for ff in each().await {
        let seen = agent::run(ff).await.unwrap();
        assert_eq!(seen.answer, "Both have ten legs.");
        assert_eq!(seen.words.join(" "), "Let me see. And this. Both have ten legs.");
        assert_eq!((seen.calls, seen.tokens), (3, 30));
    }
}

#[tokio::test]
async fn a_retry_uses_the_next_tier() {
    for ff in each().await {
        assert_eq!(tiers::run(ff).await.unwrap(), "Why? 42, says the small model.");
    }
}

#[tokio::test]
async fn a_film_waits_for_a_machine_that_can_render_it() {
    for ff in each().await {
        let seen = gpu_routing::run(ff).await.unwrap();
        assert_eq!(seen.thumbnail, "crab.png, made on the laptop");
        let [why] = &seen.why[..] else { panic!("{seen:?}") };
        assert!(why.contains("laptop") && why.ends_with("lacks gpu"), "{why}");
        assert_eq!(seen.film, "Crabs, rendered on the workstation");
    }
}

#[tokio::test]
async fn a_third_party_that_calls_again_changes_nothing() {
    let [_, ff] = each().await;
    let sold = callback::run(ff.clone()).await.unwrap();
    assert_eq!(sold.receipt, "a lamp for Ana, who paid 4200 cents");
    assert_eq!(sold.answers, [202, 202, 202]);
    let signals = ff.list_signals(On::new(sold.id, PageRequest::default())).await.unwrap();
    assert_eq!(signals.items.len(), 1, "{signals:?}");
}

/// Everything that is kept of an execution of `encrypting_codec`.
async fn kept(ff: &Client, id: ExecutionId) -> Vec<Payload> {
    let run = ff.run::<Hello>(id);
    let mut kept = vec![ff.get_input(id).await.unwrap()];
    kept.push(ff.get_result(On::new(id, GetResult::default())).await.unwrap());
    let steps = run.steps().with_outputs().await.unwrap();
    kept.extend(steps.into_iter().filter_map(|step| step.view.output));
    let mut frames = run.frames().await.unwrap();
    while let Some(frame) = frames.next().await {
        kept.push(frame.unwrap().payload);
    }
    kept
}

#[tokio::test]
async fn whoever_lacks_the_key_of_the_codec_reads_nothing() {
    for ff in each().await {
        let seen = encrypting_codec::run(ff.clone()).await.unwrap();
        assert_eq!(
            seen.verdict, "Ana, a broken leg: today",
            "the worker read what was submitted"
        );
        assert!(seen.refused.contains("not sealed with this key"), "{}", seen.refused);
        let kept = kept(&ff, seen.id).await;
        assert_eq!(kept.len(), 4, "input, result, a step and a frame");
        for payload in kept {
            let text = payload.bytes.escape_ascii().to_string();
            assert!(!text.contains("broken leg"), "{text}");
        }
    }
}

#[tokio::test]
async fn a_web_application_runs_engine_worker_and_interface_in_one_process() {
    let folder = tempfile::tempdir().unwrap();
    let store = format!("sqlite:{}", folder.path().join("made/app.db").display());
    let engine = embedded::open(&store).await.unwrap();
    let (listener, address) = listen().await;
    let app = embedded_app::run(engine.clone(), listener);
    let asked = async {
        let body = r#"{"question":"Why?"}"#;
        let head = "POST /ask HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\n";
        let mut stream = TcpStream::connect(address).await.unwrap();
        let request = format!("{head}content-length: {}\r\n\r\n{body}", body.len());
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(answer.ends_with("Why? Because."), "{answer}");
        // The interface is the same that a server has.
        let ff = Client::connect(format!("http://{address}")).open().unwrap();
        assert!(ff.server_info().await.unwrap().is_some());
    };
    tokio::select! {
        ended = app => panic!("the application has ended: {ended:?}"),
        () = asked => {}
    }
    engine.stop().await;
}

#[tokio::test]
async fn days_pass_at_once_and_crashes_repeat_nothing() {
    virtual_time::run().await.unwrap();
}

#[tokio::test]
async fn an_address_of_no_store_says_which_there_are() {
    let error = embedded::open("postgres://h").await.err().unwrap().to_string();
    assert!(error.contains("postgres://h") && error.contains("sqlite:"), "{error}");
}
