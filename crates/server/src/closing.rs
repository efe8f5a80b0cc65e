//! The end of a server: streams are told, and end.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::http::header;
use axum::response::Response;
use ff_core::error::{Code, Rejection};
use futures::future::BoxFuture;
use http_body::{Frame, SizeHint};
use tokio::sync::watch;

/// Whether the server is closing. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Closing(watch::Sender<bool>);

impl Default for Closing {
    fn default() -> Self {
        Self(watch::Sender::new(false))
    }
}

impl Closing {
    /// From now on it is.
    pub(crate) fn begin(&self) {
        self.0.send_replace(true);
    }

    /// Completes when it is.
    pub(crate) fn begun(&self) -> impl Future<Output = ()> + Send + 'static {
        let mut closing = self.0.subscribe();
        async move {
            // Whoever could begin is gone too when this fails.
            let _ = closing.wait_for(|closing| *closing).await;
        }
    }

    /// Refuses what should be asked of another server now.
    pub(crate) fn check(&self) -> Result<(), Rejection> {
        if *self.0.borrow() { Err(refusal()) } else { Ok(()) }
    }

    /// Lets a stream of events end when the server closes; other answers are sent whole.
    pub(crate) fn cut(&self, response: Response) -> Response {
        let kind = response.headers().get(header::CONTENT_TYPE);
        if kind.is_none_or(|kind| !kind.as_bytes().starts_with(b"text/event-stream")) {
            return response;
        }
        let begun = Box::pin(self.begun());
        response.map(|inner| {
            Body::new(Cut {
                inner,
                begun,
                over: false,
            })
        })
    }
}

fn refusal() -> Rejection {
    Code::ShuttingDown.because("this server is shutting down; ask another one")
}

/// A body that ends with an event when the server closes. Events are frames of their own, so none is cut in two.
struct Cut {
    inner: Body,
    begun: BoxFuture<'static, ()>,
    over: bool,
}

impl HttpBody for Cut {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.over {
            return Poll::Ready(None);
        }
        if self.begun.as_mut().poll(context).is_ready() {
            self.over = true;
            let problem = serde_json::to_string(&refusal()).unwrap_or_default();
            return Poll::Ready(Some(Ok(Frame::data(
                format!("event: error\ndata: {problem}\n\n").into(),
            ))));
        }
        Pin::new(&mut self.inner).poll_frame(context)
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::default()
    }
}
