//! What an execution waits at, by the name that its handler used.

use ff_core::command::waitpoint::OpenWaitpoint;
use ff_core::error::Code;
use ff_core::fabric::Fabric;
use ff_core::id::{ExecutionId, WaitpointId};

use crate::client::Client;
use crate::error::Result;

/// The open waitpoint of an execution that somebody means by a name, as its handler called it.
pub(crate) async fn named(client: &Client, id: ExecutionId, name: &str) -> Result<WaitpointId> {
    find(id, name, &client.list_pending_waitpoints(id).await?)
}

fn find(id: ExecutionId, name: &str, open: &[OpenWaitpoint]) -> Result<WaitpointId> {
    let exact = open.iter().find(|waitpoint| waitpoint.waitpoint_key.as_str() == name);
    let mut meant: Vec<_> = match exact {
        Some(exact) => vec![exact],
        None => open
            .iter()
            .filter(|waitpoint| means(name, waitpoint.waitpoint_key.as_str()))
            .collect(),
    };
    if let (Some(found), true) = (meant.pop(), meant.is_empty()) {
        return Ok(found.waitpoint_id);
    }
    let names: Vec<_> = open
        .iter()
        .map(|waitpoint| format!("{:?}", waitpoint.waitpoint_key.as_str()))
        .collect();
    let open = match names.is_empty() {
        true => "nothing".to_owned(),
        false => names.join(", "),
    };
    let what = match meant.is_empty() {
        true => "waits for nothing named",
        false => "waits for several things named",
    };
    let detail = format!("execution {id} {what} {name:?}; it waits for {open}");
    Err(Code::WaitpointNotFound.because(detail).into())
}

/// Whether somebody who says `name` may mean the waitpoint of this key: `scope/name#0` is called `name`, too.
fn means(name: &str, key: &str) -> bool {
    let local = key.rsplit('/').next().unwrap_or(key);
    local == name
        || local
            .strip_prefix(name)
            .is_some_and(|rest| rest.starts_with(['#', '[']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_meant_by_the_name_the_handler_called_it() {
        for key in ["review", "review#0", "review[a]", "order-7/review#0"] {
            assert!(means("review", key), "{key}");
        }
        for key in ["reviews", "reviews#0", "review/other#0", "a-review#0"] {
            assert!(!means("review", key), "{key}");
        }
    }
}
