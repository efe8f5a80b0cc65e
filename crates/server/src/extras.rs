//! Routes that are not operations: what HTTP adds to them, each a line of data.

use std::pin::Pin;

use axum::response::Response;
use ff_core::caller::Role;
use ff_core::fabric::{Access, Body, Method};

use crate::problem::Answer;
use crate::request::Asked;
use crate::{callbacks, info, sign_in, streams, submit};

/// A route beside those of the table of operations.
pub struct Extra {
    /// Its name: of the metric, in the log, in OpenAPI.
    pub name: &'static str,
    /// What it promises.
    pub summary: &'static str,
    /// How it is called.
    pub method: Method,
    /// Where, below the version; `{name}` stands for the field of that name.
    pub path: &'static str,
    /// Who may.
    pub access: Access,
    /// How large its body may be.
    pub body: Body,
    /// What it does.
    pub(crate) serve: Serve,
}

/// Answers a request.
pub(crate) type Serve = fn(Asked) -> Pin<Box<dyn Future<Output = Answer<Response>> + Send>>;

/// Those that only pages of this server may call: what they do is done in a browser.
pub(crate) const FOR_PAGES: [&str; 2] = ["sign_in", "sign_out"];

/// Every route that is not an operation.
pub static EXTRAS: &[Extra] = &[
    Extra {
        name: "server_info",
        summary: "What this server is, what it can do and how much it takes.",
        method: Method::GET,
        path: "",
        access: Access::AnyRole,
        body: Body::Small,
        serve: |asked| Box::pin(info::server_info(asked)),
    },
    Extra {
        name: "submit",
        summary: "Submits one execution: the whole body is its input, whatever it is. Options are the query: lane, priority, key, \
                  tag.<name>, namespace, delay_ms, deadline_at, wait_ms. Answers the result if it ends while the call waits.",
        method: Method::POST,
        path: "/submit/{execution_kind}",
        access: Access::RoleOrHolder(Role::Submitter),
        body: Body::Input,
        serve: |asked| Box::pin(submit::submit(asked)),
    },
    Extra {
        name: "follow_stream",
        summary: "The frames of every attempt of an execution as server-sent events, one attempt after the other: attempt, \
                  frame, gap, end, error. Goes on after Last-Event-ID.",
        method: Method::GET,
        path: "/executions/{execution_id}/stream",
        access: Access::RoleOrHolder(Role::Submitter),
        body: Body::Small,
        serve: |asked| Box::pin(streams::follow(asked)),
    },
    Extra {
        name: "sign_in",
        summary: "Signs a browser in: a page of this server sends a key once, and a cookie stands for it from then on, for twelve \
                  hours or until the key is revoked.",
        method: Method::POST,
        path: "/sign-in",
        access: Access::Anyone,
        body: Body::Small,
        serve: |asked| Box::pin(sign_in::sign_in(asked)),
    },
    Extra {
        name: "sign_out",
        summary: "Signs a browser out: it forgets the cookie.",
        method: Method::DELETE,
        path: "/sign-in",
        access: Access::Anyone,
        body: Body::Small,
        serve: |asked| Box::pin(sign_in::sign_out(asked)),
    },
    Extra {
        name: "me",
        summary: "Who it is that asks, and every operation and route they may call.",
        method: Method::GET,
        path: "/me",
        access: Access::AnyRole,
        body: Body::Small,
        serve: |asked| Box::pin(sign_in::me(asked)),
    },
    Extra {
        name: "callback",
        summary: "Delivers whatever is sent as a signal named callback to the waitpoint its path opens. A repetition is known \
                  by webhook-id, Idempotency-Key or its bytes.",
        method: Method::POST,
        path: "/callbacks/{sealed}",
        access: Access::Anyone,
        body: Body::Callback,
        serve: |asked| Box::pin(callbacks::receive(asked)),
    },
];
