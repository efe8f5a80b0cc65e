//! Encrypted connections. Not every server is built with TLS, so one stands in front of the server and decrypts.

use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use ff_backend::Backend;
use ff_backend::settings::{Expected, SettingsOp, SettingsReply};
use ff_backend_valkey::{OpenError, Options, ValkeyBackend};
use ff_valkey_server::Standalone;
use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use serde_json::json;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

/// Where the store is, for the process that trusts the certificate.
const URL: &str = "FF_TEST_TLS_URL";

/// Listens with a certificate of its own, and passes everything on to `port`; answers its port and the certificate.
async fn decrypt_for(port: u16) -> (u16, String) {
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let key = PrivateKeyDer::Pkcs8(signing_key.serialize_der().into());
    let config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![cert.der().clone()], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind(("localhost", 0)).await.unwrap();
    let own_port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                // Whoever does not trust the certificate hangs up.
                let Ok(mut client) = acceptor.accept(client).await else {
                    return;
                };
                let mut server = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
                let _ = tokio::io::copy_bidirectional(&mut client, &mut server).await;
            });
        }
    });
    (own_port, cert.pem())
}

/// Writes something and reads it again.
async fn use_store(url: String) {
    let store = ValkeyBackend::open(&Options::new(url)).await.unwrap();
    let put = SettingsOp::Put {
        key: "greeting".to_owned(),
        value: Some(json!("hello")),
        expected: Expected::Anything,
        ttl: None,
    };
    store.settings(vec![put]).await.unwrap();
    let get = SettingsOp::Get {
        key: "greeting".to_owned(),
    };
    match store.settings(vec![get]).await.unwrap().remove(0) {
        SettingsReply::Found(setting) => assert_eq!(setting.value, json!("hello")),
        other => panic!("what was written is found, got {other:?}"),
    }
}

#[tokio::test]
async fn a_server_is_trusted_if_the_certificate_file_vouches_for_it() {
    // Which certificates are trusted is asked once in a process, so trusting is done by another one.
    if let Ok(url) = std::env::var(URL) {
        return use_store(url).await;
    }
    let _ = rustls::crypto::ring::default_provider().install_default();
    let server = Standalone::start(Default::default()).await;
    let (port, certificate) = decrypt_for(server.port()).await;
    let url = format!("valkeys://localhost:{port}/");
    let untrusting = Options {
        patience: Duration::from_millis(100),
        ..Options::new(url.clone())
    };
    let refusal = ValkeyBackend::open(&untrusting).await.err().unwrap();
    assert!(matches!(refusal, OpenError::Unreachable(_)), "{refusal}");

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("certificates.pem");
    std::fs::write(&file, certificate).unwrap();
    let mut trusting = Command::new(std::env::current_exe().unwrap());
    trusting
        .args([
            "--exact",
            "tls::a_server_is_trusted_if_the_certificate_file_vouches_for_it",
        ])
        .env("SSL_CERT_FILE", &file)
        .env(URL, url);
    let outcome = tokio::task::spawn_blocking(move || trusting.output())
        .await
        .unwrap()
        .unwrap();
    let told = String::from_utf8(outcome.stdout).unwrap();
    assert!(outcome.status.success() && told.contains("1 passed"), "{told}");
}
