//! How long a client may take: to begin a request, to send its head, to read its answer. Whoever is too slow is cut off; a
//! request that is being served, or waits for something to happen, may take as long as it likes.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

use crate::settings::Settings;

/// How long a client may leave an answer lying.
const UNREAD_MAX: Duration = Duration::from_secs(60);

/// A connection that does not wait for ever.
pub(crate) struct Patient<C> {
    connection: C,
    idle: Duration,
    head: Duration,
    waits_for: Waits,
    service: InService,
    deadline: Pin<Box<Sleep>>,
}

/// Whether a request is being served: its head has been read and its answer has not begun.
#[derive(Clone, Default)]
pub(crate) struct InService(Arc<AtomicBool>);

impl InService {
    /// Serves a request.
    pub(crate) async fn during<T>(self, serve: impl Future<Output = T>) -> T {
        self.0.store(true, Ordering::Relaxed);
        let answer = serve.await;
        self.0.store(false, Ordering::Relaxed);
        answer
    }

    fn is_going_on(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// What a connection waits for.
#[derive(Clone, Copy, PartialEq)]
enum Waits {
    /// The next request.
    Request,
    /// The rest of its head.
    Head,
    /// Us.
    Answer,
    /// Somebody who reads the answer.
    Reader,
}

impl<C> Patient<C> {
    pub(crate) fn new(connection: C, settings: &Settings, service: InService) -> Self {
        Self {
            connection,
            idle: settings.idle_timeout,
            head: settings.header_timeout,
            // Whoever connects has something to say.
            waits_for: Waits::Head,
            service,
            deadline: Box::pin(tokio::time::sleep(settings.header_timeout)),
        }
    }

    fn wait_for(&mut self, what: Waits, at_most: Duration) {
        self.waits_for = what;
        self.deadline.as_mut().reset(Instant::now() + at_most);
    }

    /// Nothing moved: is it enough?
    fn poll_patience<T>(&mut self, context: &mut Context<'_>) -> Poll<io::Result<T>> {
        ready!(self.deadline.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }

    /// The outcome of writing: what cannot be written waits for its reader.
    fn poll_written<T>(&mut self, written: Poll<io::Result<T>>, context: &mut Context<'_>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            // What is written before the answer only asks for the body.
            if !self.service.is_going_on() {
                self.wait_for(Waits::Request, self.idle);
            }
            return written;
        }
        if self.waits_for != Waits::Reader {
            self.wait_for(Waits::Reader, UNREAD_MAX);
        }
        self.poll_patience(context)
    }
}

impl<C: AsyncRead + Unpin> AsyncRead for Patient<C> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = Pin::new(&mut self.connection).poll_read(context, buffer);
        if read.is_ready() {
            if self.waits_for == Waits::Request {
                let head = self.head;
                self.wait_for(Waits::Head, head);
            }
            return read;
        }
        if self.service.is_going_on() {
            self.waits_for = Waits::Answer;
        } else if self.waits_for == Waits::Answer {
            let idle = self.idle;
            self.wait_for(Waits::Request, idle);
        }
        match self.waits_for {
            Waits::Answer | Waits::Reader => Poll::Pending,
            Waits::Request | Waits::Head => self.poll_patience(context),
        }
    }
}

impl<C: AsyncWrite + Unpin> AsyncWrite for Patient<C> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.connection).poll_write(context, bytes);
        self.poll_written(written, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.connection).poll_write_vectored(context, slices);
        self.poll_written(written, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.connection.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.connection).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.connection).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

    use super::*;

    /// A connection whose reader keeps up to 16 bytes, and its other end.
    fn connection() -> (Patient<DuplexStream>, DuplexStream) {
        let (connection, client) = tokio::io::duplex(16);
        (
            Patient::new(connection, &Settings::default(), InService::default()),
            client,
        )
    }

    #[tokio::test(start_paused = true)]
    async fn who_does_not_read_its_answer_is_cut_off_after_a_minute() {
        let (mut connection, _client) = connection();
        let began = Instant::now();
        let cut = connection.write_all(&[0; 17]).await.unwrap_err();
        assert_eq!((cut.kind(), began.elapsed().as_secs()), (io::ErrorKind::TimedOut, 60));
    }

    #[tokio::test(start_paused = true)]
    async fn who_reads_slowly_is_waited_for() {
        let (mut connection, mut client) = connection();
        let reading = async move {
            let mut bytes = [0; 1];
            for _ in 0..20 {
                tokio::time::sleep(UNREAD_MAX / 2).await;
                client.read_exact(&mut bytes).await.unwrap();
            }
            client
        };
        let (written, _client) = tokio::join!(connection.write_all(&[0; 36]), reading);
        written.unwrap();
    }
}
