//! Connections: accepting them, serving them, and ending them in order.

use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use futures::future::{Either, select};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tower::ServiceExt;

use crate::patience::{InService, Patient};
use crate::{Server, Tls};

/// Fields in the head of a request, and bytes of it.
const HEADERS_MAX: usize = 100;
const HEAD_BYTES_MAX: usize = 32 * 1024;
/// Bytes of a connection that are held at once, on the way in and on the way out.
const BUFFER_BYTES_MAX: usize = 64 * 1024;
/// A client that vanished without a word is noticed after about this long.
const SILENCE_MAX: Duration = Duration::from_secs(60);
/// How long accepting pauses when it fails: most often the process has as many files open as it may.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Serves until `stop` completes. Then it accepts nobody else, ends what waits and what streams, finishes what is under way,
/// and stops the engine.
pub async fn serve(server: &Server, listener: TcpListener, tls: Option<Arc<Tls>>, stop: impl Future<Output = ()>) {
    let most = u32::try_from(server.settings.connections_max).unwrap_or(u32::MAX);
    let places = Arc::new(Semaphore::new(most as usize));
    {
        let accepting = pin!(accept(server, &listener, tls.as_ref(), &places));
        select(accepting, pin!(stop)).await;
    }
    drop(listener);
    server.closing.begin();
    let ended = tokio::time::timeout(server.settings.shutdown_timeout, places.acquire_many(most));
    let ((), ended) = tokio::join!(server.engine.stop(), ended);
    if ended.is_err() {
        let left = most as usize - places.available_permits();
        tracing::warn!(left, "some connections have not ended in time and are cut");
    }
}

async fn accept(server: &Server, listener: &TcpListener, tls: Option<&Arc<Tls>>, places: &Arc<Semaphore>) {
    let router = server.router();
    loop {
        let Ok(place) = Arc::clone(places).acquire_owned().await else {
            return;
        };
        let (stream, peer) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        let (server, router, tls) = (server.clone(), router.clone(), tls.cloned());
        tokio::spawn(async move {
            greet(&server, router, tls, stream, peer).await;
            drop(place);
        });
    }
}

async fn greet(server: &Server, router: Router, tls: Option<Arc<Tls>>, stream: TcpStream, peer: SocketAddr) {
    if let Err(error) = notice_silence(&stream) {
        tracing::debug!(%error, "a connection takes no options");
    }
    match tls {
        None => converse(server, router, stream, peer).await,
        // In a box: it is several times as large, and would make every connection so.
        Some(tls) => Box::pin(converse_over_tls(server, router, &tls, stream, peer)).await,
    }
}

async fn converse_over_tls(server: &Server, router: Router, tls: &Tls, stream: TcpStream, peer: SocketAddr) {
    let handshake = tls.acceptor().accept(stream);
    match tokio::time::timeout(server.settings.header_timeout, handshake).await {
        Ok(Ok(stream)) => converse(server, router, stream, peer).await,
        Ok(Err(error)) => tracing::debug!(%peer, %error, "a client and this server do not agree on TLS"),
        Err(_) => tracing::debug!(%peer, "a client was too slow to agree on TLS"),
    }
}

/// Small answers are sent at once, and a machine that is gone is noticed though nobody sends it anything.
fn notice_silence(stream: &TcpStream) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let socket = SockRef::from(stream);
    let probe = TcpKeepalive::new()
        .with_time(SILENCE_MAX / 2)
        .with_interval(SILENCE_MAX / 6);
    socket.set_tcp_keepalive(&probe.with_retries(3))?;
    #[cfg(target_os = "linux")]
    socket.set_tcp_user_timeout(Some(SILENCE_MAX))?;
    Ok(())
}

/// Answers requests until either side has had enough.
async fn converse<C>(server: &Server, router: Router, stream: C, peer: SocketAddr)
where
    C: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let service = InService::default();
    let stream = Patient::new(stream, &server.settings, service.clone());
    let answer = hyper::service::service_fn(move |mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(ConnectInfo(peer));
        service.clone().during(router.clone().oneshot(request.map(Body::new)))
    });
    let connection = http1::Builder::new()
        .header_read_timeout(None)
        .max_headers(HEADERS_MAX)
        .max_header_size(HEAD_BYTES_MAX)
        .max_buf_size(BUFFER_BYTES_MAX)
        .serve_connection(TokioIo::new(stream), answer);
    let ended = match select(pin!(server.closing.begun()), pin!(connection)).await {
        Either::Left(((), mut connection)) => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
        Either::Right((ended, _)) => ended,
    };
    if let Err(error) = ended {
        tracing::debug!(%peer, %error, "a connection broke");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_client_that_vanished_without_a_word_is_noticed_within_about_a_minute() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        notice_silence(&stream).unwrap();
        let socket = SockRef::from(&stream);
        let probes = socket.tcp_keepalive_interval().unwrap() * socket.tcp_keepalive_retries().unwrap();
        assert!(socket.keepalive().unwrap());
        assert_eq!(socket.tcp_keepalive_time().unwrap() + probes, SILENCE_MAX);
        #[cfg(target_os = "linux")]
        assert_eq!(socket.tcp_user_timeout().unwrap(), Some(SILENCE_MAX));
    }
}
